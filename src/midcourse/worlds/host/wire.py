"""What goes over the wire between a world host and `RemoteWorld`. Every request but the first names its epoch.

`not_after`: nobody waits for it any longer from then on, so it is not begun. A host may have been frozen meanwhile.
"""

from dataclasses import dataclass

from midcourse.domain.argument import Pairs
from midcourse.ports.world import Call, Catalogue


@dataclass(frozen=True, kw_only=True)
class Ready:
    """What a host writes down once it listens."""

    url: str
    token: str
    pid: int


@dataclass(frozen=True, kw_only=True)
class Handle:
    """All that another process needs to take the session over."""

    url: str
    token: str


@dataclass(frozen=True, kw_only=True)
class AttachAsk:
    not_after: float


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
class CallAsk:
    """To act, or to read what an act would send."""

    epoch: int
    call: Call
    not_after: float


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
