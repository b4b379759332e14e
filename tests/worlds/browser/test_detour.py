"""A detour through dialogs of a real page: a way is found by trying, and no try sends anything."""

import pytest

from benchmarks.search.searcher import Replanner, Searcher
from midcourse import Agent
from midcourse.domain.detour import Goal, Tried
from midcourse.domain.expectation import Expectation, ZoneAppears
from midcourse.domain.task import Task
from midcourse.ports.closeness import WordOverlap
from midcourse.testing import Approves, MemoryStore
from midcourse.worlds.browser import Browser
from tests.pages import Pages

pytestmark = pytest.mark.slow

DIALOGS = """
<button onclick="log.showModal()">Activity</button>
<button onclick="members.showModal()">Members</button>
<dialog id="log" aria-label="Activity"><p>Nothing yet</p><button onclick="log.close()">Close</button></dialog>
<dialog id="members" aria-label="Members">
  <button onclick="fetch('/invitations', {method: 'POST', body: 'all'})">Invite all as members</button>
  <button onclick="invite.showModal()">One of them</button>
  <button onclick="members.close()">Close</button>
</dialog>
<dialog id="invite" aria-label="Invite a guest"><button onclick="invite.close()">Cancel</button></dialog>
"""
GOAL = Goal(
    says="members: 'Invite a guest' is open",
    expect=Expectation(checks=(ZoneAppears(role="dialog", label="Invite a guest"),), says="among the members"),
)


async def test_try_of_a_detour_sends_nothing_and_asks_nothing(pages: Pages) -> None:
    """With an approver that would approve everything."""
    person, searcher = Approves(), Searcher()
    agent = Agent(
        world=Browser(pages.show("/dialogs", DIALOGS, title="Workspace"), quiet_seconds=0.03),
        planner=Replanner(searcher, GOAL, aims_first=True),
        detour_planner=searcher,
        closeness_judge=WordOverlap(),
        approver=person,
        store=MemoryStore(),
    )
    live = agent.start(Task(goal=GOAL.says, done_when=GOAL.expect), run_id="run")
    tries: dict[str, Tried] = {}
    async for turn in live:
        tries |= {one.label: one for one in (turn.run.detour.tries if turn.run.detour else ())}
    assert (await live.result()).success
    assert "not_harmless" in {one.failed for one in tries.values()}, "it was tempted"
    assert (person.questions, [hit for hit in pages.hits if hit.startswith("POST")]) == ([], [])
