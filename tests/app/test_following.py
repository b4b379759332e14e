"""Whoever follows a durable run: what is said to it arrives in the order in which it was said."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from midcourse.app.fleet.following import DOUBT, GLANCE, FollowedRun
from midcourse.app.start import new_run
from midcourse.domain.task import Task
from midcourse.runtimes.temporal.client import PROMPT


class SlowToHear:
    """A fleet's handle of a run that takes its time over advice."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def tell(self, word: Any) -> str:
        await asyncio.sleep(0.05 if word.kind == "guided" else 0)
        self.heard.append(word.kind)
        return ""


class NeverTakenUp:
    """A fleet without workers: whatever is handed out waits, and the journal has no news."""

    looks = 0

    async def describe(self) -> Any:
        return SimpleNamespace(status="running", waits_for_worker=True)

    async def happened(self, run_id: str, above: object) -> tuple[()]:
        self.looks += 1
        return ()


async def test_a_fleet_without_workers_says_so_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("midcourse.app.fleet.following.GLANCE", 0.0)
    fleet, said = NeverTakenUp(), list[str]()
    reached: Any = SimpleNamespace(store=fleet, runs=SimpleNamespace(handle=lambda _run_id: fleet))
    run = FollowedRun(reached, new_run(Task(goal="Order a lamp"), "r-1"), said.append)
    following = asyncio.ensure_future(run.result())
    async with asyncio.timeout(600):
        while fleet.looks < 3 * DOUBT:
            await asyncio.sleep(0)
    following.cancel()
    assert said == [
        "no worker has taken run r-1 up so far; start one with midcourse up --detach, or midcourse fleet worker"
    ]


def test_it_is_said_within_ten_seconds():
    """As far as it is for us to say: how long a look takes is the database's affair."""
    assert GLANCE * DOUBT <= 5.0
    assert PROMPT <= 10.0


async def test_words_arrive_in_the_order_in_which_they_were_said():
    """Advice and then 'cancel': the other way round, the run would be over before the advice comes."""
    handle = SlowToHear()
    fleet: Any = SimpleNamespace(store=None, runs=SimpleNamespace(handle=lambda _run_id: handle))
    run = FollowedRun(fleet, new_run(Task(goal="Order a lamp"), "r-1"), print)
    assert (run.guide("no hurry"), run.cancel()) == ("", "")
    async with asyncio.timeout(600):
        while len(handle.heard) < 2:
            await asyncio.sleep(0.01)
    assert handle.heard == ["guided", "cancel_asked"]
