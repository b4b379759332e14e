"""The sessions that a host has open: each with its world, fence, token and idle time."""

import asyncio
import hmac
import logging
import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager

from midcourse.ports.world import World
from midcourse.worlds.host.memory import ActMemory
from midcourse.worlds.host.registry import WorldRegistry
from midcourse.worlds.host.session import Session
from midcourse.worlds.host.wire import Listed, OpenAsk

log = logging.getLogger(__name__)


class KeyInUse(Exception):
    """Another session is open under this key."""


class NotOpened(Exception):
    """The world exists and did not open."""


class Full(Exception):
    """The host has reached its limit of sessions. A later request may find room."""


class Leaving(Exception):
    """The host accepts no new sessions."""


class Lease:
    """One session for as long as the host keeps it open."""

    def __init__(self, ask: OpenAsk, world: World, idle: float, memory: ActMemory) -> None:
        self.id = secrets.token_hex(8)
        self.token = secrets.token_urlsafe(32)
        self.ask = ask
        self.session = Session(world, memory, ask.key)
        self.over = asyncio.Event()
        self._idle = idle
        self._leaving = asyncio.Event()
        self._under_way = 0
        self._opened = self._asked = time.monotonic()

    @contextmanager
    def track_request(self) -> Generator[None]:
        """Count a request as under way, so that the session is not idle meanwhile."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self._asked = time.monotonic()

    def leave(self) -> None:
        self._leaving.set()

    async def wait_until_left(self) -> None:
        """Wait until a client closes it, or it has been idle for too long."""
        while (left := self._idle - self._idle_seconds()) > 0:
            try:
                async with asyncio.timeout(left):
                    await self._leaving.wait()
                    return
            except TimeoutError:
                continue
        log.info("%s for %r: no request in %g seconds", self.ask.world, self.ask.key, self._idle)

    def describe(self) -> Listed:
        return Listed(
            session=self.id,
            world=self.ask.world,
            key=self.ask.key,
            open_seconds=round(time.monotonic() - self._opened, 3),
            asked_seconds_ago=round(self._idle_seconds(), 3),
            epoch=self.session.epoch,
            acts=self.session.acts,
            closing=self.session.closed,
        )

    def _idle_seconds(self) -> float:
        return 0.0 if self._under_way else time.monotonic() - self._asked


class Sessions:
    """`idle` is the longest time that a session may be without a request, `most` the number that may be open at the same time.
    With `once`, no session is opened after the last one has ended. `memory` holds the irreversible acts of all sessions.
    """

    def __init__(
        self,
        worlds: WorldRegistry,
        *,
        idle: float,
        most: int = 1000,
        once: bool = False,
        memory: ActMemory | None = None,
    ) -> None:
        self._worlds = worlds
        self._memory = ActMemory() if memory is None else memory
        self._most = most
        self._idle = idle
        self._once = once
        self._by_key: dict[str, asyncio.Task[Lease]] = {}
        self._by_id: dict[str, Lease] = {}
        self._keepers: set[asyncio.Task[None]] = set()
        self._leaving = False
        self.opened = 0
        self.emptied = asyncio.Event()
        """Set whenever the last session has ended, or did not open."""

    def __len__(self) -> int:
        """Including those that are being opened."""
        return len(self._by_key)

    async def open(self, ask: OpenAsk) -> Lease:
        """The session under this key: opened now, or by an earlier request. Waits for one that is closing."""
        while (opening := self._by_key.get(ask.key)) is not None:
            lease = await asyncio.shield(opening)
            if not lease.session.closed:
                if (lease.ask.world, lease.ask.options) != (ask.world, ask.options):
                    raise KeyInUse(f"'{ask.key}' is a session of {lease.ask.world}, or one with other options")
                return lease
            await lease.over.wait()
        if self._leaving:
            raise Leaving("the host is stopping")
        if len(self) >= self._most:
            raise Full(f"the host has {self._most} sessions open, its limit; ask again later")
        opening = self._by_key[ask.key] = asyncio.create_task(self._begin(ask))
        return await asyncio.shield(opening)

    def find(self, session: str, token: str) -> Lease | None:
        """None for a missing session and for a wrong token alike, so that a client cannot tell which."""
        lease = self._by_id.get(session)
        known = hmac.compare_digest((lease.token if lease else "").encode(), token.encode())
        return lease if known else None

    def list(self) -> tuple[Listed, ...]:
        return tuple(lease.describe() for lease in self._by_id.values())

    async def close(self, lease: Lease, epoch: int) -> None:
        """Returns once the world is closed and the session gone."""
        lease.session.close(epoch)
        lease.leave()
        await lease.over.wait()

    async def end(self) -> None:
        """Close every world as soon as its act under way is over."""
        self._leaving = True
        for lease in self._by_id.values():
            lease.leave()
        await asyncio.gather(*self._by_key.values(), return_exceptions=True)
        await asyncio.gather(*self._keepers)

    async def _begin(self, ask: OpenAsk) -> Lease:
        try:
            world = await self._worlds.make(ask.world, ask.options, ask.key)
            try:
                await world.open()
            except Exception as error:
                raise NotOpened(f"{type(error).__name__}: {error}") from error
        except BaseException:
            self._forget(ask.key)
            raise
        lease = Lease(ask, world, min(self._idle, ask.idle or self._idle), self._memory)
        if self._leaving:
            lease.leave()
        self._by_id[lease.id] = lease
        self.opened += 1
        keeper = asyncio.create_task(self._keep(lease))
        self._keepers.add(keeper)
        keeper.add_done_callback(self._keepers.discard)
        log.info("%s is open for %r", ask.world, ask.key)
        return lease

    async def _keep(self, lease: Lease) -> None:
        """Close the world once the lease ends. One that does not close stays listed, because it may still act."""
        await lease.wait_until_left()
        try:
            await lease.session.end()
        except Exception:
            log.exception("%s for %r did not close properly", lease.ask.world, lease.ask.key)
        del self._by_id[lease.id]
        self._forget(lease.ask.key)
        lease.over.set()
        log.info("%s for %r is closed after %s acts", lease.ask.world, lease.ask.key, lease.session.acts)

    def _forget(self, key: str) -> None:
        del self._by_key[key]
        if not self._by_key:
            self._leaving = self._leaving or self._once
            self.emptied.set()
