"""Files in thunar: renamed, moved to the trash, and restored, as the folder itself shows."""

from pathlib import Path

import pytest

from benchmarks.desktop_stories import files
from benchmarks.desktop_stories.story import Truth
from midcourse import Agent
from midcourse.testing import Approves
from midcourse.worlds.desktop import Desktop
from tests.worlds.desktop.hand import Hand

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(home: Path) -> Path:
    folder = home / "docs"
    folder.mkdir()
    (folder / "report.txt").write_text("Figures.\n")
    (folder / "letter.txt").write_text("Dear Ada.\n")
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_file_is_renamed_and_trashed_and_both_are_taken_back(home: Path, folder: Path) -> None:
    world = Desktop("thunar docs", home=str(home))
    await world.open()
    try:
        hand = Hand(world)
        await hand.do("press_keys", keys="Control+2")
        await hand.do("click", "cell:report.txt")
        await hand.do("press_keys", keys="F2")
        await hand.do("type", "textbox:Enter the new name", text="final.txt")
        await hand.do("click", "button:Rename")
        assert names(folder) == ["final.txt", "letter.txt"]
        assert await world.probe("file_exists", (("path", "docs/final.txt"),)) == "present"
        await hand.do("revert")
        assert names(folder) == ["letter.txt", "report.txt"]

        await hand.do("click", "cell:letter.txt")
        await hand.do("press_keys", keys="Delete")
        assert names(folder) == ["report.txt"]
        assert (home / ".local/share/Trash/files/letter.txt").read_text() == "Dear Ada.\n"
        await hand.do("revert")
        assert (folder / "letter.txt").read_text() == "Dear Ada.\n"
        assert names(folder) == ["letter.txt", "report.txt"]

        again = await hand.attempt("revert")
        assert again.status == "no_effect"
        await hand.do("click", "cell:letter.txt")
        gone = await hand.attempt("press_keys", keys="Shift+Delete")
        assert (gone.status, gone.reason) == ("no_effect", "would_send"), "deleting for good needs approval"
        assert names(folder) == ["letter.txt", "report.txt"]
    finally:
        await world.close()


async def test_a_run_takes_back_what_it_moved_to_the_trash_and_touches_no_other_file(home: Path) -> None:
    asked = Approves()
    with files.start(home) as story:
        agent = Agent(Desktop(story.command, home=str(home)), story.planner, approver=asked)
        result = await agent.run(story.task)
        assert (result.final_reason, result.verified) == ("goal_reached", True), result.final_detail
        assert story.truth() == Truth(True)
    assert "Take it back from the trash" in [step.says for step in result.completed]
    assert asked.questions == [], "what can be taken back needs no approval"
