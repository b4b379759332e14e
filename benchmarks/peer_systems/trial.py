"""One run of one system, and how it ended by the application's own record."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.peer_systems.applications import place
from benchmarks.peer_systems.cells import Cell
from benchmarks.peer_systems.model import PeerModel
from benchmarks.peer_systems.systems import Worker, chromium
from midcourse.testing.models import ModelServer

TRIES = 3
"""Of a run whose model was never asked, since its browser did not start on a busy machine."""
LIMIT = 240.0
"""Seconds for a run, and again for its continuation after it was killed."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    system: str
    app: str
    fault: str
    profile: str
    seed: int
    claimed: bool
    """It reported that the task is done."""
    right: bool
    """What the goal asks for is stored, and nothing else."""
    repeated: int
    happened: bool
    """The fault happened."""
    questions: int
    """Of any kind, to a person."""
    doubts: int
    """Of these, whether something happened, or may be repeated."""
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
        """Its model was asked at least once."""
        return self.calls > 0

    @property
    def completed(self) -> bool:
        return self.claimed and self.right and not self.repeated

    @property
    def false_done(self) -> bool:
        return self.claimed and not self.right


def run_cell(
    cell: Cell, worker: Worker, encode: Callable[[str], list[int]] | None, postgres: str, tries: int = TRIES
) -> Ended:
    ended = _run_once(cell, worker, encode, postgres)
    return ended if ended.begun or tries == 1 else run_cell(cell, worker, encode, postgres, tries - 1)


def _run_once(cell: Cell, worker: Worker, encode: Callable[[str], list[int]] | None, postgres: str) -> Ended:
    began = time.monotonic()
    model = PeerModel(cell, worker.system.dialect, encode)
    with (
        ModelServer(model) as server,
        place(cell, worker.kill) as there,
        tempfile.TemporaryDirectory() as home,
    ):
        job = {
            "url": there.url,
            "goal": there.goal,
            "listed": there.listed,
            "model": server.url,
            "home": home,
            "run": f"{cell.system}-{cell.app}-{cell.fault}-{cell.profile}-{cell.seed}-{time.time_ns()}",
            "postgres": postgres,
            "chromium": chromium(),
            "limit": LIMIT,
            "again": False,
        } | worker.system.options()
        told = worker.run(job)
        if told is None and cell.fault == "killed" and there.proxy.happened:
            told = worker.run(job | {"again": True})
        told = told or {"claimed": False, "reason": "its process ended"}
        stored = there.stored()
        spent = model.spent()
        return Ended(
            system=cell.system,
            app=cell.app,
            fault=cell.fault,
            profile=cell.profile,
            seed=cell.seed,
            claimed=told["claimed"],
            right=stored.right,
            repeated=stored.repeated,
            happened=there.proxy.happened and model.failed,
            questions=told.get("questions", 0),
            doubts=told.get("doubts", 0),
            errors=model.errors,
            reason=str(told["reason"])[:300],
            trouble=model.trouble[:3],
            seconds=round(time.monotonic() - began, 1),
            calls=int(spent["calls"]),
            tokens_in=int(spent["tokens_in"]),
            cached=int(spent["cached"]),
            tokens_out=int(spent["tokens_out"]),
            usd=spent["usd"],
            usd_uncached=spent["usd_uncached"],
        )
