"""The arms: ways to do the same task in the same application with the same planner.

fixed                one plan, recorded without drift, executed until a step fails
naive retry          the same plan; a failed step is repeated up to three times
plain replan loop    plan, execute, on failure plan again, as in `harness/baseline_loop.py`
midcourse            the director
without recovery     the same, but a failed step is neither retried nor replanned
with lessons         as midcourse, with a memory that all runs of this arm share and add lessons to

The first three send every request of the page; with Midcourse it waits for an approval.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.harness.arms import Trial, list_completed_steps
from benchmarks.harness.baseline_loop import Tally, run_plain_replan_loop
from benchmarks.harness.chromium_pool import SharedBrowser, SharedChromium
from benchmarks.harness.replay_check import Replayed, check_replay
from benchmarks.web_apps.application import Application, Started
from benchmarks.web_apps.person import RecordApprover
from benchmarks.web_apps.script import follow_script
from midcourse.agent.agent import Agent
from midcourse.domain.budget import Limits
from midcourse.domain.plan import Step
from midcourse.domain.task import Task
from midcourse.perform import Ports
from midcourse.ports.clock import SystemClock
from midcourse.ports.memory import Memory
from midcourse.store.sqlite.memory import SqliteMemory
from midcourse.testing import MemoryStore

FIXED, RETRY, PLAIN, OURS = "fixed", "naive retry", "plain replan loop", "midcourse"
WITHOUT_RECOVERY, WITH_LESSONS = "midcourse, without recovery", "midcourse, with lessons"
ARMS = (FIXED, RETRY, PLAIN, OURS)
RECOVERY_ARMS = (WITHOUT_RECOVERY, WITH_LESSONS)
RETRIES = 3
LIMITS = Limits(max_calls=60, max_segments=40, max_replans=10, max_error_replans=8, retry_delay_seconds=0.25)
"""Twice the defaults, because these tasks go through a dozen pages, most of them with drift. The plain loop has the same limits."""
NO_RECOVERY = replace(LIMITS, auto_replan=False, max_step_retries=0)
ALL_REQUESTS = ("* /*",)


@dataclass(frozen=True, kw_only=True)
class DriftTrial(Trial):
    arm: str
    approvals: int
    doubts: int
    unasked: int
    detail: str
    seconds: float

    @property
    def cell(self) -> tuple[str, int, str]:
        return self.task, self.seed, self.arm


@dataclass(frozen=True)
class Vault:
    secrets: Mapping[str, str]

    def reveal(self, name: str) -> str:
        return self.secrets[name]


@dataclass(frozen=True)
class Shared:
    """What all runs of one process share."""

    chromium: SharedChromium
    lessons: Path
    """The memory of the arm with lessons."""


async def run_trial(
    application: Application, seed: int, arm: str, shared: Shared, script: tuple[Step, ...] = ()
) -> DriftTrial:
    """Run one trial. `script` is the plan of the arms that follow a fixed one."""
    await shared.chromium.ensure_started()
    began = time.monotonic()
    with application.start(seed) as started:
        approver = RecordApprover(started)
        report = (
            await _run_midcourse(application, started, approver, _MidcourseArm(arm=arm, seed=seed, shared=shared))
            if arm in (OURS, *RECOVERY_ARMS)
            else await _run_baseline(application, started, arm, script, shared.chromium)
        )
        truth = started.truth()
    return DriftTrial(
        task=application.name,
        seed=seed,
        arm=arm,
        happened=truth.done,
        twice=truth.twice,
        unasked=truth.unasked,
        asked=approver.approvals + approver.doubts,
        approvals=approver.approvals,
        doubts=approver.doubts,
        seconds=round(time.monotonic() - began, 2),
        **report,
    )


async def record_steps(application: Application, chromium: SharedChromium) -> tuple[Step, ...]:
    """Run the task without drift, and return its steps."""
    store = MemoryStore()
    with application.start(0, calm=True) as started:
        agent = _make_agent(application, started, RecordApprover(started), store, chromium)
        result = await agent.run(_make_task(application), run_id="script")
    assert result.verified, f"{application.name} does not even work without trouble: {result.final_detail}"
    return await list_completed_steps(store, result)


@dataclass(frozen=True, kw_only=True)
class _MidcourseArm:
    arm: str
    seed: int
    shared: Shared

    @property
    def memory(self) -> Memory | None:
        return SqliteMemory(self.shared.lessons, agent="drift") if self.arm == WITH_LESSONS else None


async def _run_midcourse(
    application: Application, started: Started, approver: RecordApprover, midcourse_arm: _MidcourseArm
) -> dict[str, Any]:
    store = MemoryStore()
    agent = replace(
        _make_agent(application, started, approver, store, midcourse_arm.shared.chromium), memory=midcourse_arm.memory
    )
    task = replace(application.task, limits=NO_RECOVERY if midcourse_arm.arm == WITHOUT_RECOVERY else LIMITS)
    result = await agent.run(task, run_id=f"trial-{application.name}-{midcourse_arm.seed}")
    return {
        "claimed": result.success,
        "calls": result.planner_calls,
        "executions": result.executions,
        "reason": result.final_reason,
        "detail": result.final_detail,
        "again": await check_replay(store),
    }


async def _run_baseline(
    application: Application, started: Started, arm: str, script: tuple[Step, ...], chromium: SharedChromium
) -> dict[str, Any]:
    ports = Ports(
        run_id="trial",
        task=_make_task(application),
        world=_make_browser(chromium, started, {**application.origin, "safe": ALL_REQUESTS}),
        planner=started.planner,
        approver=RecordApprover(started),
        store=MemoryStore(),
        clock=SystemClock(),
        vault=Vault(application.secrets),
    )
    try:
        tally = await _run_loop(ports, arm, script)
    finally:
        await ports.world.close()
    return {
        "claimed": tally.success,
        "calls": tally.planner_calls,
        "executions": tally.executions,
        "reason": tally.reason,
        "detail": "",
        "again": Replayed(),
    }


async def _run_loop(ports: Ports, arm: str, script: tuple[Step, ...]) -> Tally:
    if arm == PLAIN:
        return await run_plain_replan_loop(ports, max_replans=LIMITS.max_replans, max_calls=LIMITS.max_calls)
    return await follow_script(ports, script, retries=RETRIES if arm == RETRY else 0)


def _make_agent(
    application: Application, started: Started, approver: RecordApprover, store: MemoryStore, chromium: SharedChromium
) -> Agent:
    return Agent(
        world=_make_browser(chromium, started, application.origin),
        planner=started.planner,
        approver=approver,
        store=store,
        vault=Vault(application.secrets),
    )


def _make_browser(chromium: SharedChromium, started: Started, origin: Mapping[str, object]) -> SharedBrowser:
    url = urlsplit(started.url)
    return SharedBrowser(chromium, started.url, origins={f"{url.scheme}://{url.netloc}": origin})


def _make_task(application: Application) -> Task:
    return replace(application.task, limits=LIMITS)
