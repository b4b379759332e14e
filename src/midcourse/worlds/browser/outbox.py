"""What wants to leave a browser and has not been allowed to waits here, at the gate. Nothing of it has been sent.

Letting it go sends that very request, byte for byte. Dropping it tells the page that it was refused; a navigation just
does not happen. Whoever asked may also have gone away meanwhile, and then it is gone from here, too.
"""

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from midcourse.domain.approval import CommitSet
from midcourse.domain.observation import Zone
from midcourse.worlds.browser.answer import Answer
from midcourse.worlds.browser.origins import Origins
from midcourse.worlds.browser.requests import Request

MOST_WAITING = 5
"""To one origin. Chromium has six connections to each; if all waited, the page could not even be read any more."""
_SHOWN = 20
"""Values of a request that are on the screen."""


@dataclass(frozen=True, kw_only=True)
class Held:
    """One request that waits. Its number is its own for as long as the browser is open."""

    number: int
    request: Request
    allowed: asyncio.Future[bool]

    @property
    def zone(self) -> Zone:
        commit = self.request.commit
        return Zone(id=f"request{self.number}", role="request", label=commit.address, state=commit.values[:_SHOWN])


@dataclass(kw_only=True)
class Sent:
    """One request that left because it was allowed, and what came back so far."""

    request: Request
    answer: Answer = field(default_factory=Answer)
    reached: bool = True
    """False: nobody could be reached, so the server has seen nothing of it."""
    sent_on: bool = False


class Outbox:
    """Of one browser."""

    def __init__(self, origins: Origins) -> None:
        self._origins = origins
        self._waiting: dict[int, Held] = {}
        self._count = 0
        self._expected: CommitSet | None = None
        self._followed: list[Request] = []
        self.sent: list[Sent] = []
        """Since `begin`."""
        self.attended = False
        """Whether a person is at the browser: then what it does is theirs, and nothing is held."""
        self.arrived = asyncio.Event()
        """Set while something waits."""

    # --- asked by the gate

    def is_free(self, request: Request) -> bool:
        """Whether it may leave without being asked about. Its body need not be known for that."""
        if self._expected is not None and request.navigates:
            return False
        return self._origins.is_safe(request.method, request.url) and not request.disguise

    async def leave(self, request: Request) -> Sent | None:
        """When it may go. None: it may not."""
        if self._passes(request) or await self._held(request):
            sent = Sent(request=request)
            self.sent.append(sent)
            return sent
        return None

    def answered(self, sent: Sent, data: bytes) -> None:
        """A server that answers with 307 or 308 wants the same thing again elsewhere. That was allowed, too."""
        sent.answer.take(data)
        elsewhere = sent.answer.sends_on_to(sent.request.url)
        if elsewhere and not sent.sent_on:
            sent.sent_on = True
            self._followed.append(Request(method=sent.request.method, url=elsewhere, body=sent.request.body))

    def _passes(self, request: Request) -> bool:
        bare = Request(method=request.method, url=request.url, body=request.body)
        if bare in self._followed:
            self._followed.remove(bare)
            return True
        if self._expected is not None and request.commit == self._expected:
            self._expected = None
            return True
        return self.attended

    async def _held(self, request: Request) -> bool:
        near = [held for held in self.waiting if _origin(held.request) == _origin(request)]
        if len(near) >= MOST_WAITING:
            return False
        self._count += 1
        held = Held(number=self._count, request=request, allowed=asyncio.get_running_loop().create_future())
        self._waiting[held.number] = held
        self.arrived.set()
        try:
            return await held.allowed
        finally:
            self._forget(held)

    def _forget(self, held: Held) -> None:
        self._waiting.pop(held.number, None)
        if not self._waiting:
            self.arrived.clear()

    # --- asked by the world

    @property
    def waiting(self) -> tuple[Held, ...]:
        return tuple(self._waiting.values())

    def holds(self, method: str, url: str) -> bool:
        return any((held.request.method, held.request.url) == (method, url) for held in self.waiting)

    def begin(self) -> None:
        """A new act: what was sent before is no longer of interest."""
        self.sent.clear()
        self._followed.clear()

    @contextmanager
    def expecting(self, commit: CommitSet) -> Generator[None]:
        """Inside, the one request that would send exactly this may leave, once; no other, and no other page is gone to."""
        self._expected = commit
        try:
            yield
        finally:
            self._expected = None

    def release(self, held: Sequence[Held]) -> None:
        self._decide(held, allowed=True)

    def drop(self, held: Sequence[Held]) -> None:
        self._decide(held, allowed=False)

    def _decide(self, several: Sequence[Held], *, allowed: bool) -> None:
        for held in several:
            self._forget(held)
            if not held.allowed.done():
                held.allowed.set_result(allowed)


def commit_of(held: Sequence[Held]) -> CommitSet:
    """Of all of them together. With several, each value says to which one it belongs."""
    if len(held) == 1:
        return held[0].request.commit
    commits = [each.request.commit for each in held]
    return CommitSet(
        address=" and ".join(commit.address for commit in commits),
        values=tuple((f"{i}: {name}", value) for i, one in enumerate(commits, start=1) for name, value in one.values),
    )


def _origin(request: Request) -> str:
    return "/".join(request.url.split("/", 3)[:3])
