"""Secrets of ten kinds, and how programs write them on: nine encodings, by code that shares nothing with what masks them."""

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from urllib.parse import quote, quote_plus

LETTERS, DIGITS = string.ascii_letters, string.digits


def _of(alphabet: str, length: int) -> Callable[[random.Random], str]:
    return lambda chance: "".join(chance.choices(alphabet, k=length))


def _shaped(pattern: str) -> Callable[[random.Random], str]:
    """`a` stands for a letter, `0` for a digit; all else for itself."""

    def made(chance: random.Random) -> str:
        return "".join(
            chance.choice(LETTERS) if one == "a" else chance.choice(DIGITS) if one == "0" else one for one in pattern
        )

    return made


KINDS: dict[str, Callable[[random.Random], str]] = {
    "password": _shaped("aaa0a!aa-0a"),
    "passphrase": _shaped("aaaaa aaaa  aaaaaa aaa"),
    "pin": _shaped("000000"),
    "token": _of(LETTERS + DIGITS, 100),
    "Base64 key": _shaped("aa+aaaa/aaaaaaa0aa=="),
    "hexadecimal key": _of("0123456789abcdef", 32),
    "quoted": _shaped("""aa"a'aa\\aa<aa>&aa"""),
    "in an address": _shaped("aa/aa?a=a&a%aa#aa+aa"),
    "foreign": _shaped("aaéaañaaßaa€aa日本aa\U0001f511aa"),
    "lines": _shaped("aaaaaa\naaaaaaa\naaaaa"),
}


def secrets(number: int, seed: int) -> dict[str, str]:
    """By name. With another seed, others of the same shapes: what covers one of them covers the other as well."""
    kinds = list(KINDS.values())
    return {f"s{n:02d}": kinds[n % len(kinds)](random.Random(f"{seed}.{n}")) for n in range(number)}


def _entities(text: str) -> str:
    return "".join(letter if letter.isalnum() and letter.isascii() else f"&#{ord(letter)};" for letter in text)


ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": lambda text: quote(text, safe="!'()*~"),
    "percent, twice": lambda text: quote(quote(text, safe=""), safe=""),
    "form": quote_plus,
    "Base64": lambda text: base64.b64encode(text.encode()).decode(),
    "Base64, for addresses": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "hexadecimal": lambda text: text.encode().hex(),
    "HTML": _entities,
    "JSON": lambda text: json.dumps(text)[1:-1],
}
"""`percent` as JavaScript's `encodeURIComponent` has it, which is not Python's."""


def needles(secret: str) -> Iterator[tuple[str, bytes]]:
    """What to look for, by encoding: each form as it is, and as it comes out in JSON, in which most things are kept.

    Also with its blanks as a page shows them.
    """
    for name, encode in ENCODINGS.items():
        for text in {secret, " ".join(secret.split())}:
            form = encode(text)
            for written in {form, json.dumps(form)[1:-1], json.dumps(form, ensure_ascii=False)[1:-1]}:
                yield name, written.encode()
