"""A changed copy of a frozen value."""

from typing import Any, TypeVar

T = TypeVar("T")


def replace(value: T, /, **changes: Any) -> T:
    """`dataclasses.replace` for classes whose `__post_init__` only turns lists into tuples, as all in this package do.

    It copies the fields as they are: running `__init__` field by field took two thirds of the time of a decision.
    """
    fields = value.__dict__ | changes
    if len(fields) != len(value.__dict__):
        unknown = ", ".join(changes.keys() - value.__dict__.keys())
        raise TypeError(f"{type(value).__name__} has no field {unknown}")
    copy: T = object.__new__(type(value))
    object.__setattr__(copy, "__dict__", fields)
    return copy
