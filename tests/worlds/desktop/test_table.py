"""A table in gnumeric, read again by ssconvert."""

from pathlib import Path

import pytest

from benchmarks.desktop_stories import sheet
from midcourse import Agent
from midcourse.testing import Approves
from midcourse.worlds.desktop import Desktop

pytestmark = pytest.mark.slow


async def test_a_table_has_what_was_written_into_its_cells(home: Path) -> None:
    asked = Approves()
    with sheet.start(home) as story:
        agent = Agent(Desktop(story.command, home=str(home)), story.planner, approver=asked)
        result = await agent.run(story.task)
    assert (result.final_reason, result.verified) == ("goal_reached", True)
    assert asked.questions == []
    assert sheet.read_table(home / "prices.gnumeric") == sheet.SHOWN
