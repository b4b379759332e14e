"""Domain objects to JSON and back. The one place that knows how they are written down."""

from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from midcourse.domain.legacy import modernize
from midcourse.domain.replace import replace

T = TypeVar("T")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def encode(value: object, kind: Any = None) -> str:
    """Compact JSON. A value that is not what its type says raises: nothing malformed is written down. `kind` is needed only where the value's own class does not say what it is a part of."""
    return _adapter(kind or type(value)).dump_json(value, warnings="error").decode()


def encodable(value: T) -> T | None:
    """The same value, with U+FFFD for text that UTF-8 cannot express. None: it is not what its type says.

    Everything that comes from a world passes here, so that no page and no world can stop a run by what it says.
    """
    if _encodes(value):
        return value
    cleaned = cast(T, _readable(value))
    return cleaned if _encodes(cleaned) else None


def _encodes(value: object) -> bool:
    try:
        encode(value)
    except (PydanticSerializationError, TypeError):
        return False
    return True


def readable(text: str) -> str:
    """The text with U+FFFD for each half of a UTF-16 pair that stands alone."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _readable(value: object) -> object:
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, tuple):
        return tuple(map(_readable, cast(tuple[object, ...], value)))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _readable(getattr(value, field.name)) for field in fields(value)})
    return value


def decode(kind: type[T], text: str | bytes) -> T:
    return _adapter(kind).validate_json(modernize(text))


def decode_any(kind: Any, text: str | bytes) -> Any:
    """As `decode`, for unions such as `Event` that no type checker takes as a class."""
    return _adapter(kind).validate_json(modernize(text))
