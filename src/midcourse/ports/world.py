"""Port of the world: opens sessions, observes, acts, and declares its skills."""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Pairs
from midcourse.domain.observation import Observation, Unseen
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import Target
from midcourse.domain.skill import Catalogue as Catalogue
from midcourse.domain.skill import ProbeSpec as ProbeSpec

Finding: TypeAlias = Literal["present", "absent", "unclear", "elsewhere"]
"""What a probe found. `elsewhere`: what it asked for did not come, but something else in its place, such as a sign-in."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One use of a skill, with every reference filled in. `command` is what the fence knows it by."""

    command: int
    skill: str
    zone: str
    target: Target
    arguments: Pairs = ()
    secrets: Pairs = ()
    """Which of them is which secret: (argument, name of the secret)."""
    bounds: tuple[int, int, int, int] | None = None
    """Where the zone was last seen: for a world of screenshots that a reader turns into zones."""
    allowed: bool = False
    """Whether the commit set that was read last for this very call may be sent. Without it, nothing that was held may go."""


UNSENT = "unsent"
"""Reason of an outcome without effect: the host could not be reached, so the act was never sent."""


class WorldAway(ConnectionError):
    """The host of the world cannot be reached or has no room: the world itself has not failed."""


class World(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def fences(self) -> bool:
        """Whether `bar` and `attach` really keep late and older callers out."""
        ...

    def catalogue(self) -> Catalogue:
        """Skills and probes. Known once the world is open or attached."""
        ...

    async def open(self) -> str:
        """Begin a session. The handle is what another process attaches with; empty if none can.

        Raises `WorldAway` for an outage, which is waited for without counting it as an attempt.
        """
        ...

    async def attach(self, handle: str) -> bool:
        """Take over a session as it is, and shut out its previous holder. False: the session does not exist any more."""
        ...

    async def conceal(self, secrets: Pairs) -> None:
        """Picture none of these, by name, for as long as the session lasts. Asked once it is open, if there are any.

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
        """Find out whether an effect is there, without leaving a trace."""
        ...

    async def attend(self) -> str:
        """A person acts here from now on, until the next look or act: what they do is theirs, and nothing of it is held up.

        Says where they find the world, in words for them; empty if there is nothing to say.
        """
        ...

    async def bar(self, command: int) -> None:
        """Refuse this command from now on, from any sender."""
        ...

    async def close(self) -> None:
        """End the session. Closing twice is allowed."""
        ...


@runtime_checkable
class Rereads(Protocol):
    """A world that can read the form behind a request once more."""

    async def reread(self, call: Call, names: tuple[str, ...]) -> tuple[str, ...] | None:
        """Which of these values, of the commit set that was read last for this call, the form changes by itself.

        Nothing is sent or changed by it. A name that begins with `?` is one of the address. None: it cannot tell.
        """
        ...


Turn: TypeAlias = tuple[int, int]
"""A place in a run's journal, and which attempt at it this is: later ones are greater."""


@runtime_checkable
class Ordered(Protocol):
    """A world whose owner refuses to attach on behalf of an earlier turn than the latest one."""

    def come_for(self, turn: Turn) -> None:
        """Open and attach on behalf of it from now on."""
        ...
