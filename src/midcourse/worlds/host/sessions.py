"""The sessions that a host has open, each with its world, fence, token and idle time, and the storage of those that it has parked.

A parked session is closed while its run waits. The next one under the same key begins with its storage, which can be used to sign in,
so it stays in this process and is forgotten after a time.
"""

import asyncio
import hmac
import logging
import secrets
import time
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from midcourse.containment import Contained
from midcourse.ports.abilities import offers
from midcourse.ports.world import Parkable, World
from midcourse.worlds.host.memory import ActMemory
from midcourse.worlds.host.registry import WorldRegistry
from midcourse.worlds.host.session import Session
from midcourse.worlds.host.wire import Listed, OpenAsk

log = logging.getLogger(__name__)

WAITS_FOR_ROOM = 5.0
"""Seconds that a request for a session waits at a full host, in order of arrival, before the client has to ask again."""
MOST_PARKED = 64 * 2**20
"""The maximum number of characters of all storage of parked sessions. The oldest is forgotten first."""


class KeyInUse(Exception):
    """Another session is open under this key."""


class NotOpened(Exception):
    """The world exists, but did not open."""


class Full(Exception):
    """The host has reached its limit of sessions. A later request may find room."""


class Leaving(Exception):
    """The host accepts no new sessions."""


class Lease:
    """A session and how long the host keeps it open."""

    def __init__(self, ask: OpenAsk, world: World, idle: float, park: float, memory: ActMemory) -> None:
        self.id = secrets.token_hex(8)
        self.token = secrets.token_urlsafe(32)
        self.ask = ask
        self.session = Session(world, memory, ask.key)
        self.over = asyncio.Event()
        self._idle = idle
        self._park = park if offers(world, Parkable) else idle
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

    async def wait_until_left(self) -> str | None:
        """Wait until a client closes the session, its world is lost, or it was not used for too long.

        If the session is parked, return the storage that the next session under this key begins with.
        """
        pause = limit = min(self._idle, self._park)
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._leaving.wait()
                    return None
            unused = self._count_idle_seconds()
            if unused >= self._idle:
                log.info("%s for %r: no request in %g seconds", self.ask.world, self.ask.key, self._idle)
                return None
            if unused >= limit:
                stored = await self._park_world()
                if stored is not None and self._count_idle_seconds() >= limit:  # no request came meanwhile
                    log.info("%s for %r is parked: no request in %g seconds", self.ask.world, self.ask.key, limit)
                    return stored
                unused = 0.0
            pause = min(limit - unused, self._idle - self._count_idle_seconds())

    @property
    def idle_left(self) -> float:
        """Seconds until the session counts as unused for too long."""
        return max(0.0, self._idle - self._count_idle_seconds())

    async def _park_world(self) -> str | None:
        try:
            async with Contained(keeps_process=True):
                return await self.session.park()
        except Exception:
            log.exception("%s for %r cannot be parked", self.ask.world, self.ask.key)
            return None

    async def watch(self) -> None:
        """End the session once the world is lost. The next request then finds no session, and its run opens another one."""
        await self.session.wait_until_lost()
        log.warning("%s for %r has ended by itself", self.ask.world, self.ask.key)
        self.leave()

    def describe(self) -> Listed:
        return Listed(
            session=self.id,
            world=self.ask.world,
            key=self.ask.key,
            open_seconds=round(time.monotonic() - self._opened, 3),
            asked_seconds_ago=round(self._count_idle_seconds(), 3),
            epoch=self.session.epoch,
            acts=self.session.acts,
            closing=self.session.closed,
        )

    def _count_idle_seconds(self) -> float:
        return 0.0 if self._under_way else time.monotonic() - self._asked


@dataclass(frozen=True)
class Parked:
    ask: OpenAsk
    stored: str
    expiry: asyncio.TimerHandle


class ParkedSessions:
    """The storage of parked sessions, by key, oldest first."""

    def __init__(self, most: int = MOST_PARKED) -> None:
        self._most = most
        self._kept: dict[str, Parked] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, ask: OpenAsk, stored: str, seconds: float) -> None:
        """Keep this storage for the next session under this key, at most for this time."""
        self._forget(ask.key)
        expiry = asyncio.get_running_loop().call_later(seconds, self._forget, ask.key)
        self._kept[ask.key] = Parked(ask, stored, expiry)
        while sum(len(parked.stored) for parked in self._kept.values()) > self._most:
            self._forget(next(iter(self._kept)))

    def take(self, ask: OpenAsk) -> str | None:
        """Remove and return the storage of the last session under this key, if that was of the same world with the same options."""
        parked = self._forget(ask.key)
        same = parked is not None and (parked.ask.world, parked.ask.options) == (ask.world, ask.options)
        return parked.stored if parked and same else None

    def clear(self) -> None:
        for key in [*self._kept]:
            self._forget(key)

    def _forget(self, key: str) -> Parked | None:
        parked = self._kept.pop(key, None)
        if parked is not None:
            parked.expiry.cancel()
        return parked


class Sessions:
    """The sessions of a host.

    `idle` is the longest time, in seconds, that a session may be without a request. After `park` seconds without a request, a world
    that can be parked is closed, and its storage is kept for the rest of `idle`. `most` is the number of sessions that may be open at
    the same time. With `once`, no session is opened after the last one has ended. `memory` holds the irreversible acts of all sessions.
    """

    def __init__(
        self,
        worlds: WorldRegistry,
        *,
        idle: float,
        park: float | None = None,
        most: int = 1000,
        once: bool = False,
        memory: ActMemory | None = None,
    ) -> None:
        self._worlds = worlds
        self._memory = ActMemory() if memory is None else memory
        self._most = most
        self._idle = idle
        self._park = idle if park is None else park
        self._parked = ParkedSessions()
        self._waiting_for_room: deque[asyncio.Future[None]] = deque()
        self._promised = 0
        """The number of requests that have got room and have not opened their session yet."""
        self._once = once
        self._by_key: dict[str, asyncio.Task[Lease]] = {}
        self._by_id: dict[str, Lease] = {}
        self._keepers: set[asyncio.Task[None]] = set()
        self._leaving = False
        self.opened = 0
        self.emptied = asyncio.Event()
        """Set when the last session has ended, or did not open."""

    def __len__(self) -> int:
        """Return the number of sessions, including those that are being opened."""
        return len(self._by_key)

    @property
    def parked(self) -> int:
        """The number of parked sessions: closed, with their storage kept for the next session."""
        return len(self._parked)

    @property
    def waiting(self) -> int:
        """The number of requests for a session that wait for room."""
        return len(self._waiting_for_room)

    async def open(self, ask: OpenAsk) -> Lease:
        """Open a session, or return the one that an earlier request opened under this key.

        If the session under this key is closing, or the host is full, wait.
        """
        until = time.monotonic() + WAITS_FOR_ROOM
        while (lease := await self._find_open(ask)) is None:
            if self._leaving:
                raise Leaving("the host is stopping")
            if len(self) + self._promised < self._most:
                opening = self._by_key[ask.key] = asyncio.create_task(self._begin(ask))
                return await asyncio.shield(opening)
            await self._wait_for_room(until - time.monotonic())
        return lease

    async def _find_open(self, ask: OpenAsk) -> Lease | None:
        while (opening := self._by_key.get(ask.key)) is not None:
            lease = await asyncio.shield(opening)
            if not lease.session.closed:
                if (lease.ask.world, lease.ask.options) != (ask.world, ask.options):
                    raise KeyInUse(f"'{ask.key}' is a session of {lease.ask.world}, or one with other options")
                return lease
            await lease.over.wait()
        return None

    async def _wait_for_room(self, seconds: float) -> None:
        """Wait until the host may open another session. Raise `Full` if no session ends in time."""
        room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting_for_room.append(room)
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                await room
            self._promised -= 1
        except BaseException as left:
            if room.done() and not room.cancelled():
                self._promised -= 1
                self._make_room()
            else:
                self._waiting_for_room.remove(room)
            if isinstance(left, TimeoutError):
                raise Full(f"the host has {self._most} sessions open, its limit; ask again later") from None
            raise

    def _make_room(self) -> None:
        """Let the first waiting request continue."""
        if self._waiting_for_room:
            self._promised += 1
            self._waiting_for_room.popleft().set_result(None)

    def find(self, session: str, token: str) -> Lease | None:
        """Find a session. Return None both if there is none and if the token is wrong, so that a client cannot tell which."""
        lease = self._by_id.get(session)
        known = hmac.compare_digest((lease.token if lease else "").encode(), token.encode())
        return lease if known else None

    def list(self) -> tuple[Listed, ...]:
        return tuple(lease.describe() for lease in self._by_id.values())

    async def close(self, lease: Lease, epoch: int) -> None:
        """Close a session. Return when its world is closed and the session is gone."""
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
        self._parked.clear()

    async def _begin(self, ask: OpenAsk) -> Lease:
        try:
            world = await self._worlds.make(ask.world, ask.options, ask.key)
            stored = self._parked.take(ask)
            if stored is not None and offers(world, Parkable):
                world.unpark(stored)
            try:
                async with Contained(keeps_process=True):
                    await world.open()
            except Exception as error:
                raise NotOpened(f"{type(error).__name__}: {error}") from error
        except BaseException:
            self._forget(ask.key)
            raise
        lease = Lease(ask, world, min(self._idle, ask.idle or self._idle), self._park, self._memory)
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
        """Close the world once the lease ends. A world that does not close stays listed, because it may still act."""
        watching = asyncio.create_task(lease.watch())
        stored = await lease.wait_until_left()
        watching.cancel()
        try:
            async with Contained(keeps_process=True):
                await lease.session.end()
        except Exception:
            log.exception("%s for %r did not close properly", lease.ask.world, lease.ask.key)
        if stored is not None:
            self._parked.keep(lease.ask, stored, lease.idle_left)
        del self._by_id[lease.id]
        self._forget(lease.ask.key)
        lease.over.set()
        log.info("%s for %r is closed after %s acts", lease.ask.world, lease.ask.key, lease.session.acts)

    def _forget(self, key: str) -> None:
        del self._by_key[key]
        self._make_room()
        if not self._by_key:
            self._leaving = self._leaving or self._once
            self.emptied.set()
