"""Secrets of ten kinds, and how programs write them on: nine encodings, by code that shares nothing with what masks them."""

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from urllib.parse import quote, quote_plus

LETTERS, DIGITS = string.ascii_letters, string.digits


def _make_random(alphabet: str, length: int) -> Callable[[random.Random], str]:
    return lambda chance: "".join(chance.choices(alphabet, k=length))


def _make_shaped(pattern: str) -> Callable[[random.Random], str]:
    """Return a function that makes a secret: `a` becomes a letter, `0` a digit, and other characters stay."""

    def make(chance: random.Random) -> str:
        return "".join(
            chance.choice(LETTERS) if character == "a" else chance.choice(DIGITS) if character == "0" else character
            for character in pattern
        )

    return make


KINDS: dict[str, Callable[[random.Random], str]] = {
    "password": _make_shaped("aaa0a!aa-0a"),
    "passphrase": _make_shaped("aaaaa aaaa  aaaaaa aaa"),
    "pin": _make_shaped("000000"),
    "token": _make_random(LETTERS + DIGITS, 100),
    "Base64 key": _make_shaped("aa+aaaa/aaaaaaa0aa=="),
    "hexadecimal key": _make_random("0123456789abcdef", 32),
    "quoted": _make_shaped("""aa"a'aa\\aa<aa>&aa"""),
    "in an address": _make_shaped("aa/aa?a=a&a%aa#aa+aa"),
    "foreign": _make_shaped("aaéaañaaßaa€aa日本aa\U0001f511aa"),
    "lines": _make_shaped("aaaaaa\naaaaaaa\naaaaa"),
}


def make_secrets(number: int, seed: int) -> dict[str, str]:
    """Return secrets by name. Another seed gives other secrets of the same shapes, so that masks cover both alike."""
    kinds = list(KINDS.values())
    return {f"s{n:02d}": kinds[n % len(kinds)](random.Random(f"{seed}.{n}")) for n in range(number)}


def _encode_entities(text: str) -> str:
    return "".join(letter if letter.isalnum() and letter.isascii() else f"&#{ord(letter)};" for letter in text)


ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": lambda text: quote(text, safe="!'()*~"),
    "percent, twice": lambda text: quote(quote(text, safe=""), safe=""),
    "form": quote_plus,
    "Base64": lambda text: base64.b64encode(text.encode()).decode(),
    "Base64, for addresses": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "hexadecimal": lambda text: text.encode().hex(),
    "HTML": _encode_entities,
    "JSON": lambda text: json.dumps(text)[1:-1],
}
"""`percent` is that of JavaScript's `encodeURIComponent`, which differs from Python's."""


def list_needles(secret: str) -> Iterator[tuple[str, bytes]]:
    """Yield encoding and bytes to search for: each encoded form as it is and as JSON, the format of most stored data.

    Also with white space collapsed, as a page shows it.
    """
    for name, encode in ENCODINGS.items():
        for text in {secret, " ".join(secret.split())}:
            form = encode(text)
            for needle in {form, json.dumps(form)[1:-1], json.dumps(form, ensure_ascii=False)[1:-1]}:
                yield name, needle.encode()
