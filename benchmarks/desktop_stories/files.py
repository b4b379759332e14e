"""Files in thunar: one goes to the trash and is taken back from there, another one is renamed."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.desktop_stories.story import Started, Truth, click, interruptions, press, type_into
from midcourse.domain.expectation import Check, Expectation, Probe, ZoneAppears, ZoneGone, ZoneHasState
from midcourse.domain.plan import Draft
from midcourse.domain.task import Task
from midcourse.planners import Playbook, Rule
from midcourse.ports.planner import PlanDraft, PlanningContext

NAMES = ("letter.txt", "plan.txt", "report.txt")
THROWN, OLD, NEW = "letter.txt", "plan.txt", "final.txt"
HERE = "docs - Thunar"
IN_MENU = "Move it to the trash"
TAKEN_BACK = "Take it back from the trash"


def listed(name: str) -> ZoneAppears:
    return ZoneAppears(role="cell", label=name)


def gone(name: str) -> ZoneGone:
    return ZoneGone(role="cell", label=name)


def on(*checks: Check) -> Expectation:
    return Expectation(checks=checks)


def selecting(name: str, then: Draft) -> tuple[Rule, ...]:
    """Select the file, then do the step."""
    selected = ZoneHasState(role="cell", label=name, state="selected", value=True)
    return (
        Rule(on=HERE, when=on(selected), steps=(then,)),
        Rule(on=HERE, when=on(listed(name)), steps=(click(f"cell:{name}", f"Select {name}"),)),
    )


def trash_rules(*, by_key: bool) -> tuple[Rule, ...]:
    """By the menu, or by the key if the menu entry did not do it."""
    thrown = on(gone(THROWN), listed(OLD))
    back = Draft(skill="revert", says=TAKEN_BACK, transition=True, expect=on(listed(THROWN)))
    if by_key:
        in_menu = press("Escape", "Close the menu")
        then = replace(press("Delete", "Press the key that moves it to the trash"), expect=thrown)
    else:
        in_menu = click("menuitem:Move to Trash*", IN_MENU, expect=thrown)
        then = click("menu:Edit", "Open the menu Edit")
    return (
        Rule(on=HERE, when=thrown, steps=(back,)),
        Rule(on=HERE, when=on(ZoneAppears(label="Move to Trash*")), steps=(in_menu,)),
        *selecting(THROWN, then),
    )


def rename_rules() -> tuple[Rule, ...]:
    name = type_into("textbox:Enter the new name", NEW, "Type the new name")
    rename = click("button:Rename", "Rename it", expect=on(listed(NEW), gone(OLD)))
    return (
        Rule(on=HERE, when=on(listed(NEW)), done=True),
        Rule(on="Rename*", steps=(name, rename)),
        *selecting(OLD, press("F2", "Ask for another name")),
    )


@dataclass(frozen=True)
class Tidying:
    """First the trash, and once the file is back, the other name."""

    async def plan(self, context: PlanningContext) -> PlanDraft:
        is_back = any(step.says == TAKEN_BACK for step in context.completed)
        show = Rule(on=HERE, steps=(press("Control+2", "Show the files as a list"),))
        failed = any(step.says == IN_MENU for step in context.attempts)
        rules = rename_rules() if is_back else trash_rules(by_key=failed)
        return await Playbook((*interruptions(HERE), *rules, show)).plan(context)


@contextmanager
def start(home: Path, *, slow: float = 0.0) -> Generator[Started]:
    folder, trash = home / "docs", home / ".local/share/Trash/files"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_text(f"{name}\n")

    def truth() -> Truth:
        thrown = [path.name for path in trash.iterdir()] if trash.exists() else []
        content = {path.name: path.read_text() for path in folder.iterdir()}
        wanted = {NEW if name == OLD else name: f"{name}\n" for name in NAMES}
        return Truth(content == wanted and not thrown, twice=len([name for name in thrown if name != THROWN]))

    yield Started(
        command="thunar docs",
        planner=Tidying(),
        task=Task(
            goal=f"Move {THROWN} to the trash, take it back, and rename {OLD} to {NEW}",
            done_when=Probe(name="file_exists", arguments={"path": f"docs/{NEW}"}),
        ),
        truth=truth,
        renamed=("Move to Trash", "Move to Trash Bin"),
    )
