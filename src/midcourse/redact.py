"""Replaces secrets in text by their names, also in the forms in which programs write them.

These forms are found: the secret as it is; percent-encoded once or more, with `+` for blanks; Base64 of either alphabet,
also as part of something longer; hexadecimal; HTML entities; escapes of JSON and JavaScript. Each character may be written
in another form, since encoders disagree about which ones need it. Other changes that a page makes to a secret (reversing it,
encrypting it, putting each letter in a separate field) are not found.
"""

import base64
import json
import logging
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from html.entities import codepoint2name

SHORTEST_ENCODED = 4
"""A secret with fewer characters is looked for only as it is, since its encodings are parts of ordinary words."""
TELLING = 6
"""The number of characters by which a secret that was cut off is recognised."""
CUT = "…"
"""The character that marks where a text was shortened."""


class Redactor:
    """Replaces secrets in text by their names. The longest is looked for first, since one secret may be a part of another."""

    def __init__(self, secrets: Iterable[tuple[str, str]], *, on_screen: bool = False) -> None:
        """`on_screen` is for text that is shown on a screen: there, line ends, blanks and capitals do not matter."""
        known = sorted(((name, secret) for name, secret in secrets if secret), key=lambda one: -len(one[1]))
        self._names = [name for name, _ in known]
        first = "".join(sorted({letter for _, secret in known for letter in _find_first_letters(secret)}))
        whole = "|".join(f"({'|'.join(_build_patterns(secret, on_screen=on_screen))})" for _, secret in known)
        self._pattern = re.compile(rf"(?=[{re.escape(first)}\s])(?:{whole})", re.IGNORECASE if on_screen else 0)

    def __call__(self, text: str) -> str:
        return self._pattern.sub(self._name, text) if self._names else text

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Return where each secret begins and ends in the text."""
        return (found.span() for found in self._pattern.finditer(text)) if self._names else iter(())

    def _name(self, found: re.Match[str]) -> str:
        assert found.lastindex is not None, "every secret is a group"
        return f"<secret {self._names[found.lastindex - 1]}>"


@lru_cache(maxsize=16)
def redactor(secrets: tuple[tuple[str, str], ...]) -> Redactor:
    """Return a redactor for these secrets. It is cached, because computing all forms of many secrets takes a while."""
    return Redactor(secrets)


# --- what is logged


_unlogged: set[tuple[str, str]] = set()


def keep_out_of_logs(secrets: Iterable[tuple[str, str]]) -> None:
    """Replace these secrets in all that handlers with the filter `Discreet` write in this process from now on."""
    _unlogged.update(secrets)


class Discreet(logging.Filter):
    """A filter for log handlers that replaces secrets by their names, in tracebacks too, whichever library logged them."""

    def filter(self, record: logging.LogRecord) -> bool:
        if _unlogged:
            mask = redactor(tuple(sorted(_unlogged)))
            record.msg, record.args = mask(record.getMessage()), ()
            if record.exc_info:
                record.exc_text, record.exc_info = logging.Formatter().formatException(record.exc_info), None
            record.exc_text = mask(record.exc_text) if record.exc_text else record.exc_text
            record.stack_info = mask(record.stack_info) if record.stack_info else record.stack_info
        return True


def log_with_redaction(*, level: int, format: str) -> None:  # noqa: A002
    """Log to stderr from now on, with secrets replaced by their names."""
    logging.basicConfig(level=level, format=format)
    for handler in logging.getLogger().handlers:
        handler.addFilter(Discreet())


# --- forms


def _build_patterns(secret: str, *, on_screen: bool) -> Iterator[str]:
    """Yield a regular expression without capturing groups for each form of a secret."""
    gap = r"\s*" if on_screen else ""
    if len(secret) < SHORTEST_ENCODED:
        yield gap.join(map(re.escape, secret))
        return
    parts = [_build_part_pattern(part, on_screen=on_screen) for part in re.findall(r"\s+|\S", secret.strip() or secret)]
    yield gap.join(parts)
    if len(parts) > TELLING:
        yield gap.join(parts[:TELLING]) + f"[^{CUT}\n]{{0,{_LONGEST * len(parts)}}}+(?={CUT})"
    raw = secret.encode(errors="surrogatepass")
    for coded in _encode_base64(raw):
        yield r"\s*".join(_BASE64.get(letter, letter) for letter in coded)
    yield r"\s*".join(_build_hex_pattern(digit) for digit in raw.hex())


def _find_first_letters(secret: str) -> str:
    """Return the characters with which a form of the secret may begin. At other characters of a text no form is tried."""
    raw = secret.encode(errors="surrogatepass")
    coded = "".join(form[0] for form in (*_encode_base64(raw), raw.hex(), raw.hex().upper()))
    return (secret.strip() or secret)[0] + secret[0] + coded + "%&+-/\\_"


_SLASHES = r"\\{1,8}"
"""Backslashes of an escape. A text that is quoted within a quoted text has several of them."""
_LONGEST = len(r"\u0000")
_BASE64 = {"+": "(?:[+-]|%2[bB])", "/": "(?:[/_]|%2[fF])"}
_ESCAPES = {letter: re.escape(json.dumps(letter)[1:-1]) for letter in '\n\t\r\b\f"'} | {
    "\\": _SLASHES,
    "/": f"{_SLASHES}/",
}
_NAMES = {**codepoint2name, ord("'"): "apos"}


def _build_part_pattern(part: str, *, on_screen: bool) -> str:
    """Return a pattern for one character, or for a run of blanks, of which pages often show only one."""
    if not part.isspace():
        return f"(?:{'|'.join(_build_character_patterns(part))})"
    patterns = "|".join(
        dict.fromkeys(
            (r"\s", r"\+", *(pattern for blank in (*part, " ", "\xa0") for pattern in _build_character_patterns(blank)))
        )
    )
    return f"(?:{patterns}){'*' if on_screen else '+'}"


@lru_cache(maxsize=256)
def _build_character_patterns(letter: str) -> tuple[str, ...]:
    """Return a pattern for each way in which a single character can be written."""
    code, units = ord(letter), letter.encode("utf-16-be", errors="surrogatepass").hex()
    percent = "".join(f"%(?:25)*{_build_hex_pattern(f'{byte:02x}')}" for byte in letter.encode(errors="surrogatepass"))
    escaped = "".join(rf"{_SLASHES}u{_build_hex_pattern(units[at : at + 4])}" for at in range(0, len(units), 4))
    patterns = [percent, f"&#(?:0*{code}|[xX]0*{_build_hex_pattern(f'{code:x}')});", escaped]
    if code < 256:
        patterns.append(rf"{_SLASHES}x{_build_hex_pattern(f'{code:02x}')}")
    if code in _NAMES:
        patterns.append(f"&{_NAMES[code]};")
    if letter in _ESCAPES:
        patterns.append(_ESCAPES[letter])
    # A character that begins an encoding comes last. Otherwise `%25` would be masked as `%`, and its digits would be left.
    patterns.insert(len(patterns) if letter in "%&\\" else 0, re.escape(letter))
    return tuple(patterns)


def _build_hex_pattern(digits: str) -> str:
    """Return a pattern for these hexadecimal digits in capital or small letters."""
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)


def _encode_base64(raw: bytes) -> Iterator[str]:
    """Yield the Base64 forms of these bytes: alone, and as a part of something longer.

    Base64 encodes groups of three bytes, so the bytes look different at each of the three places in a group where they may
    begin. Letters at either end that also encode neighbouring bytes are left out.
    """
    yield base64.b64encode(raw).decode().rstrip("=")
    for before in range(3):
        whole = (before + len(raw)) // 3 * 4
        inner = base64.b64encode(bytes(before) + raw).decode()[-(-before * 8 // 6) : whole]
        if len(inner) >= 2 * SHORTEST_ENCODED:
            yield inner
