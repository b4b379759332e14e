"""The arms: ways to do the same task in the same application with the same planner.

fixed                one plan, made where nothing goes wrong, carried out to the first step that fails
naive retry          the same plan; a step that fails is repeated, three times at most
plain replan loop    plan, execute, on failure plan again, as in `loops.py`
midcourse            the director
without recovery     the same, but a step that fails is neither tried nor planned again
with lessons         the same as midcourse, with a memory that all runs of this arm share and learn into as they go

The first three let every request of the page go; with Midcourse it waits for an approval.
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
from benchmarks.web_apps.person import Person
from benchmarks.web_apps.script import follow
from midcourse.app.agent import Agent
from midcourse.domain.budget import Limits
from midcourse.domain.plan import Step
from midcourse.domain.task import Task
from midcourse.perform import Ports
from midcourse.ports.clock import SystemClock
from midcourse.ports.memory import Memory
from midcourse.store.sqlite_memory import SqliteMemory
from midcourse.testing import MemoryStore

FIXED, RETRY, PLAIN, OURS = "fixed", "naive retry", "plain replan loop", "midcourse"
UNMENDED, LEARNED = "midcourse, without recovery", "midcourse, with lessons"
ARMS = (FIXED, RETRY, PLAIN, OURS)
ABOUT_RECOVERY = (UNMENDED, LEARNED)
RETRIES = 3
LIMITS = Limits(max_calls=60, max_segments=40, max_replans=10, max_error_replans=8, retry_delay_seconds=0.25)
"""Twice the usual: these tasks go through a dozen pages, and most of those are trouble. The same for the plain loop."""
NO_RECOVERY = replace(LIMITS, auto_replan=False, max_step_retries=0)
EVERYTHING = ("* /*",)


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
    """What all runs have that one process carries out."""

    chromium: SharedChromium
    lessons: Path
    """The memory of the arm that learns."""


async def run_trial(
    application: Application, seed: int, arm: str, shared: Shared, script: tuple[Step, ...] = ()
) -> DriftTrial:
    """`script` is the plan of the arms that have one."""
    await shared.chromium.ensure_started()
    began = time.monotonic()
    with application.start(seed) as started:
        person = Person(started)
        told = (
            await _ours(application, started, person, _Ours(arm=arm, seed=seed, shared=shared))
            if arm in (OURS, *ABOUT_RECOVERY)
            else await _other(application, started, arm, script, shared.chromium)
        )
        truth = started.truth()
    return DriftTrial(
        task=application.name,
        seed=seed,
        arm=arm,
        happened=truth.done,
        twice=truth.twice,
        unasked=truth.unasked,
        asked=person.approvals + person.doubts,
        approvals=person.approvals,
        doubts=person.doubts,
        seconds=round(time.monotonic() - began, 2),
        **told,
    )


async def script_of(application: Application, chromium: SharedChromium) -> tuple[Step, ...]:
    """The steps of the task where nothing goes wrong."""
    store = MemoryStore()
    with application.start(0, calm=True) as started:
        agent = _agent(application, started, Person(started), store, chromium)
        result = await agent.run(_task(application), run_id="script")
    assert result.verified, f"{application.name} does not even work without trouble: {result.final_detail}"
    return await list_completed_steps(store, result)


@dataclass(frozen=True, kw_only=True)
class _Ours:
    arm: str
    seed: int
    shared: Shared

    @property
    def memory(self) -> Memory | None:
        return SqliteMemory(self.shared.lessons, agent="drift") if self.arm == LEARNED else None


async def _ours(application: Application, started: Started, person: Person, ours: _Ours) -> dict[str, Any]:
    store = MemoryStore()
    agent = replace(_agent(application, started, person, store, ours.shared.chromium), memory=ours.memory)
    task = replace(application.task, limits=NO_RECOVERY if ours.arm == UNMENDED else LIMITS)
    result = await agent.run(task, run_id=f"trial-{application.name}-{ours.seed}")
    return {
        "claimed": result.success,
        "calls": result.planner_calls,
        "executions": result.executions,
        "reason": result.final_reason,
        "detail": result.final_detail,
        "again": await check_replay(store),
    }


async def _other(
    application: Application, started: Started, arm: str, script: tuple[Step, ...], chromium: SharedChromium
) -> dict[str, Any]:
    ports = Ports(
        run_id="trial",
        task=_task(application),
        world=_browser(chromium, started, {**application.origin, "safe": EVERYTHING}),
        planner=started.planner,
        approver=Person(started),
        store=MemoryStore(),
        clock=SystemClock(),
        vault=Vault(application.secrets),
    )
    try:
        tally = await _loop(ports, arm, script)
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


async def _loop(ports: Ports, arm: str, script: tuple[Step, ...]) -> Tally:
    if arm == PLAIN:
        return await run_plain_replan_loop(ports, max_replans=LIMITS.max_replans, max_calls=LIMITS.max_calls)
    return await follow(ports, script, retries=RETRIES if arm == RETRY else 0)


def _agent(
    application: Application, started: Started, person: Person, store: MemoryStore, chromium: SharedChromium
) -> Agent:
    return Agent(
        world=_browser(chromium, started, application.origin),
        planner=started.planner,
        approver=person,
        store=store,
        vault=Vault(application.secrets),
    )


def _browser(chromium: SharedChromium, started: Started, origin: Mapping[str, object]) -> SharedBrowser:
    place = urlsplit(started.url)
    return SharedBrowser(chromium, started.url, origins={f"{place.scheme}://{place.netloc}": origin})


def _task(application: Application) -> Task:
    return replace(application.task, limits=LIMITS)
