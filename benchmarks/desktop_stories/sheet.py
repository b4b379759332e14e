"""A table in gnumeric, saved, and read again by ssconvert."""

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.desktop_stories.story import Started, Truth, click, interruptions, press, there, title, type_into
from midcourse.domain.expectation import Expectation, ZoneHasState
from midcourse.domain.plan import Draft
from midcourse.domain.task import Task
from midcourse.planners import Playbook, Rule

CELLS = ("Lamp", "Chair", "=12.5*2")
SHOWN = ["Lamp", "Chair", "25"]
BOOK = "*Book1.gnumeric - Gnumeric"


def shows(*texts: str) -> Expectation:
    """The cell that has the cursor is in one box, what is being written in another."""
    return Expectation(checks=[ZoneHasState(role="textbox", state="text", value=text) for text in texts])


def write(row: int, text: str) -> tuple[Rule, ...]:
    enter = Draft(
        skill="type_text", arguments={"text": text}, says=f"Write {text}", transition=False, expect=shows(text)
    )
    # On a slow screen the cell still shows after the key: without the next one to wait for, the key would be pressed again.
    finish = replace(press("Enter", f"Finish the cell of {text}"), expect=shows(f"A{row + 1}"))
    return (
        Rule(on=BOOK, when=shows(f"A{row}", text), steps=(finish,)),
        Rule(on=BOOK, when=shows(f"A{row}"), steps=(enter, finish)),
    )


def rules(path: Path) -> tuple[Rule, ...]:
    name = type_into("textbox:Name", str(path), "Name the file")
    saved, asks = title(f"{path.name}*Gnumeric"), title("Save the current workbook as")
    return (
        *interruptions("*Gnumeric"),
        Rule(
            on="Save the current workbook as",
            steps=(name, click("button:Save*", "Save it", expect=saved, absent_when=asks)),
        ),
        *(rule for row, text in enumerate(CELLS, start=1) for rule in write(row, text)),
        Rule(on=BOOK, when=shows(f"A{len(CELLS) + 1}"), steps=(press("Control+S", "Ask to save"),)),
        Rule(on=f"{path.name}*Gnumeric", done=True),
    )


def read_table(path: Path) -> list[str]:
    if not path.exists():
        return []
    table = path.with_suffix(".csv")
    subprocess.run(["ssconvert", str(path), str(table)], check=True, capture_output=True)
    return table.read_text().split()


@contextmanager
def start(home: Path, *, slow: float = 0.0) -> Generator[Started]:
    path = home / "prices.gnumeric"
    yield Started(
        command="gnumeric",
        planner=Playbook(rules(path)),
        task=Task(goal="Write a table", done_when=there("file_exists", path=path.name)),
        truth=lambda: Truth(read_table(path) == SHOWN),
        renamed=("Save", "Save now"),
    )
