"""A secret is found in every form that programs write it in."""

import base64
import html
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.redact import SHORTEST_ENCODED, Redactor

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
@given(secret=SECRETS)
def test_no_form_of_a_secret_is_left(encoding: str, secret: str) -> None:
    written = ENCODINGS[encoding](secret)
    masked = Redactor([("pin", secret)])(f"a={written}&b=1")
    assert "<secret pin>" in masked
    assert written not in masked.replace("<secret pin>", "\0")


@given(before=st.binary(max_size=5), secret=st.text("abcdefgh12345", min_size=9), after=st.binary(max_size=5))
def test_it_is_found_within_something_longer_in_base64(before: bytes, secret: str, after: bytes) -> None:
    """As in 'Basic dXNlcjpwYXNzd29yZA=='."""
    assert "<secret pin>" in Redactor([("pin", secret)])(base64.b64encode(before + secret.encode() + after).decode())


def test_of_two_secrets_the_longer_is_named() -> None:
    assert Redactor([("short", "hunter"), ("long", "hunter2")])("hunter2, hunter") == "<secret long>, <secret short>"


def test_a_short_one_is_found_only_as_it_is() -> None:
    assert Redactor([("pin", "ab")])("ab YWI= 6162") == "<secret pin> YWI= 6162"


def test_without_secrets_a_text_stays_as_it_is() -> None:
    assert Redactor([])("anything") == "anything"
    assert Redactor([("empty", "")])("anything") == "anything"
