"""Ways to revert an act: each kind is used where it fits and nowhere else."""

from typing import Any

import pytest

from midcourse.domain.argument import Arguments
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.plan import GLOBAL, Draft, Step, Target
from midcourse.domain.skill import Catalogue, Parameter, Skill
from midcourse.policy.detour.undo import ActContext, find_ways_back
from midcourse.testing.conformance.planner import seen

SKILLS = (
    Skill(name="click"),
    Skill(name="type", parameters=(Parameter(name="text"),), undo="clear"),
    Skill(name="clear"),
    Skill(name="turn", parameters=(Parameter(name="on", type="boolean"),)),
    Skill(name="select", parameters=(Parameter(name="option"),)),
    Skill(name="press", parameters=(Parameter(name="key"),), on_zone=False),
    Skill(name="navigate", parameters=(Parameter(name="url"),), on_zone=False, undo="go_back"),
    Skill(name="go_back", on_zone=False),
)
BOX = Zone(id="box", role="checkbox", label="Wrap", state=(("checked", False),))
TICKED = Zone(id="box", role="checkbox", label="Wrap", state=(("checked", True),))
FIELD = Zone(id="field", role="textbox", label="Name", state=(("value", "draft"),))
WRITTEN = Zone(id="field", role="textbox", label="Name", state=(("value", "final"),))
BUTTON = Zone(id="button", role="button", label="Options")


def back(
    skill: str,
    zone: str,
    before: tuple[Zone, ...],
    now: tuple[Zone, ...],
    skills: tuple[Skill, ...] = SKILLS,
    **given: Any,
) -> dict[str, Draft]:
    """The ways back by their strategy, in order."""
    arguments: Arguments = tuple(given.items())
    step = Step(
        version=2, index=0, zone=zone, skill=skill, arguments=arguments, target=Target(surface="", role="", label="")
    )
    ways = find_ways_back(
        ActContext(step=step, before=screen(*before), now=screen(*now), catalogue=Catalogue(skills=skills))
    )
    assert len({way.strategy for way in ways}) == len(ways), "one of each kind"
    return {way.strategy: way.draft for way in ways}


def screen(*zones: Zone) -> Observation:
    return seen("Editor", *zones)


def test_a_box_is_clicked_again() -> None:
    ways = back("click", "box", (BOX,), (TICKED,))
    assert ways["toggle"] == Draft(zone="box", skill="click")
    assert next(iter(ways)) == "toggle"


def test_a_switch_is_set_to_its_other_position() -> None:
    assert back("turn", "box", (BOX,), (TICKED,), on=True)["toggle"].arguments == (("on", False),)


def test_an_unchanged_box_is_not_clicked() -> None:
    assert "toggle" not in back("click", "box", (BOX,), (BOX,))


def test_the_text_that_was_there_is_written_again_rather_than_deleted() -> None:
    ways = back("type", "field", (FIELD,), (WRITTEN,), text="final")
    assert ways["restore"] == Draft(zone="field", skill="type", arguments=(("text", "draft"),))
    assert list(ways)[:2] == ["restore", "undo"], "to clear it would be another change"


def test_the_option_that_was_chosen_is_chosen_again() -> None:
    was = Zone(id="field", role="combobox", label="Type", state=(("value", "PDF"),))
    chosen = Zone(id="field", role="combobox", label="Type", state=(("value", "HTML"),))
    assert back("select", "field", (was,), (chosen,), option="HTML")["restore"].arguments == (("option", "PDF"),)


@pytest.mark.parametrize("label", ["Cancel", "Close", "cancel ", "Dismiss", "×"])
def test_a_button_that_appeared_closes_what_opened(label: str) -> None:
    closer = Zone(id="closer", role="button", label=label)
    ways = back("click", "button", (BUTTON,), (BOX, closer))
    assert ways["close"] == Draft(zone="closer", skill="click")


def test_cancel_is_preferred_to_close_and_no() -> None:
    no, close, cancel = (Zone(id=name, role="button", label=name) for name in ("No", "Close", "Cancel"))
    assert back("click", "button", (BUTTON,), (no, close, cancel))["close"].zone == "Cancel"


def test_a_close_button_that_was_there_before_is_not_used() -> None:
    close = Zone(id="x", role="button", label="Close")
    assert "close" not in back("click", "button", (BUTTON, close), (close,))


@pytest.mark.parametrize(
    ("pressed", "opposite"),
    [("Enter", "Escape"), ("Tab", "Shift+Tab"), ("ArrowDown", "ArrowUp"), ("PageUp", "PageDown"), ("F5", "Escape")],
)
def test_a_key_is_answered_with_its_opposite(pressed: str, opposite: str) -> None:
    draft = back("press", GLOBAL, (BUTTON,), (BOX,), key=pressed)["key"]
    assert (draft.zone, draft.arguments) == (GLOBAL, (("key", opposite),))


def test_escape_is_the_last_way_out_of_what_a_click_opened() -> None:
    ways = back("click", "button", (BUTTON,), (BOX,))
    assert list(ways) == ["key"]
    assert ways["key"].arguments == (("key", "Escape"),)


def test_a_skill_may_name_its_own_undo() -> None:
    assert back("navigate", GLOBAL, (BUTTON,), (BOX,), url="https://a.test")["undo"] == Draft(
        zone=GLOBAL, skill="go_back"
    )


def test_an_undo_that_needs_arguments_is_not_used() -> None:
    skills = (Skill(name="move", undo="move_to"), Skill(name="move_to", parameters=(Parameter(name="place"),)))
    assert back("move", "box", (BOX,), (BOX, BUTTON), skills) == {}


def test_an_act_without_a_known_undo_has_none() -> None:
    assert back("look", "box", (BOX,), (BUTTON,), (Skill(name="look"),)) == {}
