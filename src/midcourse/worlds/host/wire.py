"""The requests and answers between a world host and `RemoteWorld`.

    POST /sessions           OpenAsk -> Opened      with the host's token; 503 if it is full or stopping, 422 for other options
    GET  /sessions           -> (Listed, ...)       with the host's token
    POST /sessions/ID/WHAT   attach, conceal, observe, settle, screenshot, commit_set, reread, act, probe, view, handle, attend, bar, close; with the token of that
                             session

Every request to a session names its epoch, except `attach`, `view`, `attend` and `handle`. `not_after` is the time from which the
client no longer waits: a request that is handled later, for example because the host was frozen, is not begun.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from midcourse.codec import decode
from midcourse.domain.argument import Pairs
from midcourse.ports.viewing import Gesture, PersonAction
from midcourse.ports.world import Call, Catalogue, Turn


@dataclass(frozen=True, kw_only=True)
class Ready:
    """The file that a host writes once it listens."""

    url: str
    token: str
    pid: int
    worlds: tuple[str, ...] = ()
    """The worlds that it opens, as 'package.module:Class'."""
    ca: str = ""
    """See `Handle.ca`. The program that gives the file to clients writes it, because a host does not know their files."""

    @property
    def handle(self) -> "Handle":
        return Handle(url=self.url, token=self.token, ca=self.ca)


@dataclass(frozen=True, kw_only=True)
class Handle:
    """The address and token of a host or of one of its sessions. A client with a session's token can take the session over."""

    url: str
    token: str
    ca: str = ""
    """A file on the client's machine with certificates that it trusts for this host, in addition to those of the system."""


def read_host_file(ready: Path) -> Handle:
    """Return the handle of the host that wrote this file."""
    return decode(Ready, ready.read_bytes()).handle


@dataclass(frozen=True, kw_only=True)
class OpenAsk:
    """Request for a session of a world. There is one session for each `key`, so asking again returns the same one."""

    world: str
    options: dict[str, Any]
    key: str
    idle: float | None = None
    """Seconds without a request after which the session is closed, if that is less than the host's limit."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    session: str
    token: str


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A session as it is listed for an operator."""

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
    """The turn of the worker that attaches. Workers of earlier turns are refused from then on."""


@dataclass(frozen=True, kw_only=True)
class Attached:
    epoch: int
    name: str
    catalogue: Catalogue


@dataclass(frozen=True, kw_only=True)
class Ask:
    """Request to observe or to close."""

    epoch: int


@dataclass(frozen=True, kw_only=True)
class ScreenshotAsk:
    """Request for the screenshot that an observation named. The answer is Base64, or null."""

    epoch: int
    digest: str


@dataclass(frozen=True, kw_only=True)
class ViewAsk:
    """Request for a picture for a person who watches, unless nothing has changed since that stamp."""

    since: str


@dataclass(frozen=True, kw_only=True)
class Viewed:
    """A `View` with its picture in Base64. `watchable` is False for a world that has no pictures for persons."""

    stamp: str = ""
    picture: str = field(default="", repr=False)
    watchable: bool = True


@dataclass(frozen=True, kw_only=True)
class HandleAsk:
    """Request to carry out the gestures of a person who has taken over. See `Attendable.handle`."""

    gestures: tuple[Gesture, ...] = ()
    since: str | None = None


@dataclass(frozen=True, kw_only=True)
class HandleAnswer:
    """A `Handled`. The picture in `viewed` shows the page as it is, with its secrets."""

    viewed: Viewed
    deeds: tuple[PersonAction, ...] = ()
    dialog: str = ""


@dataclass(frozen=True, kw_only=True)
class ConcealAsk:
    epoch: int
    secrets: Pairs = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class CallAsk:
    """Request to act, or to read what an act would send."""

    epoch: int
    call: Call
    not_after: float


@dataclass(frozen=True, kw_only=True)
class RereadAsk:
    """Request for the names of the values that the form itself changes from one load to the next."""

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
    """Answer to `BarAsk`. `over` is False while an act of that command, begun earlier, is still under way."""

    over: bool


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """The reason for an error status."""

    detail: str
    full: bool = False
    """Whether the host has reached its limit of sessions."""
