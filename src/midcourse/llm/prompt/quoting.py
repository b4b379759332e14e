"""Quoting of untrusted text in prompts: on one line, in quotes, between marks that it cannot contain.

Everything that a world shows, a memory holds or a model once said is quoted here before it enters a prompt. A quoted text
has no line break of any kind and neither of the marks, so no text can end the block that contains it.
"""

import json
import re
from collections.abc import Iterable

from midcourse.domain.argument import Scalar
from midcourse.policy.invisible import BLANK, make_readable

LONGEST = 300
"""Characters of one text. A page may put any amount of text into a label."""

_PLAIN = re.compile(r"[\w.:/@#-]{1,80}", re.ASCII)
_MARKS = re.compile(r"<<<|>>>")
_UNSEEN = re.compile(rf"{BLANK.pattern}|[\x7f-\x9f\u2028\u2029\u202f\ufff9-\ufffb\ud800-\udfff]")
"""Characters that break or reverse the line, or are invisible: a person and a model would read different texts. `is_unseen`
knows the others by their category.
"""


def quote(text: str, longest: int = LONGEST) -> str:
    """The text as a JSON string without line breaks of any kind."""
    cut = text if len(text) <= longest else f"{text[:longest]}… ({len(text) - longest} more)"
    line = make_readable(json.dumps(cut, ensure_ascii=False), _escape_letter)
    return _MARKS.sub(_escape, _UNSEEN.sub(_escape, line))


def quote_name(text: str) -> str:
    """A name, without quotes if it is unambiguous."""
    return text if _PLAIN.fullmatch(text) else quote(text)


def format_value(value: Scalar) -> str:
    return quote(value) if isinstance(value, str) else str(value).lower()


def quote_block(name: str, lines: Iterable[str]) -> str:
    """Lines whose untrusted parts are quoted, between two marks; empty if there are none."""
    body = "\n".join(lines)
    return f"<<<{name}\n{body}\n{name}>>>" if body else ""


def _escape(found: re.Match[str]) -> str:
    return "".join(map(_escape_letter, found[0]))


def _escape_letter(letter: str) -> str:
    return json.dumps(letter)[1:-1] if ord(letter) > 127 else f"\\u{ord(letter):04x}"
