"""Promise 9 over many episodes, each in an application of its own: a revert leads back, as seen, or it is flagged.

The searcher here tries anything at random, so that there is much to revert. The check reads what was seen from the store,
not from what the director believes.
"""

import asyncio
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import settings

from benchmarks.search.generated import generate_application
from benchmarks.search.searcher import NoisyJudge, RandomTries
from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.commands import Act, AskPerson
from midcourse.domain.detour import Tried
from midcourse.domain.expectation import Expectation, SurfaceMatches
from midcourse.domain.observation import Zone
from midcourse.domain.plan import REACH, Draft
from midcourse.drive import Progress
from midcourse.ports.detour import DetourContext, TryDraft
from midcourse.testing import FakeClock, MemoryStore, Scripted
from midcourse.worlds.simulated.application import Windows
from tests.scenarios.stage import plan

SETTINGS = {"max_calls": 60, "max_replans": 0, "max_error_replans": 0}


class Reckless(RandomTries):
    """Ticks boxes, writes into fields, and would send things."""

    async def plan_try(self, context: DetourContext) -> TryDraft:
        if self._chance.random() < 0.5:
            return await super().plan_try(context)
        zone = self._chance.choice(context.observation.zones)
        return TryDraft(step=self._on(zone))

    def _on(self, zone: Zone) -> Draft:
        if zone.role == "textbox":
            return Draft(zone=zone.id, skill="type_text", arguments=(("text", "something else"),))
        return Draft(zone=zone.id, skill="send" if zone.role == "send_button" else "click")


async def episode(seed: int) -> Counter[str]:
    made = generate_application(seed)
    world, store = Windows(made.application, seed=seed), MemoryStore()
    there = Expectation(checks=(SurfaceMatches(pattern=made.title),))
    agent = Agent(
        world=world,
        planner=Scripted(plan(Draft(zone=REACH, expect=there), final=True)),
        detour_planner=Reckless(seed),
        closeness_judge=NoisyJudge(lambda: world.steps_to(made.goal), noise=0.3, seed=seed),
        settings=Settings.load(task=SETTINGS),
        store=store,
        clock=FakeClock(),
    )
    live = agent.start("open it", run_id="run")
    turns = [turn async for turn in live]
    final = turns[-1].run
    verified = 0
    for before, after in pairwise(turns):
        if back := taken_back(before, after):
            await check(store, back, after)
            verified += 1
    for turn in turns:
        assert not any(isinstance(command, AskPerson) for command in turn.commands)
        assert not any(isinstance(command, Act) and command.effect == "irreversible" for command in turn.commands)
    assert world.happened() == (), "nothing was sent"
    flagged = sum(attempt.reason == "revert_unverified" for attempt in final.attempts)
    assert verified + flagged == final.counts.reverts, "led back, or flagged"
    return Counter(episodes=1, reverts=final.counts.reverts, verified=verified, flagged=flagged)


def taken_back(before: Progress, after: Progress) -> Tried | None:
    """The try that this turn found taken back, if the revert is complete."""
    was, now = before.run.detour, after.run.detour
    if now is None or now.reverting is not None:
        return None
    known = {one.label for one in was.tries if one.reverted} if was else set[str]()
    return next((one for one in now.tries if one.reverted and one.label not in known), None)


async def check(store: Any, back: Tried, after: Progress) -> None:
    before, now = await store.observation("run", back.seen), await store.observation("run", after.run.seen.id)  # pyrefly: ignore[missing-attribute]
    assert before.fingerprint == now.fingerprint
    assert (before.surface, before.zones) == (now.surface, now.zones)


def play(seeds: range) -> Counter[str]:
    async def all_of_them() -> Counter[str]:
        counted: Counter[str] = Counter()
        for seed in seeds:
            counted += await episode(seed)
        return counted

    return asyncio.run(all_of_them())


@pytest.mark.slow
def test_a_revert_leads_back_or_is_flagged() -> None:
    episodes = min(settings().max_examples, 1000)
    counted = play(range(30_000, 30_000 + episodes))
    assert counted["episodes"] == episodes
    assert counted["verified"] > episodes
    assert counted["flagged"] > 0
