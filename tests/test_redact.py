"""A secret is found in every form that programs write it in."""

import base64
import html
import json
import logging
import time
from collections.abc import Callable
from io import StringIO
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midcourse.redact import SHORTEST_ENCODED, TELLING, Discreet, Redactor, keep_out_of_logs

ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "url": lambda text: quote(text, safe=""),
    "form": quote_plus,
    "url twice": lambda text: quote(quote(text, safe=""), safe=""),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64url": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "hex": lambda text: text.encode().hex(),
    "html": lambda text: html.escape(text),
    "json": lambda text: json.dumps(text)[1:-1],
}
SECRETS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=SHORTEST_ENCODED, max_size=40)


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=30)
@given(secret=SECRETS)
def test_no_form_of_a_secret_is_left(encoding: str, secret: str) -> None:
    written = ENCODINGS[encoding](secret)
    masked = Redactor([("pin", secret)])(f"a={written}&b=1")
    assert "<secret pin>" in masked
    assert written not in masked.replace("<secret pin>", "\0")


WAYS: list[Callable[[str], str]] = [
    str,
    lambda letter: "".join(f"%{byte:02x}" for byte in letter.encode()),
    lambda letter: "".join(f"%25{byte:02X}" for byte in letter.encode()),
    lambda letter: f"&#{ord(letter)};",
    lambda letter: f"&#x{ord(letter):x};",
    lambda letter: json.dumps(letter)[1:-1],
]


def test_an_encoded_letter_is_masked_as_a_whole_where_its_encoding_begins_with_itself() -> None:
    for secret, written in (("000%", "000%25"), ("000&", "000&amp;"), ("000\\", "000\\\\")):
        assert Redactor([("pin", secret)])(f"a={written} b=1") == "a=<secret pin> b=1"


@settings(max_examples=60)
@given(data=st.data(), secret=SECRETS)
def test_each_letter_may_be_written_in_a_way_of_its_own(data: st.DataObject, secret: str) -> None:
    """Encoders do not agree on what has to be encoded: JavaScript leaves `!'()*` as they are, Python does not."""
    written = "".join(data.draw(st.sampled_from(WAYS))(letter) for letter in secret.strip())
    if len(secret.strip()) >= SHORTEST_ENCODED:
        assert Redactor([("pin", secret)])(f"a={written}&b=1") == "a=<secret pin>&b=1"


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("it's  (a) se/cret!", id="as it is"),
        pytest.param("it's (a) se/cret!", id="as a page shows it"),
        pytest.param("it's%20%20(a)%20se%2Fcret!", id="encodeURIComponent"),
        pytest.param("it's++(a)+se/cret%21", id="a form"),
        pytest.param("it&apos;s&nbsp; (a) se/cret!", id="HTML by hand"),
        pytest.param(r"it\x27s  (a) se\/cret!", id="a string in a script"),
        pytest.param(r"it\\u0027s  (a) se\\/cret!", id="JSON in JSON"),
        pytest.param("aXQncyAgKGEp\nIHNlL2NyZXQh", id="Base64 in lines"),
    ],
)
def test_secrets_are_found_as_different_programs_write_them(written: str) -> None:
    assert Redactor([("pin", "it's  (a) se/cret!")])(f"say {written}, please") == "say <secret pin>, please"


@pytest.mark.parametrize("kept", range(TELLING, len("correct-horse")))
def test_a_truncated_secret_is_masked(kept: int) -> None:
    text = f"the password is {'correct-horse'[:kept]}… (1200 characters)"
    assert Redactor([("pin", "correct-horse")])(text) == "the password is <secret pin>… (1200 characters)"


@pytest.mark.parametrize("part", ["\\", "%25", "&#0", " ", "+", "a", "YW "])
def test_no_text_takes_more_than_two_seconds(part: str) -> None:
    masks, text = Redactor([("pin", "a b/c\\d")]), part * 50_000
    begun = time.process_time()
    assert masks(text) == text
    assert time.process_time() - begun < 2.0


def test_text_that_only_begins_like_a_secret_stays() -> None:
    assert Redactor([("pin", "correct-horse")])("correct-house") == "correct-house"


def test_on_a_screen_blanks_and_capitals_are_ignored() -> None:
    drawn, text = Redactor([("pin", "hunter 2!")], on_screen=True), "you said HUN\nTER2! twice: hunter  2!"
    assert [text[begin:end] for begin, end in drawn.places(text)] == ["HUN\nTER2!", "hunter  2!"]
    assert list(Redactor([]).places("anything")) == []


@pytest.mark.slow
@given(before=st.binary(max_size=5), secret=st.text("abcdefgh12345", min_size=9), after=st.binary(max_size=5))
def test_it_is_found_within_something_longer_in_base64(before: bytes, secret: str, after: bytes) -> None:
    """As in 'Basic dXNlcjpwYXNzd29yZA=='."""
    assert "<secret pin>" in Redactor([("pin", secret)])(base64.b64encode(before + secret.encode() + after).decode())


def test_of_two_secrets_the_longer_is_named() -> None:
    assert Redactor([("short", "hunter"), ("long", "hunter2")])("hunter2, hunter") == "<secret long>, <secret short>"


def test_a_short_secret_is_masked_only_in_plain_form() -> None:
    assert Redactor([("pin", "ab")])("ab YWI= 6162") == "<secret pin> YWI= 6162"


def test_without_secrets_a_text_stays_as_it_is() -> None:
    assert Redactor([])("anything") == "anything"
    assert Redactor([("empty", "")])("anything") == "anything"


def test_a_discreet_handler_writes_no_secret_whoever_logs_it() -> None:
    keep_out_of_logs([("pin", "correct-horse")])
    written, log = StringIO(), logging.getLogger("any.library")
    handler = logging.StreamHandler(written)
    handler.addFilter(Discreet())
    log.addHandler(handler)
    try:
        raise ValueError("correct-horse is wrong")
    except ValueError:
        log.exception("with %s", "correct-horse", stack_info=True)
    finally:
        log.removeHandler(handler)
    assert "with <secret pin>" in written.getvalue()
    assert "ValueError: <secret pin> is wrong" in written.getvalue()
    assert "correct-horse" not in written.getvalue()
