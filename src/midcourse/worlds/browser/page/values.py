"""Reads values of a given type, such as numbers and booleans, from the text of a page."""

import re
from typing import Literal, TypeAlias, assert_never

from midcourse.domain.argument import Scalar

Kind: TypeAlias = Literal["string", "integer", "number", "boolean"]

_NUMBER = re.compile(r"[-−+]?\d[\d.,'\u00a0\u202f ]*")
_YES = ("true", "yes", "on", "1", "checked", "✓", "✔")
_NO = ("false", "no", "off", "0", "unchecked", "", "✗", "✘")


class ValueUnreadable(Exception):
    """The text does not contain one value of this type."""


def read_as(kind: Kind, text: str) -> Scalar:
    """Read a value of this type from a text. Raise `ValueUnreadable` instead of guessing."""
    match kind:
        case "string":
            return text
        case "integer":
            number = _parse_number(text)
            if not number.is_integer():
                raise ValueUnreadable(f"'{text}' is not a whole number")
            return int(number)
        case "number":
            return _parse_number(text)
        case "boolean":
            return _parse_boolean(text)
        case _:
            assert_never(kind)


def _parse_number(text: str) -> float:
    """Parse the only number in a text, in any notation: 1,234.50 and 1.234,50 are the same."""
    found = [number.strip(" .,'\u00a0\u202f") for number in _NUMBER.findall(text)]
    if len(found) != 1:
        raise ValueUnreadable(f"there is {'no' if not found else 'more than one'} number in '{text}'")
    digits = re.sub(r"['\u00a0\u202f ]", "", found[0]).replace("−", "-")
    return float(_normalise_decimal(digits))


def _normalise_decimal(digits: str) -> str:
    comma, point = digits.rfind(","), digits.rfind(".")
    if comma >= 0 and point >= 0:
        decimal, other = (",", ".") if comma > point else (".", ",")
        return digits.replace(other, "").replace(decimal, ".")
    mark = "," if comma >= 0 else "."
    grouped = digits.count(mark) > 1 or (mark == "," and re.fullmatch(r"[-+]?\d{1,3},\d{3}", digits))
    return digits.replace(mark, "" if grouped else ".")


def _parse_boolean(text: str) -> bool:
    word = text.strip().lower()
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise ValueUnreadable(f"'{text}' is neither yes nor no")
