"""Port of the world: opens sessions, observes, acts, and declares its skills."""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Pairs
from midcourse.domain.observation import Bounds, Observation, Unseen
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import Target
from midcourse.domain.skill import Catalogue as Catalogue
from midcourse.domain.skill import ProbeSpec as ProbeSpec
from midcourse.ports.approver import FillIn

Finding: TypeAlias = Literal["present", "absent", "unclear", "elsewhere"]
"""What a probe found. `elsewhere`: it was led to something else, such as a sign-in."""

REVERSED: dict[Finding, Finding] = {"present": "absent", "absent": "present"}
"""The finding about the reverse of an effect, for each finding about the effect."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One use of a skill, with every reference filled in. `command` identifies it for `bar`."""

    command: int
    skill: str
    zone: str
    target: Target
    arguments: Pairs = ()
    secrets: Pairs = ()
    """The arguments that are secrets: (argument, name of the secret)."""
    named_files: tuple[str, ...] = ()
    """The arguments that may be paths of files because a person has given them, as a file or an input of the task."""
    bounds: Bounds | None = None
    """The last known bounds of the zone."""
    pictured: bool = False
    """Whether a reader found the zone in a picture, so that the world knows only its `bounds`."""
    allowed: bool = False
    """Whether the commit set that was last read for this call may be sent. Otherwise held requests stay held."""
    identity: str = ""
    """The digest by which an irreversible act is recognised if it is sent again."""
    unmeant: bool = False
    """Whether the plan does not say that it sends something. What it would send by scripts only may then be left waiting: the world
    says so by `Outcome.unsent`. If the same act comes under another command, it is another one."""
    known: tuple[int, ...] = ()
    """The commands in the run's ledger that have already sent the same."""


CallKey: TypeAlias = tuple[str, str, Pairs]
"""What makes two calls the same act: skill, zone and arguments."""


def identify_call(call: Call) -> CallKey:
    return (call.skill, call.zone, call.arguments)


UNSENT = "unsent"
"""Reason of an outcome without effect: the host could not be reached, so the act was never sent."""

WOULD_SEND = "would_send"
"""Reason of an outcome: the world holds back the request of this act, which is its commit set. With the status `unknown`, the allowed
request was sent, and the world holds back another one."""

WOULD_PASS_ON = "would_pass_on"
"""Reason of an outcome like `would_send`, for an act that only enters something: its page would pass that on by itself, for suggestions or
as a draft. What is held needs approval, and the act stays what it is: it may be repeated."""

WOULD_CHANGE = "would_change"
"""Reason of an outcome: nothing was done yet, and this act is reversible, although its skill is usually harmless. Repeating the call
carries it out, with an entry in the ledger."""


class WorldAway(ConnectionError):
    """The host of the world cannot be reached or has no capacity: the world itself has not failed."""


class WorldFull(WorldAway):
    """The host has reached its maximum number of sessions. It can be reached, so waiting for it is not an outage."""


class World(Protocol):
    """What an agent acts on: it is observed, carries out skills and answers probes. `BaseWorld` implements it for most worlds."""

    @property
    def name(self) -> str: ...

    @property
    def fences(self) -> bool:
        """Whether `bar` and `attach` reliably reject late and older callers."""
        ...

    def catalogue(self) -> Catalogue:
        """Skills and probes, known once the world is open or attached."""
        ...

    async def open(self) -> str:
        """Begin a session. Returns the handle with which another process can attach; empty if none can.

        Raises `WorldAway` for an outage, which is waited for without counting it as an attempt.
        """
        ...

    async def attach(self, handle: str) -> bool:
        """Take over an existing session, and reject its previous holder. False: the session no longer exists."""
        ...

    async def conceal(self, secrets: Pairs) -> None:
        """Cover these secrets in screenshots for the duration of the session. Called after `open`, if there are any.

        A name that ends with `@ORIGIN` belongs to that origin: there it may be typed, and may sign in.
        """
        ...

    async def observe(self) -> Observation | Unseen: ...

    async def commit_set(self, call: Call) -> CommitSet | None:
        """Every value that this call would send, read now and without acting. None: it cannot be read."""
        ...

    async def act(self, call: Call) -> Outcome:
        """Act once, and return when the world has settled."""
        ...

    async def probe(self, name: str, arguments: Pairs) -> Finding:
        """Check whether an effect is present, without changing anything."""
        ...

    async def attend(self) -> str:
        """Let a person act until the next observation or act. None of their requests is held.

        Returns a text that tells them where to find the world; it may be empty.
        """
        ...

    async def bar(self, command: int) -> None:
        """Refuse this command from now on, from any sender."""
        ...

    async def close(self) -> None:
        """End the session. Closing twice is allowed."""
        ...


class Rereads(Protocol):
    """A world that can read the form of a request again."""

    async def reread(self, call: Call, names: tuple[str, ...]) -> tuple[str, ...] | None:
        """The names, among these of the last commit set, of values that the form changes by itself. None: unknown.

        Sends and changes nothing. A name that begins with `?` belongs to the address.
        """
        ...


class Settling(Protocol):
    """A world that can tell whether its screen is still changing."""

    async def settle(self) -> None:
        """Return once nothing is loading any more, or after the longest time that the world waits for that."""
        ...


class Pictured(Protocol):
    """A world with observations that name screenshots."""

    async def read_screenshot(self, digest: str) -> bytes | None:
        """The screenshot, PNG or WebP, that the latest observation names by its SHA-256. None: it is no longer available.

        The world must keep it only until the next observation, because the run stores it.
        """
        ...


class Picturing(Pictured, Protocol):
    """A world that can be asked for a screenshot with every observation."""

    def picture_looks(self) -> None:
        """Take a screenshot with every observation from now on."""
        ...


class Eliciting(Protocol):
    """A world that may need something from a person in the middle of an act."""

    def elicit_with(self, fill_in: FillIn | None) -> None:
        """Set the function that fills in forms from now on; None: forms are not filled in."""
        ...


class Renewed(Protocol):
    """A world that gets a new handle when it is attached to."""

    def renewed_handle(self) -> str:
        """The handle to store after attaching; empty if it is still the same."""
        ...


Turn: TypeAlias = tuple[int, int]
"""The time at which a driver was placed, and the epoch of its claim. Later turns are greater, even if the store has lost commits."""


class Losable(Protocol):
    """A world with a session that may end by itself."""

    async def wait_until_lost(self) -> None:
        """Return once the open session has ended without being closed."""
        ...


class Parkable(Protocol):
    """A world with a session that can be closed while its run waits: the next session begins with what this one stored."""

    async def park(self) -> str | None:
        """Return what the next session begins with, such as cookies. None: this session must stay open for now."""
        ...

    def unpark(self, stored: str) -> None:
        """Begin the next session with this. Called before `open`."""
        ...


class Ordered(Protocol):
    """A world with a host that refuses to attach for an earlier turn than the latest one."""

    def set_turn(self, turn: Turn) -> None:
        """Set the turn for which `open` and `attach` are called."""
        ...
