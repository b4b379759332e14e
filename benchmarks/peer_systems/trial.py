"""One run of one system, and its outcome by the application's own record."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.harness.arm_workers import Worker
from benchmarks.peer_systems.applications import start_application
from benchmarks.peer_systems.cells import Cell
from benchmarks.peer_systems.model import PeerModel
from benchmarks.peer_systems.systems import SYSTEMS, find_chromium
from midcourse.testing.models import ModelServer

MAX_TRIES = 3
"""Tries of a run that never called its model, because its browser did not start on a busy machine."""
LIMIT_SECONDS = 600.0
"""Seconds for a run, and again for its continuation after it was killed: LangGraph waits for 30 s three times in each run in Wagtail."""


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    system: str
    app: str
    fault: str
    profile: str
    seed: int
    claimed: bool
    """The system reported that the task is done."""
    right: bool
    """The application stored what the goal asks for, and nothing else."""
    repeated: int
    happened: bool
    """The fault happened."""
    questions: int
    """Questions of any kind to the approver."""
    doubts: int
    """Of these, the questions whether something happened or may be repeated."""
    errors: int
    """Errors that the model made by its profile."""
    reason: str
    trouble: list[str]
    seconds: float
    calls: int
    tokens_in: int
    cached: int
    tokens_out: int
    usd: float
    usd_uncached: float

    @property
    def cell(self) -> Cell:
        return Cell(system=self.system, app=self.app, fault=self.fault, profile=self.profile, seed=self.seed)

    @property
    def begun(self) -> bool:
        """Whether the system called its model at least once."""
        return self.calls > 0

    @property
    def completed(self) -> bool:
        return self.claimed and self.right and not self.repeated

    @property
    def false_done(self) -> bool:
        return self.claimed and not self.right


def run_cell(
    cell: Cell, worker: Worker, encode: Callable[[str], list[int]] | None, postgres: str, tries: int = MAX_TRIES
) -> RunOutcome:
    outcome = _run_once(cell, worker, encode, postgres)
    return outcome if outcome.begun or tries == 1 else run_cell(cell, worker, encode, postgres, tries - 1)


def _run_once(cell: Cell, worker: Worker, encode: Callable[[str], list[int]] | None, postgres: str) -> RunOutcome:
    began = time.monotonic()
    model = PeerModel(cell, SYSTEMS[cell.system].dialect, encode)
    with (
        ModelServer(model) as server,
        start_application(cell, worker.kill) as application,
        tempfile.TemporaryDirectory() as home,
    ):
        job = {
            "url": application.url,
            "goal": application.goal,
            "listed": application.listed,
            "model": server.url,
            "home": home,
            "run": f"{cell.system}-{cell.app}-{cell.fault}-{cell.profile}-{cell.seed}-{time.time_ns()}",
            "postgres": postgres,
            "chromium": find_chromium(),
            "limit": LIMIT_SECONDS,
            "again": False,
        } | SYSTEMS[cell.system].make_options()
        report = worker.run(job)
        if report is None and cell.fault == "killed" and application.proxy.happened:
            report = worker.run(job | {"again": True})
        report = report or {"claimed": False, "reason": "its process ended"}
        stored = application.stored()
        spent = model.spent()
        return RunOutcome(
            system=cell.system,
            app=cell.app,
            fault=cell.fault,
            profile=cell.profile,
            seed=cell.seed,
            claimed=report["claimed"],
            right=stored.right,
            repeated=stored.repeated,
            happened=application.proxy.happened and model.failed,
            questions=report.get("questions", 0),
            doubts=report.get("doubts", 0),
            errors=model.errors,
            reason=str(report["reason"])[:300],
            trouble=model.trouble[:3],
            seconds=round(time.monotonic() - began, 1),
            calls=int(spent["calls"]),
            tokens_in=int(spent["tokens_in"]),
            cached=int(spent["cached"]),
            tokens_out=int(spent["tokens_out"]),
            usd=spent["usd"],
            usd_uncached=spent["usd_uncached"],
        )
