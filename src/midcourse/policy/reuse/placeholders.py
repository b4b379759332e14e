"""Replaces values of inputs in texts and conditions by placeholders with their names, and back by other values.

A value is recognised as a whole, not within a longer word; one of one or two characters only if it is the whole text, since
otherwise it often occurs by chance. Two inputs with the same value cannot be distinguished, so a text with that value is
`Unclear`.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import TypeVar, assert_never

from midcourse.domain.argument import Pairs, Reference, Scalar
from midcourse.domain.expectation import (
    Check,
    Expectation,
    FingerprintChanged,
    Probe,
    SurfaceMatches,
    TextContains,
    ZoneAppears,
    ZoneGone,
    ZoneHasState,
)
from midcourse.domain.replace import replace

SHORTEST_SURE = 3

_BLANK = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_SPECIAL = re.compile(r"([*?\[])")


class Unclear(Exception):
    """Raised if it cannot be decided which input a text contains, if any."""


class Placeholders:
    def __init__(self, inputs: Pairs) -> None:
        self._inputs = dict(inputs)
        self._plain = _by_value(inputs, in_pattern=False)
        self._patterns = _by_value(inputs, in_pattern=True)
        self._squeezed = tuple(s for text in self._plain if len(s := _squeeze(text)) >= SHORTEST_SURE)

    # --- values become names

    def insert(self, text: str, *, in_pattern: bool = False) -> str:
        """The text with names in place of values. Raises `Unclear` for a value that two inputs have."""
        names = self._patterns if in_pattern else self._plain
        parts: list[str] = []
        done = 0
        for found in _occurrences(names, text):
            if (name := names[found[0]]) is None:
                raise Unclear(f"more than one input is {found[0]!r}")
            parts += (_escape_braces(text[done : found.start()]), f"{{{name}}}")
            done = found.end()
        return "".join((*parts, _escape_braces(text[done:])))

    def insert_in_value(self, value: Scalar) -> Scalar:
        """The value with names inserted: a text by `insert`; a number that is an input's becomes its name, unless it is short."""
        if isinstance(value, str):
            blanked = self.insert(value)
            if (name := _sole_name(blanked)) is not None and not isinstance(self._inputs[name], str):
                raise Unclear(f"{value!r} is the input '{name}', written out")
            return blanked
        if is_short(value) or not self.names_of(value):
            return value
        if (name := self._plain[_as_text(value)]) is None:
            raise Unclear(f"more than one input is {value!r}")
        return f"{{{name}}}"

    def names_of(self, value: Scalar) -> tuple[str, ...]:
        """The inputs that have exactly this value. Booleans and empty values never identify an input."""
        if value is None or isinstance(value, bool) or value == "":
            return ()
        return tuple(name for name, own in self._inputs.items() if type(own) is type(value) and own == value)

    def is_sure(self, text: str, *, in_pattern: bool = False) -> bool:
        """Whether the text contains no value that is too short to recognise, and none in another spelling."""
        names = self._patterns if in_pattern else self._plain
        if any(is_short(value) and occurs(value, text) for value in names):
            return False
        rest = _squeeze(_cut_out(names, text))
        return not any(value in rest for value in self._squeezed)

    # --- names become values

    def fill(self, template: str, *, in_pattern: bool = False) -> str:
        """The template with values in place of names. Raises `Unclear` for a name that is not an input."""

        def value(found: re.Match[str]) -> str:
            if found[1] is None:
                return found[0][0]
            text = _as_text(self._value(found[1]))
            return _SPECIAL.sub(r"[\1]", text) if in_pattern else text

        return _BLANK.sub(value, template)

    def fill_in_value(self, template: Scalar) -> Scalar:
        """Fill in a template like `fill`, but a template that is only a name becomes the value of that input, with its type."""
        if not isinstance(template, str):
            return template
        name = _sole_name(template)
        return self.fill(template) if name is None else self._value(name)

    def _value(self, name: str) -> Scalar:
        if name not in self._inputs:
            raise Unclear(f"there is no input '{name}'")
        return self._inputs[name]


def is_short(value: Scalar) -> bool:
    return len(_as_text(value)) < SHORTEST_SURE


def occurs(value: str, text: str) -> bool:
    """Whether the value is in the text as a whole, not within a longer word."""
    return re.search(_whole_word_pattern(value), text) is not None


def names_in(template: str) -> tuple[str, ...]:
    return tuple(found[1] for found in _BLANK.finditer(template) if found[1] is not None)


def without_placeholders(template: str) -> str:
    """The constant parts of a template."""
    return _BLANK.sub(lambda found: found[0][0] if found[1] is None else "\0", template)


def _by_value(inputs: Pairs, *, in_pattern: bool) -> dict[str, str | None]:
    """Names of inputs by the text of their values. None: two inputs have it, or the name cannot be written in braces."""
    names: dict[str, str | None] = {}
    for name, value in inputs:
        if value is None or isinstance(value, bool) or not _as_text(value).strip():
            continue
        text = _SPECIAL.sub(r"[\1]", _as_text(value)) if in_pattern else _as_text(value)
        names[text] = None if text in names or not name or re.search(r"[{}]", name) else name
    return names


def _occurrences(names: dict[str, str | None], text: str) -> list[re.Match[str]]:
    """Occurrences of the values in the text. Longer values take precedence: one may be a part of another."""
    meant = (value for value in names if value in text and (not is_short(value) or value == text))
    values = sorted(meant, key=len, reverse=True)
    return list(re.finditer("|".join(map(_whole_word_pattern, values)), text)) if values else []


def _whole_word_pattern(value: str) -> str:
    before = r"(?<!\w)" if re.match(r"\w", value) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", value) else ""
    return before + re.escape(value) + after


def _cut_out(names: dict[str, str | None], text: str) -> str:
    for found in reversed(_occurrences(names, text)):
        text = f"{text[: found.start()]}\0{text[found.end() :]}"
    return text


def _squeeze(text: str) -> str:
    """The letters and digits of a text such as `1,290.50` or `PO 7731`; a cut in between is kept."""
    return "".join(letter for letter in text.casefold() if letter.isalnum() or letter == "\0")


def _as_text(value: Scalar) -> str:
    return value if isinstance(value, str) else str(value)


def _escape_braces(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _sole_name(template: str) -> str | None:
    found = _BLANK.fullmatch(template)
    return found[1] if found else None


# --- in conditions

C = TypeVar("C", bound=Expectation | Probe)


def insert_placeholders(condition: C, placeholders: Placeholders, *, safely: bool = False) -> C:
    """The condition with names in place of values. Raises `Unclear`; `safely`: also if a value may occur by chance or in another spelling."""

    def insert(text: str, *, in_pattern: bool = False) -> str:
        require_sure(text, in_pattern=in_pattern)
        return placeholders.insert(text, in_pattern=in_pattern)

    def insert_in_value(value: Scalar) -> Scalar:
        require_sure("" if value is None or isinstance(value, bool) else str(value))
        return placeholders.insert_in_value(value)

    def require_sure(text: str, *, in_pattern: bool = False) -> None:
        if safely and not placeholders.is_sure(text, in_pattern=in_pattern):
            raise Unclear(f"an input may be meant in {text!r}")

    return _rewrite(condition, insert, partial(insert, in_pattern=True), insert_in_value)


def fill_placeholders(condition: C, placeholders: Placeholders) -> C:
    """The condition with values in place of names. Raises `Unclear` for a name that is not an input."""
    fill = placeholders.fill
    return _rewrite(condition, fill, partial(fill, in_pattern=True), placeholders.fill_in_value)


def find_texts(condition: Expectation | Probe) -> tuple[str, ...]:
    """All texts in the condition."""
    texts: list[str] = []

    def add(text: str) -> str:
        texts.append(text)
        return text

    def add_value(value: Scalar) -> Scalar:
        return value if value is None or isinstance(value, bool) else add(str(value))

    _rewrite(condition, add, add, add_value)
    return tuple(texts)


def _rewrite(
    condition: C, text: Callable[[str], str], pattern: Callable[[str], str], value: Callable[[Scalar], Scalar]
) -> C:
    """The condition with all its texts, patterns and values rewritten by these functions."""

    def rewrite(check: Check) -> Check:
        match check:
            case ZoneAppears() | ZoneGone():
                return replace(check, label=pattern(check.label))
            case ZoneHasState():
                return replace(check, label=pattern(check.label), value=value(check.value))
            case TextContains():
                return replace(check, text=text(check.text))
            case SurfaceMatches():
                return replace(check, pattern=pattern(check.pattern))
            case FingerprintChanged():
                return check
            case _:
                assert_never(check)

    if isinstance(condition, Probe):
        pairs = ((name, one if isinstance(one, Reference) else value(one)) for name, one in condition.arguments)
        return replace(condition, arguments=tuple(pairs))
    return replace(condition, checks=tuple(map(rewrite, condition.checks)), says=text(condition.says))
