"""The notepad story in mousepad: write a note, save it, answer 'Replace?'."""

from pathlib import Path

import pytest

from benchmarks.desktop_stories.notes import TEXT, rules
from benchmarks.desktop_stories.story import there
from midcourse import Agent, Task
from midcourse.planners import Playbook
from midcourse.testing import Approves, Rejects
from midcourse.worlds.desktop import Desktop

pytestmark = pytest.mark.slow


def task(path: Path) -> Task:
    return Task(goal="Save a note", done_when=there("file_has", path=path.name, text=TEXT))


async def test_a_note_is_written_and_saved_without_a_question(home: Path) -> None:
    asked = Approves()
    agent = Agent(Desktop("mousepad", home=str(home)), Playbook(rules(home / "note.txt")), approver=asked)
    result = await agent.run(task(home / "note.txt"))
    assert (result.final_reason, result.verified) == ("goal_reached", True)
    assert (home / "note.txt").read_text() == TEXT
    assert asked.questions == []


async def test_a_file_is_replaced_only_after_a_yes_to_its_name_and_the_new_text(home: Path) -> None:
    path = home / "note.txt"
    path.write_text("What was here before.")
    asked = Approves()
    result = await Agent(Desktop("mousepad", home=str(home)), Playbook(rules(path)), approver=asked).run(task(path))
    assert (result.final_reason, result.verified) == ("goal_reached", True)
    (question,) = asked.questions
    values = dict(question.consequences[0].commit.values)
    assert values["Save As: Name"] == str(path)
    assert TEXT in values.values()
    assert any("already exists" in str(value) for value in values.values())
    assert path.read_text() == TEXT


async def test_after_a_no_the_file_is_as_it_was(home: Path) -> None:
    path = home / "note.txt"
    path.write_text("What was here before.")
    result = await Agent(Desktop("mousepad", home=str(home)), Playbook(rules(path)), approver=Rejects()).run(task(path))
    assert not result.success
    assert path.read_text() == "What was here before."
