"""Quoting of untrusted text in prompts: in quotes or behind bars, between marks that it cannot contain.

Everything that a world shows, a memory holds or a model once said is quoted here before it enters a prompt. A quoted text
has neither of the marks, and a line of it begins with a quotation mark or a bar, so no text can end the block that contains it.
"""

import json
import re
from collections.abc import Iterable

from midcourse.domain.argument import Scalar
from midcourse.policy.invisible import BLANK, make_readable

LONGEST = 300
"""Characters of one text. A page may put any amount of text into a label."""
SAID_CUT = '" (cut, '
"""What stands behind a text of the screen that is longer. If a page writes this, the prompt explains it, and nothing else happens."""

_PLAIN = re.compile(r"[\w.:/@#-]{1,80}", re.ASCII)
_MARKS = re.compile(r"<<<|>>>")
_LINE_END = re.compile(r"\r\n|\n|\r")
_UNSEEN = re.compile(rf"{BLANK.pattern}|[\x7f-\x9f\u2028\u2029\u202f\ufff9-\ufffb\ud800-\udfff]")
"""Characters that break or reverse the line, or are invisible: a person and a model would read different texts. `is_unseen`
knows the others by their category.
"""


def quote(text: str, longest: int = LONGEST) -> str:
    """The text as a JSON string without line breaks of any kind."""
    cut = text if len(text) <= longest else f"{text[:longest]}… ({len(text) - longest} more)"
    return _spell_out(json.dumps(cut, ensure_ascii=False))


def quote_cut(text: str, longest: int = LONGEST) -> str:
    """The text as a JSON string. Behind one that is cut stands its length, outside the quotes, where a page cannot write."""
    if len(text) <= longest:
        return quote(text, longest)
    return f"{quote(text[:longest] + '…', longest + 1)[:-1]}{SAID_CUT}{len(text)} characters)"


def quote_lines(text: str) -> list[str]:
    """The text as lines, each behind a bar: shorter than a JSON string for long text and JSON, and as safe.

    No line is empty or begins with anything but the bar, none has a mark, and every character that breaks a line is spelled out.
    """
    lines = (map(_spell_out, line.split("\t")) for line in _LINE_END.split(text))
    return ["| " + "\t".join(cells) for cells in lines]  # tabs stay: they separate the cells of a table


def quote_name(text: str) -> str:
    """A name, without quotes if it is unambiguous."""
    return text if _PLAIN.fullmatch(text) else quote(text)


def format_value(value: Scalar, longest: int = LONGEST) -> str:
    return quote(value, longest) if isinstance(value, str) else str(value).lower()


def quote_block(name: str, lines: Iterable[str]) -> str:
    """Lines whose untrusted parts are quoted, between two marks; empty if there are none."""
    body = "\n".join(lines)
    return f"<<<{name}\n{body}\n{name}>>>" if body else ""


def _spell_out(line: str) -> str:
    """The line without marks and with all invisible characters spelled out."""
    return _MARKS.sub(_escape, _UNSEEN.sub(_escape, make_readable(line, _escape_letter)))


def _escape(found: re.Match[str]) -> str:
    return "".join(map(_escape_letter, found[0]))


def _escape_letter(letter: str) -> str:
    return json.dumps(letter)[1:-1] if ord(letter) > 127 else f"\\u{ord(letter):04x}"
