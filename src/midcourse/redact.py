"""Replaces secrets in text by their names, also in the forms in which programs write them.

Known forms: as it is; percent-encoded once or more, with `+` for blanks; Base64 of either alphabet, also within something
longer; hexadecimal; HTML entities; escapes of JSON and JavaScript. Each character may be written differently, since
no two encoders agree on which ones need it. What a page does to a secret beyond that (reversed, a letter in each field,
encrypted) is not found.
"""

import base64
import json
import logging
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from html.entities import codepoint2name

SHORTEST_ENCODED = 4
"""Of a shorter secret only the secret itself is looked for: its encodings are parts of ordinary words."""
TELLING = 6
"""So many characters of a secret that was cut off count as the secret."""
CUT = "…"
"""Where whoever shortens a text says so."""


class Redactor:
    """For these secrets, by name. The longest is looked for first: one secret may be a part of another."""

    def __init__(self, secrets: Iterable[tuple[str, str]], *, drawn: bool = False) -> None:
        """`drawn`: in what is shown on a screen, where line ends, blanks and capitals say nothing."""
        known = sorted(((name, secret) for name, secret in secrets if secret), key=lambda one: -len(one[1]))
        self._names = [name for name, _ in known]
        first = "".join(sorted({letter for _, secret in known for letter in _first_letters(secret)}))
        whole = "|".join(f"({'|'.join(_forms(secret, drawn=drawn))})" for _, secret in known)
        self._pattern = re.compile(rf"(?=[{re.escape(first)}\s])(?:{whole})", re.IGNORECASE if drawn else 0)

    def __call__(self, text: str) -> str:
        return self._pattern.sub(self._name, text) if self._names else text

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Where they begin and end in it."""
        return (found.span() for found in self._pattern.finditer(text)) if self._names else iter(())

    def _name(self, found: re.Match[str]) -> str:
        assert found.lastindex is not None, "every secret is a group"
        return f"<secret {self._names[found.lastindex - 1]}>"


@lru_cache(maxsize=16)
def redactor(secrets: tuple[tuple[str, str], ...]) -> Redactor:
    """The same for the same secrets: to find all forms of many takes a while."""
    return Redactor(secrets)


# --- what is logged


_unlogged: set[tuple[str, str]] = set()


def keep_out_of_logs(secrets: Iterable[tuple[str, str]]) -> None:
    """In this process, of every handler that is discreet."""
    _unlogged.update(secrets)


class Discreet(logging.Filter):
    """For a handler: what it writes has names in place of secrets, whichever library logged it, tracebacks included."""

    def filter(self, record: logging.LogRecord) -> bool:
        if _unlogged:
            mask = redactor(tuple(sorted(_unlogged)))
            record.msg, record.args = mask(record.getMessage()), ()
            if record.exc_info:
                record.exc_text, record.exc_info = logging.Formatter().formatException(record.exc_info), None
            record.exc_text = mask(record.exc_text) if record.exc_text else record.exc_text
            record.stack_info = mask(record.stack_info) if record.stack_info else record.stack_info
        return True


def log_discreetly(*, level: int, format: str) -> None:  # noqa: A002
    """To stderr, from here on."""
    logging.basicConfig(level=level, format=format)
    for handler in logging.getLogger().handlers:
        handler.addFilter(Discreet())


# --- forms


def _forms(secret: str, *, drawn: bool) -> Iterator[str]:
    """As regular expressions, without groups."""
    gap = r"\s*" if drawn else ""
    if len(secret) < SHORTEST_ENCODED:
        yield gap.join(map(re.escape, secret))
        return
    written = [_written(part, drawn=drawn) for part in re.findall(r"\s+|\S", secret.strip() or secret)]
    yield gap.join(written)
    if len(written) > TELLING:
        yield gap.join(written[:TELLING]) + f"[^{CUT}\n]{{0,{_LONGEST * len(written)}}}+(?={CUT})"
    raw = secret.encode(errors="surrogatepass")
    for coded in _base64(raw):
        yield r"\s*".join(_BASE64.get(letter, letter) for letter in coded)
    yield r"\s*".join(_hexadecimal(digit) for digit in raw.hex())


def _first_letters(secret: str) -> str:
    """With which one of its forms may begin. Elsewhere in a text none of them need be tried."""
    raw = secret.encode(errors="surrogatepass")
    coded = "".join(form[0] for form in (*_base64(raw), raw.hex(), raw.hex().upper()))
    return (secret.strip() or secret)[0] + secret[0] + coded + "%&+-/\\_"


_SLASHES = r"\\{1,8}"
"""A text within a text within a text has more of them."""
_LONGEST = len(r"\u0000")
_BASE64 = {"+": "(?:[+-]|%2[bB])", "/": "(?:[/_]|%2[fF])"}
_ESCAPES = {letter: re.escape(json.dumps(letter)[1:-1]) for letter in '\n\t\r\b\f"'} | {
    "\\": _SLASHES,
    "/": f"{_SLASHES}/",
}
_NAMES = {**codepoint2name, ord("'"): "apos"}


def _written(part: str, *, drawn: bool) -> str:
    """One character, or a run of blanks, of which pages often show only one."""
    if not part.isspace():
        return f"(?:{'|'.join(_ways(part))})"
    ways = "|".join(dict.fromkeys((r"\s", r"\+", *(way for blank in (*part, " ", "\xa0") for way in _ways(blank)))))
    return f"(?:{ways}){'*' if drawn else '+'}"


@lru_cache(maxsize=256)
def _ways(letter: str) -> tuple[str, ...]:
    """All in which it can be written, alone."""
    code, units = ord(letter), letter.encode("utf-16-be", errors="surrogatepass").hex()
    percent = "".join(f"%(?:25)*{_hexadecimal(f'{byte:02x}')}" for byte in letter.encode(errors="surrogatepass"))
    escaped = "".join(rf"{_SLASHES}u{_hexadecimal(units[at : at + 4])}" for at in range(0, len(units), 4))
    ways = [percent, f"&#(?:0*{code}|[xX]0*{_hexadecimal(f'{code:x}')});", escaped]
    if code < 256:
        ways.append(rf"{_SLASHES}x{_hexadecimal(f'{code:02x}')}")
    if code in _NAMES:
        ways.append(f"&{_NAMES[code]};")
    if letter in _ESCAPES:
        ways.append(_ESCAPES[letter])
    # a letter with which an encoding begins comes last, or `%25` would be masked as `%` and leave its digits
    ways.insert(len(ways) if letter in "%&\\" else 0, re.escape(letter))
    return tuple(ways)


def _hexadecimal(digits: str) -> str:
    """In capitals or not."""
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)


def _base64(raw: bytes) -> Iterator[str]:
    """Alone, and as it comes out at each of the three places in a group of three bytes: without the letters at either end
    that it shares with its neighbours.
    """
    yield base64.b64encode(raw).decode().rstrip("=")
    for before in range(3):
        whole = (before + len(raw)) // 3 * 4
        inner = base64.b64encode(bytes(before) + raw).decode()[-(-before * 8 // 6) : whole]
        if len(inner) >= 2 * SHORTEST_ENCODED:
            yield inner
