"""The effect policy: the first fitting rule decides, and what no rule names needs approval."""

import pytest

from midcourse.errors import TaskInvalid
from midcourse.worlds.desktop.policy import DescribedAct, read_effects

CLICK = DescribedAct(program="galculator", window="Galculator", role="button", label="C")


def effect(deed: DescribedAct, given: dict[str, object] | None = None) -> str:
    return read_effects(given).find_rule(deed).effect


@pytest.mark.parametrize(
    ("role", "label", "expected"),
    [
        ("button", "OK", "irreversible"),
        ("menuitem", "Quit", "irreversible"),
        ("cell", "report.txt", "irreversible"),
        ("typing", "canvas", "irreversible"),
        ("menu", "File", "free"),
        ("textbox", "Name", "free"),
        ("typing", "textbox", "free"),
        ("button", "Cancel", "free"),
    ],
)
def test_in_an_unknown_program_only_acts_without_lasting_effect_are_free(role: str, label: str, expected: str) -> None:
    assert effect(DescribedAct(program="unknown", window="Any", role=role, label=label)) == expected


@pytest.mark.parametrize(
    ("keys", "expected"),
    [("Tab", "free"), ("Escape", "free"), ("Down Down", "free"), ("Enter", "irreversible"), ("Alt+S", "irreversible")],
)
def test_in_an_unknown_program_only_navigation_keys_are_free(keys: str, expected: str) -> None:
    assert effect(DescribedAct(program="unknown", window="Any", keys=keys)) == expected


@pytest.mark.parametrize(
    ("deed", "expected"),
    [
        (DescribedAct(program="mousepad", window="Question", role="button", label="Replace"), "irreversible"),
        (DescribedAct(program="mousepad", window="Save As", role="button", label="Save"), "reversible"),
        (DescribedAct(program="thunar", window="docs - Thunar", keys="Delete"), "reversible"),
        (DescribedAct(program="thunar", window="docs - Thunar", keys="Shift+Delete"), "irreversible"),
        (DescribedAct(program="thunar", window="Question", role="button", label="Delete"), "irreversible"),
        (DescribedAct(program="thunar", window="docs - Thunar", keys="Down Delete"), "reversible"),
        (DescribedAct(program="thunar", window="docs - Thunar", keys="Delete Shift+Delete"), "irreversible"),
        (DescribedAct(program="thunar", window="docs", role="menuitem", label="Move to Wastebasket"), "reversible"),
        (
            DescribedAct(program="claws-mail", window="Hi - Compose message", role="button", label="Send"),
            "irreversible",
        ),
        (DescribedAct(program="claws-mail", window="Hi - Compose message", keys="Control+Enter"), "irreversible"),
        (DescribedAct(program="claws-mail", window="Hi - Compose message", role="button", label="Attach"), "free"),
    ],
)
def test_acts_in_known_programs_have_their_effects(deed: DescribedAct, expected: str) -> None:
    assert effect(deed) == expected


def test_rules_of_a_task_come_before_those_that_ship() -> None:
    assert effect(CLICK) == "irreversible"
    assert effect(CLICK, {"galculator": {"free": ["button:*"]}}) == "free"
    replace = DescribedAct(program="mousepad", window="Question", role="button", label="Replace")
    assert effect(replace, {"mousepad": {"acts": [{"zone": "button:Replace", "effect": "free"}]}}) == "free"
    save = DescribedAct(program="mousepad", window="Save As", role="button", label="Save")
    assert effect(save, {"mousepad": {"free": []}}) == "reversible", "the rules that ship still hold"


@pytest.mark.parametrize(
    "table", [{"acts": [{"zone": "button:*", "effect": "harmless"}]}, {"fre": []}, {"acts": [{"effect": "free"}]}]
)
def test_malformed_policy_is_refused(table: dict[str, object]) -> None:
    with pytest.raises(TaskInvalid, match=r"^effects: galculator"):
        read_effects({"galculator": table})
