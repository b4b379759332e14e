"""JSON encoding and decoding of domain objects, in one place."""

import json
import re
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from midcourse.domain.replace import replace

T = TypeVar("T")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def encode(value: object, kind: Any = None) -> str:
    """Return the value as compact JSON. A value that does not match its type raises, so that nothing malformed is stored.

    `kind` is the type to encode it as, by default its own class. It is needed for unions such as `Event`.
    """
    return _adapter(kind or type(value)).dump_json(value, by_alias=True, warnings="error").decode()


def make_encodable(value: T) -> T | None:
    """Return the value with U+FFFD for text that UTF-8 cannot express; None if it does not match its type.

    Everything that comes from a world passes through here, so that no page or world can stop a run by its content.
    """
    if _is_encodable(value):
        return value
    cleaned = cast(T, _clean_value(value))
    return cleaned if _is_encodable(cleaned) else None


def _is_encodable(value: object) -> bool:
    try:
        encode(value)
    except (PydanticSerializationError, TypeError):
        return False
    return True


def replace_surrogates(text: str) -> str:
    """Return the text with U+FFFD for each unpaired UTF-16 surrogate."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _clean_value(value: object) -> object:
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, tuple):
        return tuple(map(_clean_value, cast(tuple[object, ...], value)))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _clean_value(getattr(value, field.name)) for field in fields(value)})
    return value


def decode(kind: type[T], text: str | bytes) -> T:
    """Decode JSON of this type. Formats of earlier versions are converted first."""
    return _adapter(kind).validate_json(modernize(text))


def decode_any(kind: Any, text: str | bytes) -> Any:
    """Decode like `decode`, but for unions such as `Event`, which type checkers do not accept as a class."""
    return _adapter(kind).validate_json(modernize(text))


# --- JSON of earlier versions

CURRENT = 2

ROLES: dict[str, tuple[str, str]] = {
    "reflecting": ("advising", "reflector"),
    "reviewing": ("advising", "monitor"),
    "outlining": ("advising", "outliner"),
    "judging": ("advising", "judge"),
    "reflect_on": ("advise", "reflector"),
    "review_path": ("advise", "monitor"),
    "draw_outline": ("advise", "outliner"),
    "judge_progress": ("advise", "judge"),
    "reflected": ("advised", "reflector"),
    "path_reviewed": ("advised", "monitor"),
    "outlined": ("advised", "outliner"),
    "progress_judged": ("advised", "judge"),
    "reflect": ("consult", "reflector"),
    "review": ("consult", "monitor"),
    "orient": ("consult", "outliner"),
}
"""Kinds of format 1, and the kind and role that replace each."""

ANSWERED = ("reflected", "reviewed", "goals", "judged")
"""Verdicts of format 1 that mean that there is advice."""

# Unescaped quotes cannot be part of a string, so text of a page never matches.
_OLD = re.compile(rf'"kind":\s*"(?:doubt|{"|".join(ROLES)})"|"format":\s*1\b')
_OLD_BYTES = re.compile(_OLD.pattern.encode())


def modernize(text: str | bytes) -> str | bytes:
    """The JSON in the current format. Text that is already current is only scanned."""
    if not (_OLD.search(text) if isinstance(text, str) else _OLD_BYTES.search(text)):
        return text
    try:
        return json.dumps(json.loads(text, object_hook=_modernize_object))
    except ValueError:
        return text  # the decoder reports what is wrong with it


def _modernize_object(value: dict[str, Any]) -> dict[str, Any]:
    if value.get("format") == 1 and "id" in value:
        return value | {"format": CURRENT}
    kind = value.get("kind")
    if kind == "doubt":
        return value | {"kind": "check_outcome"}
    if not isinstance(kind, str) or kind not in ROLES:
        return value
    kind, role = ROLES[kind]
    answered = {"verdict": "answered"} if value.get("verdict") in ANSWERED else {}
    return value | {"kind": kind, "role": role} | answered
