"""Placeholders in expectations and probes: replaces values of inputs, and fills in others."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, assert_never

from midcourse.domain.argument import Argument, Arguments, Reference, Scalar
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
from midcourse.policy.reuse.placeholders import Placeholders, Unclear

C = TypeVar("C", bound=Expectation | Probe)


@dataclass(frozen=True, kw_only=True)
class Rewriter:
    """Functions that rewrite a text, a pattern and a value."""

    text: Callable[[str], str]
    pattern: Callable[[str], str]
    value: Callable[[Scalar], Scalar]


def insert_placeholders(condition: C, placeholders: Placeholders) -> C:
    """The condition with names in place of values. Raises `Unclear`."""

    def pattern(text: str) -> str:
        return placeholders.insert(text, in_pattern=True)

    return _rewrite(condition, Rewriter(text=placeholders.insert, pattern=pattern, value=placeholders.insert_in_value))


def insert_placeholders_safely(condition: C, placeholders: Placeholders) -> C:
    """Insert names like `insert_placeholders`, but also raise `Unclear` if a value may occur by chance or in another spelling."""

    def require_sure(text: str, *, in_pattern: bool = False) -> str:
        if not placeholders.is_sure(text, in_pattern=in_pattern):
            raise Unclear(f"an input may be meant in {text!r}")
        return text

    def text(text: str) -> str:
        return placeholders.insert(require_sure(text))

    def pattern(text: str) -> str:
        return placeholders.insert(require_sure(text, in_pattern=True), in_pattern=True)

    def value(value: Scalar) -> Scalar:
        require_sure("" if value is None or isinstance(value, bool) else str(value))
        return placeholders.insert_in_value(value)

    return _rewrite(condition, Rewriter(text=text, pattern=pattern, value=value))


def fill_placeholders(condition: C, placeholders: Placeholders) -> C:
    """The condition with values in place of names. Raises `Unclear` for a name that is not an input."""

    def pattern(text: str) -> str:
        return placeholders.fill(text, in_pattern=True)

    return _rewrite(condition, Rewriter(text=placeholders.fill, pattern=pattern, value=placeholders.fill_in_value))


def condition_texts(condition: Expectation | Probe) -> tuple[str, ...]:
    """All texts in the condition."""
    texts: list[str] = []

    def text(text: str) -> str:
        texts.append(text)
        return text

    def value(value: Scalar) -> Scalar:
        return value if value is None or isinstance(value, bool) else text(str(value))

    _rewrite(condition, Rewriter(text=text, pattern=text, value=value))
    return tuple(texts)


def _rewrite(condition: C, by: Rewriter) -> C:
    if isinstance(condition, Probe):
        return replace(condition, arguments=_arguments(condition.arguments, by))
    checks = tuple(_check(check, by) for check in condition.checks)
    return replace(condition, checks=checks, says=by.text(condition.says))


def _arguments(arguments: Arguments, by: Rewriter) -> Arguments:
    def rewrite_value(value: Argument) -> Argument:
        return value if isinstance(value, Reference) else by.value(value)

    return tuple((name, rewrite_value(value)) for name, value in arguments)


def _check(check: Check, by: Rewriter) -> Check:
    match check:
        case ZoneAppears() | ZoneGone():
            return replace(check, label=by.pattern(check.label))
        case ZoneHasState():
            return replace(check, label=by.pattern(check.label), value=by.value(check.value))
        case TextContains():
            return replace(check, text=by.text(check.text))
        case SurfaceMatches():
            return replace(check, pattern=by.pattern(check.pattern))
        case FingerprintChanged():
            return check
        case _:
            assert_never(check)
