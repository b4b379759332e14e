"""A click that turns out to be reversible: the world announces it, it is written down, and then done once."""

import asyncio

from midcourse.domain.expectation import Expectation, TextContains
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import Draft
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.planners import SamePlan
from midcourse.testing import Approves
from midcourse.worlds.base import BaseWorld, Scene, Zone, skill
from tests.scenarios.stage import RUN, Stage, crash, keep_session

GONE = Expectation(checks=(TextContains(text="2 files"),))
TRASH = Draft(zone="b", skill="click", expect=GONE, transition=False)


class Folder(BaseWorld):
    """Its button moves one more file to the trash with every click, as a file manager does that selects the next one."""

    def __init__(self, *, answer: Outcome | None = None, stops: bool = False) -> None:
        super().__init__()
        self.stage: Stage | None = None
        self.trashed = 0
        self.clicks = 0
        self.entries: list[LedgerEntry | None] = []
        self.done = asyncio.Event()
        self._answer = answer
        self._stops = stops

    def look(self) -> Scene:
        return Scene(f"{3 - self.trashed} files", Zone(id="b", role="button", label="Delete"))

    @skill
    async def click(self, zone: Zone) -> Outcome | None:
        self.clicks += 1
        if self.clicks == 1:
            return Outcome(status="no_effect", reason="would_change", detail="it can be taken back")
        assert self.stage
        ledger = await self.stage.store.ledger(RUN)
        self.entries.append(ledger[-1] if ledger else None)
        self.trashed += 1
        self.done.set()
        if self._stops:
            await asyncio.Event().wait()
        return self._answer


def stage_of(world: Folder, asked: Approves | None = None) -> Stage:
    world.stage = Stage(world=world, planner=SamePlan((TRASH,)), approver=asked or Approves())
    return world.stage


async def test_a_reversible_act_is_in_the_ledger_before_it_is_done_without_approval() -> None:
    world, asked = Folder(), Approves()
    played = await stage_of(world, asked).play()
    assert played.result.success
    assert (world.trashed, asked.questions) == (1, [])
    (entry,) = world.entries
    assert entry is not None
    assert (entry.dispatched_at is not None, entry.outcome) == (True, None)


async def test_a_reversible_act_whose_answer_was_lost_is_not_repeated_if_the_screen_shows_it() -> None:
    world = Folder(answer=Outcome(status="unknown", reason="timeout"))
    assert (await stage_of(world).play()).result.success
    assert world.trashed == 1


async def test_a_reversible_act_is_not_done_again_after_a_crash() -> None:
    world = keep_session(Folder, stops=True)
    assert isinstance(world, Folder)
    stage = stage_of(world)
    live = stage.start()
    watching = asyncio.ensure_future(stage.watch_to_end(live))
    await world.done.wait()
    watching.cancel()
    await crash(live)
    played = await stage.resume()
    assert played.result.success, played.result.final_detail
    assert (world.trashed, world.clicks) == (1, 2)
