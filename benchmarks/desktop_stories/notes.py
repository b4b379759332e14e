"""A note in mousepad: written, saved over an older one, after 'Replace?' was asked."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.desktop_stories.story import Started, Truth, click, interruptions, press, there, title, type_into
from midcourse.domain.expectation import Expectation, ZoneAppears, ZoneGone
from midcourse.domain.task import Task
from midcourse.planners import Playbook, Rule

TEXT = "Plan as far as you can see."
BEFORE = "What was here before."


def rules(path: Path) -> tuple[Rule, ...]:
    gone = Expectation(checks=[ZoneGone(role="button", label="Save*")])
    still_there = Expectation(checks=[ZoneAppears(role="button", label="Save*")])
    write = type_into("textbox:text", TEXT, "Write the note")
    name = type_into("textbox:Name", str(path), "Type the name of the file")
    return (
        *interruptions("*Mousepad"),
        Rule(on="Question", steps=(click("button:Replace*", "Replace it", expect=title(f"*{path.name} - Mousepad")),)),
        Rule(on="Save As", steps=(name, click("button:Save*", "Click Save", expect=gone, absent_when=still_there))),
        Rule(on="*Untitled 1 - Mousepad", steps=(write, press("Control+S", "Press Control+S"))),
        Rule(on=f"*{path.name} - Mousepad", done=True),
    )


@contextmanager
def start(home: Path, *, slow: float = 0.0) -> Generator[Started]:
    path = home / "note.txt"
    path.write_text(BEFORE)
    yield Started(
        command="mousepad",
        planner=Playbook(rules(path)),
        task=Task(goal="Save a note", done_when=there("file_has", path=path.name, text=TEXT)),
        truth=lambda: Truth(path.read_text() == TEXT),
        renamed=("Save", "Save now"),
    )
