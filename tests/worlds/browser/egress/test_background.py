"""What may leave without a question of its own: when nothing was told to a page, and which values of a kind may differ."""

import base64
import json
import time
from collections.abc import Callable

import pytest

from midcourse.domain.argument import Scalar
from midcourse.domain.plan import Target
from midcourse.ports.world import Call
from midcourse.worlds.browser.egress import background as module
from midcourse.worlds.browser.egress.background import Background
from midcourse.worlds.browser.egress.request import Request

HERE = "https://shop.example"


def posted(path: str, values: object, **fields: str) -> Request:
    own = {
        "origin": HERE,
        "sec-fetch-site": "same-origin",
        "sec-fetch-mode": "cors",
        "content-type": "application/json",
    }
    head = own | {name.replace("_", "-"): field for name, field in fields.items()}
    return Request(method="POST", url=f"{HERE}{path}", fields=head, body=json.dumps(values).encode())


def call(skill: str, **arguments: Scalar) -> Call:
    return Call(
        command=1,
        skill=skill,
        zone="z",
        target=Target(surface="", role="", label=""),
        arguments=tuple(arguments.items()),
    )


TOLD = [
    call("type", text="ada"),
    call("append", text="ada"),
    call("select", option="ada"),
    call("accept", text="ada"),
    call("press", keys="a"),
    call("press_keys", keys="Control+V"),
    call("press", keys="ArrowUp"),
    call("upload", path="/tmp/ada.pdf"),
    call("check"),
    call("uncheck"),
    call("drag", right=17.0),
    call("click"),
    call("hover"),
    call("dismiss"),
    call("navigate", url=f"{HERE}/find/ada"),
    call("submit"),
]


@pytest.mark.parametrize("told", TOLD, ids=lambda told: f"{told.skill} {dict(told.arguments)}")
def test_renewal_with_an_unknown_token_leaves_only_before_the_first_act(told: Call) -> None:
    background = Background()
    renewal = posted("/auth/refresh", {"refresh_token": "9f86d081884c7d659a2f"})
    background.note_call(call("go_back"), HERE)
    assert background.renews_session(renewal)
    background.note_call(told, HERE)
    assert not background.renews_session(renewal)


@pytest.mark.parametrize(
    "renewal",
    [
        posted("/auth/refresh", {"refresh_token": "Dear Mr Lovelace"}),
        posted("/auth/refresh", {"refresh_token": "é" * 20}),
        posted("/auth/refresh", {"refresh_token": "a" * 5000}),
        posted("/auth/refresh", {}, x_note="Dear Mr Lovelace"),
    ],
    ids=["words", "other letters", "too long", "words in a header"],
)
def test_renewal_never_carries_a_text(renewal: Request) -> None:
    assert not Background().renews_session(renewal)


@pytest.mark.parametrize(
    ("told", "passes"),
    [
        (call("press", keys="Enter"), True),
        (call("press_keys", keys="Shift+Tab"), True),
        (call("click"), True),
        (call("press", keys="7"), False),
        (call("drag", right=17.0), False),
        (call("upload", path="a.txt"), False),
        (call("append", text="17"), False),
        (call("navigate", url=f"{HERE}/?q=lovelace"), False),
    ],
    ids=lambda told: f"{told.skill} {dict(told.arguments)}" if isinstance(told, Call) else "",
)
def test_only_what_holds_no_text_leaves_a_sign_in_its_tokens(told: Call, *, passes: bool) -> None:
    background = Background()
    background.note_call(call("type", text="ada"), HERE)
    background.note_call(told, HERE)
    assert background.has_entered_only({"ada"}) == passes


def test_words_of_an_address_that_was_entered_are_searched_for() -> None:
    background = Background()
    background.note_call(call("navigate", url=f"{HERE}/?q=lovelace"), HERE)
    assert background.carries_entered(posted("/ping", {"at": "lovelace"}))
    assert background.find_typed(HERE) == frozenset(), "an answer for what is typed does not cover it"


# --- which values may differ within a kind


def kinds_of(*values: dict[str, Scalar]) -> list[str]:
    """The kinds of these requests, held one after the other, after 'ada' was typed."""
    background = Background()
    background.note_call(call("type", text="ada"), HERE)
    requests = [posted("/suggest", {"q": "ada", **each}) for each in values]
    return [background.describe_kind(each, HERE, background.note_numbers(each)) for each in requests]


@pytest.mark.parametrize(
    "values",
    [
        [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 1}],
        [{"n": 0}, {"n": 0}],
        [{"n": 7}, {"n": 7}],
        [{"n": 1, "page": 1}, {"n": 2, "page": 1}],
    ],
    ids=["counts", "stays", "always this", "counts and stays"],
)
def test_counter_is_of_one_kind(values: list[dict[str, Scalar]]) -> None:
    kinds = kinds_of(*values)
    assert kinds[0]
    assert len(set(kinds)) == 1


@pytest.mark.parametrize(
    "values",
    [
        [{"n": 1}, {"n": 3}],
        [{"n": 1}, {"n": 4711}],
        [{"n": 4711}, {"n": 815}],
        [{"n": 17}, {"n": 18}],
        [{"n": 1}, {"n": 2}, {"n": 1}, {"n": 0}],
        [{"n": 1}, {"n": "02"}],
        [{"n": 1}, {"n": True}],
        [{"a": 0, "b": 0, "c": 0}, {"a": 1, "b": 0, "c": 1}],
    ],
    ids=["leaps", "is any number", "a pin", "begins anywhere", "goes back", "has a zero", "is no number", "several"],
)
def test_other_numbers_are_another_kind(values: list[dict[str, Scalar]]) -> None:
    kinds = kinds_of(*values)
    assert kinds[-1] != kinds[0]


NOW = 1_700_000_000.123


@pytest.mark.parametrize(
    ("text", "is_time"),
    [
        ("1700000000123", True),
        ("1699999999", True),
        ("2023-11-14T22:13:20.123Z", True),
        ("2023-11-14T23:13:19+01:00", True),
        ("1699999980000", False),
        ("1700000003000", False),
        ("1700000000.4711", False),
        ("1700000000123456", False),
        ("2023-11-14T22:13:20.123456Z", False),
        ("2023-11-14 22:13:20", False),
        ("2023-11-14", False),
        ("2023-13-14T22:13:20Z", False),
        ("47110815", False),
    ],
)
def test_only_the_present_time_passes_as_a_moment(text: str, monkeypatch: pytest.MonkeyPatch, *, is_time: bool) -> None:
    monkeypatch.setattr(module.time, "time", lambda: NOW)
    kind = kinds_of({"at": text})[0]
    assert ("at = the time" in kind) == is_time
    assert (text in kind) != is_time


def test_a_moment_is_judged_when_its_request_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    background = Background()
    background.note_call(call("type", text="ada"), HERE)
    request = posted("/suggest", {"q": "ada", "at": int(1000 * time.time())})
    numbers = background.note_numbers(request)
    monkeypatch.setattr(module.time, "time", lambda: NOW)
    assert "the time" in background.describe_kind(request, HERE, numbers)


@pytest.mark.parametrize(
    "form", [str, lambda text: base64.b64encode(text.encode()).decode(), lambda text: text.encode().hex()]
)
def test_a_page_of_text_is_found_in_every_form_and_costs_little(form: Callable[[str], str]) -> None:
    text = " ".join(f"Word {number}" for number in range(5_000))
    background, began = Background(), time.process_time()
    background.note_call(call("type", text=text), HERE)
    assert background.carries_entered(posted("/draft", {"n": 1, "text": form(text)}))
    assert not background.carries_entered(posted("/draft", {"n": 1, "text": "another"}))
    assert time.process_time() - began < 2.0
