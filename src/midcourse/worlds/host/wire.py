"""What goes over the wire between a world host and `RemoteWorld`.

    POST /sessions           OpenAsk -> Opened      with the host's token; 503 if it is full or about to go, 422 for other options
    GET  /sessions           -> (Listed, ...)       with the host's token
    POST /sessions/ID/WHAT   attach, conceal, observe, commit_set, reread, act, probe, attend, bar, close; with the token of that session

Every request to a session names its epoch, but for the first and `attend`. `not_after`: nobody waits for it any longer from then on, so it
is not begun. A host may have been frozen meanwhile.
"""

from dataclasses import dataclass, field
from typing import Any

from midcourse.domain.argument import Pairs
from midcourse.ports.world import Call, Catalogue, Turn


@dataclass(frozen=True, kw_only=True)
class Ready:
    """What a host writes down once it listens."""

    url: str
    token: str
    pid: int
    worlds: tuple[str, ...] = ()
    """What it opens, as 'package.module:Class'."""


@dataclass(frozen=True, kw_only=True)
class Handle:
    """Where a host or one of its sessions is, and the token for it. Whoever has a session's can take it over."""

    url: str
    token: str


@dataclass(frozen=True, kw_only=True)
class OpenAsk:
    """For a session of this world. There is one for each `key`: whoever asks again is given the same one."""

    world: str
    options: dict[str, Any]
    key: str
    idle: float | None = None
    """Seconds without a request after which it is closed, if less than what the host allows."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    session: str
    token: str


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A session in the words of a list for people."""

    session: str
    world: str
    key: str
    open_seconds: float
    asked_seconds_ago: float
    """Zero while a request is under way."""
    epoch: int
    acts: int
    closing: bool


@dataclass(frozen=True, kw_only=True)
class AttachAsk:
    not_after: float
    turn: Turn = (0, 0)
    """Nobody who comes for an earlier one is let in any more."""


@dataclass(frozen=True, kw_only=True)
class Attached:
    epoch: int
    name: str
    catalogue: Catalogue


@dataclass(frozen=True, kw_only=True)
class Ask:
    """To look, or to close."""

    epoch: int


@dataclass(frozen=True, kw_only=True)
class ConcealAsk:
    epoch: int
    secrets: Pairs = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class CallAsk:
    """To act, or to read what an act would send."""

    epoch: int
    call: Call
    not_after: float


@dataclass(frozen=True, kw_only=True)
class RereadAsk:
    """Which of these values of what the call would send its form changes by itself."""

    epoch: int
    call: Call
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ProbeAsk:
    epoch: int
    name: str
    arguments: Pairs


@dataclass(frozen=True, kw_only=True)
class BarAsk:
    epoch: int
    command: int


@dataclass(frozen=True, kw_only=True)
class Barred:
    """`over` is False while an act of that command, begun before, is still under way."""

    over: bool


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """Why a request got no answer."""

    detail: str
