"""The approval policy as a file: read as it is meant, or refused with the key that will not do."""

from pathlib import Path

import pytest

from midcourse.config.approval_policy import parse_agreement, read_agreement
from midcourse.domain.agreement import Agreement, Rule
from midcourse.errors import TaskInvalid

WHOLE = """
four_eyes = true
trust_after = 5

[[rules]]
ask = "always"
label = "*delete*"

[[rules]]
ask = "never"
skill = "send_reminder"
origin = "https://mail.example"
address = "POST https://mail.example/*"
effect = ["irreversible", "reversible"]
"""


def test_every_key_of_the_policy_file_is_read() -> None:
    assert parse_agreement(WHOLE) == Agreement(
        four_eyes=True,
        trust_after=5,
        rules=(
            Rule(ask=True, label="*delete*"),
            Rule(
                ask=False,
                skill="send_reminder",
                origin="https://mail.example",
                address="POST https://mail.example/*",
                effects=("irreversible", "reversible"),
            ),
        ),
    )


def test_an_empty_policy_file_is_the_default() -> None:
    assert parse_agreement("") == Agreement()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("four_eys = true", "did you mean 'four_eyes'"),
        ("four_eyes = 1", "four_eyes: has to be true or false"),
        ("trust_after = 0", "trust_after: has to be a whole number"),
        ("trust_after = true", "trust_after: has to be a whole number"),
        ("[[rules]]\nskill = 'x'", "rules#1.ask: is missing"),
        ("[[rules]]\nask = 'sometimes'\nskill = 'x'", "rules#1.ask"),
        ("[[rules]]\nask = 'always'", "rules#1: is about everything"),
        ("[[rules]]\nask = 'always'\nskill = ''", "rules#1.skill: is empty"),
        ("[[rules]]\nask = 'always'\neffect = 'harmless'", "rules#1.effect"),
        ("[[rules]]\nask = 'never'\nlabel = 'Save draft'", "a page chooses its labels"),
        ("[[rules]]\nask = 'never'\neffect = 'irreversible'", "a page chooses its labels"),
        ("rules = 3", "rules: has to be a list of tables"),
        ("ask = ", "is not TOML"),
    ],
)
def test_an_invalid_value_is_refused_with_its_key(text: str, problem: str) -> None:
    with pytest.raises(TaskInvalid) as refused:
        parse_agreement(text, "approvals.toml")
    assert str(refused.value).startswith("approvals.toml: ")
    assert problem in str(refused.value)


def test_a_missing_policy_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TaskInvalid, match="cannot be read: embedded null"):
        read_agreement(Path("rules\0.toml"))
    with pytest.raises(TaskInvalid, match="cannot be read"):
        read_agreement(tmp_path / "nowhere.toml")
