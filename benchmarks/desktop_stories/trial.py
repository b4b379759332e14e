"""The arms: one story under one seed's trouble, by Midcourse, or by one plan that was made where nothing goes wrong."""

import asyncio
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.desktop_stories import files, mail, notes, sheet
from benchmarks.desktop_stories.story import Started, Story, Truth
from benchmarks.desktop_stories.trouble import Trouble, TroubledDesktop, UnguardedDesktop
from benchmarks.harness.arms import list_completed_steps
from benchmarks.harness.replay_check import Replayed, check_replay
from benchmarks.web_apps.script import follow_script
from midcourse.agent.agent import Agent
from midcourse.domain.approval import Decision, Question
from midcourse.domain.plan import Step
from midcourse.perform import Ports
from midcourse.ports.clock import SystemClock
from midcourse.testing import MemoryStore

STORIES: Mapping[str, Story] = {"note": notes.start, "files": files.start, "mail": mail.start, "table": sheet.start}
OURS, FIXED = "midcourse", "fixed plan"
ARMS = (OURS, FIXED)
HOME = "$home"
"""Stands for the home folder in a recorded plan."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    story: str
    arm: str
    seed: int
    trouble: tuple[str, ...]
    claimed: bool
    happened: bool
    twice: int
    executions: int
    approvals: int
    doubts: int
    reason: str
    detail: str
    seconds: float
    again: Replayed = field(default_factory=Replayed)


class Person:
    """Agrees to what is done in the program of the story, and answers doubts by what really is there."""

    def __init__(self, program: str, truth: Callable[[], Truth]) -> None:
        self._origin = f"program:{program}"
        self._truth = truth
        self.approvals = 0
        self.doubts = 0

    async def ask(self, question: Question) -> Decision:
        if question.about == "approve":
            self.approvals += 1
            if all(one.origin.lower() == self._origin for one in question.consequences):
                return Decision(verdict="approved", by="the benchmark", all_values=True)
            return Decision(verdict="rejected", guidance="This is another program.", by="the benchmark")
        self.doubts += 1
        return Decision(verdict="happened" if self._truth().done else "did_not_happen", by="the benchmark")


class NoSecrets:
    def reveal(self, name: str) -> str:
        raise KeyError(name)


def record_script(story: str) -> tuple[Step, ...]:
    """The steps of the story where nothing goes wrong."""

    async def record() -> tuple[Step, ...]:
        with _home() as folder, STORIES[story](Path(folder)) as started:
            world = TroubledDesktop(started.command, Trouble(), started.renamed, home=folder)
            store = MemoryStore()
            result = await _agent(started, world, store).run(started.task, run_id="script")
            assert result.verified, f"{story} does not even work without trouble: {result.final_detail}"
            return tuple(_in_home(step, folder, HOME) for step in await list_completed_steps(store, result))

    return asyncio.run(record())


def run_trial(what: tuple[str, str, int, tuple[Step, ...]]) -> Trial:
    return asyncio.run(_trial(*what))


async def _trial(story: str, arm: str, seed: int, script: tuple[Step, ...]) -> Trial:
    trouble, began = Trouble.of(story, seed), time.monotonic()
    with _home() as folder, STORIES[story](Path(folder), slow=trouble.slow) as started:
        person = Person(started.command.split()[0], started.truth)
        if arm == OURS:
            store = MemoryStore()
            world = TroubledDesktop(started.command, trouble, started.renamed, home=folder)
            result = await _agent(started, world, store, person).run(started.task)
            outcome = (result.success, result.executions, result.final_reason, result.final_detail)
            again = await check_replay(store)
        else:
            outcome, again = await _follow(started, trouble, folder, script), Replayed()
        truth = started.truth()
    return Trial(
        story=story,
        arm=arm,
        seed=seed,
        trouble=trouble.kinds,
        claimed=outcome[0],
        happened=truth.done,
        twice=truth.twice,
        executions=outcome[1],
        approvals=person.approvals,
        doubts=person.doubts,
        reason=outcome[2],
        detail=outcome[3],
        seconds=round(time.monotonic() - began, 1),
        again=again,
    )


def _home() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="desktop-story-", ignore_cleanup_errors=True)


async def _follow(
    started: Started, trouble: Trouble, folder: str, script: tuple[Step, ...]
) -> tuple[bool, int, str, str]:
    world = UnguardedDesktop(started.command, trouble, started.renamed, home=folder)
    ports = Ports(
        run_id="fixed",
        task=started.task,
        world=world,
        planner=started.planner,
        approver=Person("", started.truth),
        store=MemoryStore(),
        clock=SystemClock(),
        vault=NoSecrets(),
    )
    try:
        tally = await follow_script(ports, tuple(_in_home(step, HOME, folder) for step in script), retries=0)
    finally:
        await world.close()
    return tally.success, tally.executions, tally.reason, ""


def _in_home(step: Step, old: str, new: str) -> Step:
    arguments = ((name, value.replace(old, new) if isinstance(value, str) else value) for name, value in step.arguments)
    return replace(step, arguments=tuple(arguments))


def _agent(started: Started, world: TroubledDesktop, store: MemoryStore, person: Person | None = None) -> Agent:
    asked = person or Person(started.command.split()[0], started.truth)
    return Agent(world=world, planner=started.planner, approver=asked, store=store, vault=NoSecrets())
