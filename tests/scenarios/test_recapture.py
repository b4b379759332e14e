"""Seed 000, section 5: the recapture and its failure table. Stale zones are for reading, not for acting."""

import asyncio
from typing import Literal, TypeAlias

import pytest

from midcourse.domain.observation import Observation, Unseen
from midcourse.worlds.simulated import Desktop
from tests.scenarios.stage import Stage, example

Tier2: TypeAlias = Literal["zones", "no zones", "error", "unparseable", "timeout"]
"""What the vision model comes back with."""

RECAPTURE = 5
"""The look at the first `__replan__`: one at the start, one after each of three steps, then this."""


class Camera(Desktop):
    """A desktop seen through a vision model, which does as it is told from look `since` to look `until`."""

    name = "desktop"
    answer: Tier2 = "zones"
    since = RECAPTURE
    until = RECAPTURE
    looks = 0

    async def observe(self) -> Observation | Unseen:
        self.looks += 1
        if not self.since <= self.looks <= self.until:
            return await super().observe()
        match self.answer:
            case "zones":
                return await super().observe()
            case "no zones":
                return Observation(id="", surface=self.look().surface, fingerprint="nothing")
            case "error":
                return Unseen(reason="failed", detail="HTTP 503 from the vision model")
            case "unparseable":
                raise ValueError("Expecting value: line 1 column 1 (char 0)")
            case "timeout":
                await asyncio.Event().wait()
                raise AssertionError("nothing ends this wait")


def seen_through(answer: Tier2, *, until: int = RECAPTURE) -> tuple[Stage, Camera]:
    stage = example("notepad", world=Camera, look_timeout_seconds=0.5 if answer == "timeout" else 10.0)
    camera = stage.world
    assert isinstance(camera, Camera)
    camera.answer, camera.until = answer, until
    return stage, camera


async def test_new_zones_replace_the_earlier_ones() -> None:
    stage, _ = seen_through("zones")
    played = await stage.play()
    second = played.contexts[1].observation
    assert (second.surface.title, len(second.zones), second.stale) == ("Notepad", 50, False)
    assert second.id != played.contexts[0].observation.id


@pytest.mark.parametrize("answer", ["no zones", "error", "unparseable", "timeout"])
async def test_after_a_failed_recapture_the_last_zones_are_kept_as_stale(answer: Tier2) -> None:
    """What was seen after Enter is all that the planner has, and it is told that this is old."""
    stage, _ = seen_through(answer)
    played = await stage.play()
    second = played.contexts[1].observation
    assert (second.surface.title, len(second.zones), second.stale) == ("Notepad", 50, True)
    assert [context.observation.stale for context in played.contexts] == [False, True, False]


@pytest.mark.parametrize("answer", ["no zones", "error", "unparseable", "timeout"])
async def test_one_failed_look_does_not_prevent_success(answer: Tier2) -> None:
    """The executor looks again before it acts, and this time there is something to see."""
    stage, camera = seen_through(answer)
    played = await stage.play()
    assert played.ended == (True, True, "goal_reached")
    assert len(stage.effects) == 1
    assert played.result.attempts == ()
    assert camera.looks == 1 + 3 + 1 + (1 + 3) + 1 + 5


@pytest.mark.parametrize("answer", ["no zones", "error", "unparseable", "timeout"])
async def test_the_executor_refuses_to_act_on_stale_zones(answer: Tier2) -> None:
    """The editor is in the old zones, so the planner may plan a click on it; what cannot be seen is not clicked."""
    stage, camera = seen_through(answer, until=10_000)
    played = await stage.play()
    assert not played.result.success
    assert [context.observation.stale for context in played.contexts[1:]] == [True] * len(played.contexts[1:])
    assert [step.says for step in played.plans[1].steps[:1]] == ["Click into the editor"]
    assert {attempt.reason for attempt in played.final_run.attempts} == {"stale_target"}
    assert "stale_target" in played.contexts[-1].why
    assert played.result.executions == 3
    assert camera.state.focus == ""


async def test_a_first_look_that_fails_leaves_nothing_to_plan_from() -> None:
    stage, camera = seen_through("error", until=10_000)
    camera.since = 1
    played = await stage.play()
    assert played.ended == (False, False, "world_lost")
    assert "HTTP 503 from the vision model" in played.result.final_detail
    assert played.result.planner_calls == 0
