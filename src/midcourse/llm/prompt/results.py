"""Results of steps as text for a model: whole as long as there is room, the latest first, and how to read what is left.

A short value is one line, in quotes. A long text, a table or JSON is a block of lines behind bars (`quote_lines`), which costs no
backslashes. What does not fit is cut where a line or a word ends, and a line outside the bars says how much more there is and what shows
it: a page cannot write such a line.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from midcourse.domain.outcome import Reading
from midcourse.domain.skill import READ_MORE
from midcourse.llm.prompt.quoting import LONGEST, format_value, quote, quote_block, quote_lines, quote_name
from midcourse.llm.prompt.template import estimate_tokens

ROOM = 12_000
"""Tokens for all results, at most a quarter of the prompt. It is an estimate from above: 20,000 characters of English."""
LEAST = 1_000
"""Tokens that a result is cut to after newer ones took the room."""
MOST_CUT = 4
"""Results that are shown cut. Of older ones that do not fit, only the length is shown."""
_FIRST_LINE = 200
"""Characters up to which a text's first line is shown again with a later part: in a table it names the columns."""


@dataclass(frozen=True, kw_only=True)
class ResultsText:
    text: str = ""
    cut: bool = False
    """Whether there is more than is shown."""


def render_results(readings: Sequence[Reading], room: int) -> ResultsText:
    """Render the results in the order in which they were read, within about a quarter of `room` tokens."""
    left = min(ROOM, room // 4)
    least, shortened, cut = min(LEAST, left // 4), 0, False
    parts: list[list[str]] = []
    for place, reading in reversed([*enumerate(readings)]):
        newer = readings[place + 1 :]
        if (same := _find_same(reading, newer)) is not None:
            parts += [[f"$result.{quote_name(reading.name)} = the same as $result.{quote_name(same)}"]] if same else []
            continue
        lines, whole = _render(reading, left)
        if not whole:
            lines, _ = _render(reading, max(left, least) if shortened < MOST_CUT else 0)
            shortened, cut = shortened + 1, True
        parts.append(lines)
        left = max(left - estimate_tokens("\n".join(lines)), 0)
    return ResultsText(text=quote_block("RESULTS", (line for lines in reversed(parts) for line in lines)), cut=cut)


def _find_same(reading: Reading, newer: Sequence[Reading]) -> str | None:
    """The name of a newer reading that shows this one, empty if it has the same name; None if there is none."""
    for other in newer:
        if other.value == reading.value and len(str(reading.value)) > LONGEST and other.start == reading.start:
            return other.name if other.name != reading.name else ""
    return "" if any((other.name, other.start) == (reading.name, reading.start) for other in newer) else None


def _render(reading: Reading, room: int) -> tuple[list[str], bool]:
    """The lines of a reading, and whether they have all of it from where it starts."""
    name, value = f"$result.{quote_name(reading.name)}", reading.value
    if not isinstance(value, str) or not _is_block(value):
        return [f"{name} = {format_value(value)}"], True
    length, start = len(value), reading.start
    end = _find_end(value, start, room)
    if end == length and not start:
        return [f"{name}, {length} characters:", *quote_lines(value)], True
    lines = quote_lines(value[start:end].rstrip("\n")) if end > start else []
    head = (
        f"{name}, characters {start} to {end} of {length}" if lines else f"{name}, {length} characters, not shown here"
    )
    first = value.split("\n", 1)[0]
    if start and lines and len(first) <= _FIRST_LINE:
        head += f"; its first line: {quote(first)}"
    if end == length:
        return [f"{head}:", *lines], True
    how = f'{READ_MORE.name} with name "{reading.name}" and from "{end}" shows'
    if not lines:
        return [f"{head}: {how} it"], False
    return [f"{head}:", *lines, f"… {length - end} more characters: {how} them"], False


def _is_block(text: str) -> bool:
    """Whether a text is better read as lines: it is long, has lines of its own, or is JSON with quotation marks."""
    return len(text) > LONGEST or "\n" in text or (text[:1] in ("{", "[") and '"' in text)


def _find_end(text: str, start: int, room: int) -> int:
    """Where to cut so that at most `room` tokens are shown: at the end of a line, an object or a word if one is near."""
    end = min(len(text), start + 2 * max(room, 0))  # a token is estimated at two bytes or more
    while end > start and (need := estimate_tokens("\n".join(quote_lines(text[start:end])))) > room:
        end = start + min(end - start - 1, (end - start) * room // need)
    if end == len(text):
        return end
    near = start + 3 * (end - start) // 4
    found = (text.rfind(mark, near, end) + len(mark) for mark in ("\n", "},", " ") if text.rfind(mark, near, end) >= 0)
    return next(found, end)
