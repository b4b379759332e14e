"""Whoever follows a durable run: what is said to it arrives in the order in which it was said."""

import asyncio
from types import SimpleNamespace
from typing import Any

from midcourse.app.agent import new_run
from midcourse.app.following import FollowedRun
from midcourse.domain.task import Task


class SlowToHear:
    """A fleet's handle of a run that takes its time over advice."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def tell(self, word: Any) -> str:
        await asyncio.sleep(0.05 if word.kind == "guided" else 0)
        self.heard.append(word.kind)
        return ""


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
