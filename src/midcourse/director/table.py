"""The row types of the transition table."""

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
    """One legal pair of phase and event. `to` are the phases it can lead to, except `Paused` and `Ended`; they are checked."""

    phase: type[P]
    event: type[E]
    handler: Callable[[Run, P, E], Turn]
    to: tuple[type[object], ...]


@dataclass(frozen=True)
class Entry(Generic[M]):
    """The function that carries out a move."""

    move: type[M]
    enter: Callable[[Run, M], Turn]


def row(phase: type[P], event: type[E], handler: Callable[[Run, P, E], Turn], *to: type[object]) -> Row[Any, Any]:
    """Build a row. A function, because type checkers then reject a handler for another phase or event."""
    return Row(phase, event, handler, to)


def entry(move: type[M], enter: Callable[[Run, M], Turn]) -> Entry[Any]:
    """Build an entry, checked for types like `row`."""
    return Entry(move, enter)
