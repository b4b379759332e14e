"""Presence of a value on screens. A model may make up what it claims to have read there."""

import re
from collections.abc import Iterable

from midcourse.domain.argument import Scalar
from midcourse.domain.observation import Observation

_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"[-−]?\d[\d.,' \u00a0\u202f]*")


def is_shown(value: Scalar, screens: Iterable[Observation], *, whole: bool = False) -> bool:
    """Whether a value appears on a screen: a text ignoring case and blanks, a number in any notation. A boolean always does.

    Evidence takes any part of a text, since what was there before proves nothing. `whole`: only whole words and numbers count, so
    that 7 is not read from 1007.
    """
    if value is None:
        return False
    if isinstance(value, bool):
        return True
    texts = [text for screen in screens for text in screen_texts(screen)]
    if isinstance(value, str):
        wanted = _normalise(value)
        found = re.compile(_bound(wanted) if whole else re.escape(wanted))
        return bool(wanted) and any(found.search(_normalise(text)) for text in texts)
    return any(value in _numbers(text) for text in texts)


def _bound(text: str) -> str:
    """A pattern of a text that continues no number and no word. Scripts that know no case put no blanks between words."""
    letter = r"[^\W\d_]"
    before = r"(?<!\d)(?<!\d[.,])" if text[:1].isdecimal() else f"(?<!{letter})" if text[:1].upper() != text[:1] else ""
    after = r"(?!\d|[.,]\d)" if text[-1:].isdecimal() else f"(?!{letter})" if text[-1:].upper() != text[-1:] else ""
    return f"{before}{re.escape(text)}{after}"


def consists_of(text: str, values: Iterable[Scalar]) -> bool:
    """Whether each word of a text is one of these values, as where a list shows several fields of a form in a line."""
    known = {word for value in values for word in _words(str(value))}
    return known.issuperset(_words(text))


def screen_texts(screen: Observation) -> Iterable[str]:
    """All texts on the screen."""
    yield screen.surface.title
    yield screen.surface.address
    for zone in screen.zones:
        yield zone.label
        yield from (str(value) for _, value in zone.state if value is not None and not isinstance(value, bool))


MOST_TEXTS = 6
LONGEST_TEXT = 120
_SPEAKING = ("alert", "status", "log", "dialog")
_WRITTEN = ("heading", "text", "paragraph", "cell", "listitem")


def find_new_texts(before: Observation, after: Observation) -> tuple[str, ...]:
    """Texts that are visible now and were not before, shortened: messages first, then prose, then everything else."""
    known = {_normalise(text) for text in screen_texts(before)}
    ranked = sorted(after.zones, key=lambda zone: 2 - (zone.role in _WRITTEN) - 2 * (zone.role in _SPEAKING))
    new: dict[str, str] = {}
    for zone in ranked:
        plain = _normalise(zone.label)
        if plain and plain not in known:
            new.setdefault(plain, _SPACES.sub(" ", zone.label).strip())
    return tuple(text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…" for text in new.values())[:MOST_TEXTS]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _normalise(text: str) -> str:
    return _SPACES.sub(" ", text).strip().casefold()


def _numbers(text: str) -> set[float]:
    """Numbers in the text, with either decimal separator: 1.234,50 and 1,234.50 are the same, and 1.234 is two numbers."""
    found: set[float] = set()
    for written in _NUMBER.findall(text):
        bare = re.sub(r"['\s]", "", written).replace("−", "-").rstrip(".,")
        for decimal, thousands in ((".", ","), (",", ".")):
            plain = bare.replace(thousands, "").replace(decimal, ".")
            if plain.count(".") <= 1:
                found.add(float(plain))
    return found
