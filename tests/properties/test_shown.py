"""Whatever a form is called and holds, the panel and the JSON show all of it, or one key press does not approve it."""

import io
import json
from collections import Counter
from urllib.parse import quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from midcourse.cli.session.deciding import _question_json
from midcourse.domain.approval import Consequence, Decision, Question
from midcourse.domain.plan import Target
from midcourse.policy.approval.objection import find_objection
from midcourse.terminal.output import UNICODE
from midcourse.terminal.question import KINDS, question_panel
from midcourse.worlds.browser.egress.request import LONGEST, MAX_VALUES, Request

ADDRESS = "https://bank.example/transfer"
NAMES = (
    "to",
    "sends to",
    "sends",
    "address",
    "with",
    "does",
    "on",
    "origin",
    "",
    " ",
    "…",
    "body",
    "(empty)",
    "(not there)",
    "account",
    "total   1.00",
    "1/2 account",
    "a\x1b[2Jb",
    "\u202eevil\u2066",
    "\u200b",
    "e\u0301",
    "\u200fשלום",
    "口座番号",
    "👩\u200d👩",
    "\ufe0f",
    "│",
    "n" * 300,
    "x\n  address POST https://bank.example/newsletter",
)
TEXTS = (
    st.sampled_from(NAMES)
    | st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=30)
    | st.builds(lambda pad: f"\n{' ' * pad}sends to  POST https://bank.example/newsletter", st.integers(0, 80))
    | st.builds(lambda pad: f"1{' ' * pad}│\n│   address POST https://bank.example/", st.integers(0, 80))
)
LONG = st.sampled_from((LONGEST, LONGEST + 1, 2 * LONGEST)).map(lambda size: "x" * (size - 3) + "end")
FORMS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8)
LARGE = st.one_of(
    st.lists(st.tuples(TEXTS, TEXTS | LONG), min_size=1, max_size=3),
    st.integers(MAX_VALUES - 1, MAX_VALUES + 1).map(lambda size: [("decoy", "1")] * (size - 1) + [("account", "M")]),
)


def question(form: list[tuple[str, str]]) -> Question:
    body = "&".join(f"{quote_plus(name)}={quote_plus(value)}" for name, value in form).encode()
    sent = Request(method="POST", url=ADDRESS, fields={"content-type": "application/x-www-form-urlencoded"}, body=body)
    consequence = Consequence(
        skill="click",
        arguments=(("to", "Ada"), ("address", "POST https://bank.example/newsletter")),
        effect="irreversible",
        target=Target(surface="Newsletter", role="button", label="Subscribe"),
        origin="https://bank.example",
        commit=sent.commit,
    )
    return Question(
        run="r", id=1, about="approve", goal="", consequences=(consequence,), says=("Subscribe",), expires_at=0.0
    )


def lines(asked: Question, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width).print(question_panel(asked, 60, width, UNICODE))
    return out.getvalue().splitlines()


def rows(asked: Question, width: int) -> list[tuple[str, str]]:
    """The column that is ours, and what stands behind it, line by line; of a panel so wide that nothing is folded."""
    kinds = len("sends ") + 2 * len(str(MAX_VALUES)) + 1
    found: list[tuple[str, str]] = []
    for line in lines(asked, width):
        words = line[4 : 4 + kinds].split()
        if line.startswith("│") and words and words[0] in KINDS.values():
            found.append((words[0], line[4:]))
    return found


def holds(form: list[tuple[str, str]]) -> None:
    asked = question(form)
    commit = asked.consequences[0].commit
    shows = json.loads(json.dumps(_question_json(asked)))["would"][0]["shows"]
    assert [row["value"] for row in shows if row["kind"] == "address"] == [f"POST {ADDRESS}"]
    in_json = [(row["name"], row["value"]) for row in shows if row["kind"] == "value"]
    assert in_json == list(commit.values)
    if commit.abridged:
        yes = Decision(verdict="approved")
        assert find_objection(asked, yes)
        assert find_objection(asked, yes, read="glance")
    else:
        assert in_json == [(name.replace("\r\n", "\n"), value) for name, value in form]

    longest = [max(len(UNICODE.clean(str(pair[side]))) for pair in commit.values) for side in (0, 1)]
    wide = rows(asked, 200 + 6 * longest[0] + 3 * longest[1])
    assert [kind for kind, _ in wide].count("address") == 1
    assert next(text for kind, text in wide if kind == "address").split()[1:3] == ["POST", ADDRESS]
    shown = [text for kind, text in wide if kind == "sends"]
    assert len(shown) == len(commit.values)
    for text, (name, value) in zip(shown, commit.values, strict=True):
        for part in (name, str(value).replace("\n", "↵ ")):
            assert UNICODE.clean(part).rstrip() in text

    narrow = Counter("".join(lines(asked, 60)))
    narrow.subtract(Counter("".join(UNICODE.clean(name + str(value)) for name, value in commit.values)))
    assert all(count >= 0 for letter, count in narrow.items() if not letter.isspace())


@given(FORMS)
def test_every_value_and_the_address_are_shown(form: list[tuple[str, str]]) -> None:
    holds(form)


@pytest.mark.slow
@settings(max_examples=max(10, settings().max_examples // 20))
@given(LARGE)
def test_what_is_too_large_to_be_shown_is_not_approved_with_one_key(form: list[tuple[str, str]]) -> None:
    holds(form)
