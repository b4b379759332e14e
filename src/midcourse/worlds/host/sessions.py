"""The sessions that a host has open: each with a world, a fence, a token and an idle time of its own."""

import asyncio
import hmac
import logging
import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager

from midcourse.ports.world import World
from midcourse.worlds.host.registry import Menu
from midcourse.worlds.host.session import Session
from midcourse.worlds.host.wire import Listed, OpenAsk

log = logging.getLogger(__name__)


class KeyInUse(Exception):
    """There is a session under this key, and it is not the one that was asked for."""


class NotOpened(Exception):
    """The world exists and did not open."""


class Full(Exception):
    """The host has reached its limit of sessions. A later request may find room."""


class Leaving(Exception):
    """The host accepts no new sessions."""


class Stay:
    """One session for as long as it is in the host."""

    def __init__(self, ask: OpenAsk, world: World, idle: float) -> None:
        self.id = secrets.token_hex(8)
        self.token = secrets.token_urlsafe(32)
        self.ask = ask
        self.session = Session(world)
        self.over = asyncio.Event()
        self._idle = idle
        self._leaving = asyncio.Event()
        self._under_way = 0
        self._opened = self._asked = time.monotonic()

    @contextmanager
    def asked(self) -> Generator[None]:
        """A request is under way."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self._asked = time.monotonic()

    def leave(self) -> None:
        self._leaving.set()

    async def until_left(self) -> None:
        """Until somebody closed it, or nobody asked for anything for as long as that may be."""
        while (left := self._idle - self._idle_seconds()) > 0:
            try:
                async with asyncio.timeout(left):
                    await self._leaving.wait()
                    return
            except TimeoutError:
                continue
        log.info("%s for %r: nobody asked for anything in %g seconds", self.ask.world, self.ask.key, self._idle)

    def listed(self) -> Listed:
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
    """`idle` is the longest that any session may go without a request, `most` the number of them that may be open at a time. With
    `once`, the last one to end is the last.
    """

    def __init__(self, menu: Menu, *, idle: float, most: int = 1000, once: bool = False) -> None:
        self._menu = menu
        self._most = most
        self._idle = idle
        self._once = once
        self._by_key: dict[str, asyncio.Task[Stay]] = {}
        self._by_id: dict[str, Stay] = {}
        self._keepers: set[asyncio.Task[None]] = set()
        self._leaving = False
        self.opened = 0
        self.emptied = asyncio.Event()
        """Set whenever the last session has ended, or did not open."""

    def __len__(self) -> int:
        """Those that are just being opened count, too."""
        return len(self._by_key)

    async def open(self, ask: OpenAsk) -> Stay:
        """The session under this key: opened now, or by whoever came first. One that is closing is waited for."""
        while (opening := self._by_key.get(ask.key)) is not None:
            stay = await asyncio.shield(opening)
            if not stay.session.closed:
                if (stay.ask.world, stay.ask.options) != (ask.world, ask.options):
                    raise KeyInUse(f"'{ask.key}' is a session of {stay.ask.world}, or one with other options")
                return stay
            await stay.over.wait()
        if self._leaving:
            raise Leaving("the host is about to go")
        if len(self) >= self._most:
            raise Full(f"the host has {self._most} sessions open, which is as many as it may; ask again later")
        opening = self._by_key[ask.key] = asyncio.create_task(self._begin(ask))
        return await asyncio.shield(opening)

    def find(self, session: str, token: str) -> Stay | None:
        """Whether the session is not there or the token is not its own, nobody can tell."""
        stay = self._by_id.get(session)
        known = hmac.compare_digest((stay.token if stay else "").encode(), token.encode())
        return stay if known else None

    def listed(self) -> tuple[Listed, ...]:
        return tuple(stay.listed() for stay in self._by_id.values())

    async def close(self, stay: Stay, epoch: int) -> None:
        """Returns once the world is closed and the session gone."""
        stay.session.close(epoch)
        stay.leave()
        await stay.over.wait()

    async def end(self) -> None:
        """Close every world as soon as its act under way is over."""
        self._leaving = True
        for stay in self._by_id.values():
            stay.leave()
        await asyncio.gather(*self._by_key.values(), return_exceptions=True)
        await asyncio.gather(*self._keepers)

    async def _begin(self, ask: OpenAsk) -> Stay:
        try:
            world = await self._menu.make(ask.world, ask.options, ask.key)
            try:
                await world.open()
            except Exception as error:
                raise NotOpened(f"{type(error).__name__}: {error}") from error
        except BaseException:
            self._forget(ask.key)
            raise
        stay = Stay(ask, world, min(self._idle, ask.idle or self._idle))
        if self._leaving:
            stay.leave()
        self._by_id[stay.id] = stay
        self.opened += 1
        keeper = asyncio.create_task(self._keep(stay))
        self._keepers.add(keeper)
        keeper.add_done_callback(self._keepers.discard)
        log.info("%s is open for %r", ask.world, ask.key)
        return stay

    async def _keep(self, stay: Stay) -> None:
        """A world that does not close stays in the list: it may still act, and nobody must believe it gone."""
        await stay.until_left()
        try:
            await stay.session.end()
        except Exception:
            log.exception("%s for %r did not close properly", stay.ask.world, stay.ask.key)
        del self._by_id[stay.id]
        self._forget(stay.ask.key)
        stay.over.set()
        log.info("%s for %r is closed after %s acts", stay.ask.world, stay.ask.key, stay.session.acts)

    def _forget(self, key: str) -> None:
        del self._by_key[key]
        if not self._by_key:
            self._leaving = self._leaving or self._once
            self.emptied.set()
