"""Functions that take one object and are called with its fields."""

import inspect
from dataclasses import dataclass

import pytest

from midcourse.signatures import takes


@dataclass(frozen=True, kw_only=True)
class Shared:
    quiet: bool = False


@dataclass(frozen=True, kw_only=True)
class Own(Shared):
    name: str


@takes(Own)
def greet(own: Own) -> str:
    """Greet by name."""
    return "" if own.quiet else f"hello {own.name}"


def test_fields_are_the_parameters_own_ones_first():
    assert str(inspect.signature(greet)) == "(*, name: str, quiet: bool = False) -> str"
    assert greet.__doc__ == "Greet by name."
    assert (greet(name="Ada"), greet(name="Ada", quiet=True)) == ("hello Ada", "")
    with pytest.raises(TypeError, match="loud"):
        greet(name="Ada", loud=True)  # pyrefly: ignore[unexpected-keyword]
