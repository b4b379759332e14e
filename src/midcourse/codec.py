"""Domain objects to JSON and back. The one place that knows how they are written down."""

from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def encode(value: object, kind: Any = None) -> str:
    """Compact JSON. A value that is not what its type says raises: nothing malformed is written down. `kind` is needed only where the value's own class does not say what it is a part of."""
    return _adapter(kind or type(value)).dump_json(value, warnings="error").decode()


def decode(kind: type[T], text: str | bytes) -> T:
    return _adapter(kind).validate_json(text)


def decode_any(kind: Any, text: str | bytes) -> Any:
    """As `decode`, for unions such as `Event` that no type checker takes as a class."""
    return _adapter(kind).validate_json(text)
