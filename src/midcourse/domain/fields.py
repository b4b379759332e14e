"""Fields that accept mappings and lists and store tuples, because domain values must be hashable."""

import operator
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from pydantic import Field

V = TypeVar("V")
NONE: Any = ()
"""The default of such a field: an empty tuple."""


def stored_as(name: str) -> Any:
    """For `Annotated`: the name of a field in stored JSON, where it was stored before it was renamed.

    So earlier and later versions read the same records, also while a fleet is upgraded.
    """
    return Field(alias=name)


def stored_if_set() -> Any:
    """For `Annotated`: a field that is left out of stored JSON where it is empty, since a run has hundreds of them."""
    return Field(exclude_if=operator.not_)


if TYPE_CHECKING:

    class Named(Generic[V]):
        """Named values: given as a mapping or as pairs, kept as pairs."""

        def __get__(self, instance: object, owner: type | None = None) -> tuple[tuple[str, V], ...]: ...
        def __set__(self, instance: object, value: Mapping[str, V] | Iterable[tuple[str, V]]) -> None: ...

    class Several(Generic[V]):
        """Values in order: given as a list or any other iterable, kept as a tuple."""

        def __get__(self, instance: object, owner: type | None = None) -> tuple[V, ...]: ...
        def __set__(self, instance: object, value: Iterable[V]) -> None: ...

else:
    Named = tuple[tuple[str, V], ...]
    Several = tuple[V, ...]


def keep_named(value: object, *names: str) -> None:
    """For `__post_init__`: convert these fields to pairs. Raises `TypeError` for a value without names."""
    for name in names:
        given: object = getattr(value, name)
        if isinstance(given, tuple):
            continue
        if isinstance(given, Mapping):
            given = cast(Mapping[object, object], given).items()
        elif not isinstance(given, list):
            raise TypeError(f"{_label(value, name)} takes named values, such as {{'name': 'value'}}, not {given!r}")
        object.__setattr__(value, name, tuple(tuple(pair) for pair in cast(Iterable[Iterable[object]], given)))


def keep_several(value: object, *names: str) -> None:
    """For `__post_init__`: convert these fields to tuples. A single text or domain object becomes a tuple of one."""
    for name in names:
        given: object = getattr(value, name)
        if isinstance(given, tuple):
            continue
        if isinstance(given, str) or hasattr(given, "__dataclass_fields__"):
            given = (given,)
        elif not isinstance(given, Iterable):
            raise TypeError(f"{_label(value, name)} takes a list, not {given!r}")
        object.__setattr__(value, name, tuple(cast(Iterable[object], given)))


def _label(value: object, name: str) -> str:
    return f"{type(value).__name__}({name}=…)"
