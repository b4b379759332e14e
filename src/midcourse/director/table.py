"""The shapes that the transition table is built of."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from midcourse.director.turn import Turn
from midcourse.domain.run import Run

P = TypeVar("P")
E = TypeVar("E")
M = TypeVar("M")


@dataclass(frozen=True)
class Row(Generic[P, E]):
    """One legal pair of phase and event. `to` is where it can lead besides a pause and the end: drawn, and checked."""

    phase: type[P]
    event: type[E]
    handler: Callable[[Run, P, E], Turn]
    to: tuple[type[object], ...]


@dataclass(frozen=True)
class Entry(Generic[M]):
    """Which function enters a move."""

    move: type[M]
    enter: Callable[[Run, M], Turn]


def row(phase: type[P], event: type[E], handler: Callable[[Run, P, E], Turn], *to: type[object]) -> Row[Any, Any]:
    """Built through a function, so that a handler for another phase or event is a type error."""
    return Row(phase, event, handler, to)


def entry(move: type[M], enter: Callable[[Run, M], Turn]) -> Entry[Any]:
    return Entry(move, enter)
