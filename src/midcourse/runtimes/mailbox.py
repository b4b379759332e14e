"""The mailbox of a driver: answers of commands, and messages that other processes posted, which go first."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from midcourse.containment import Contained
from midcourse.domain.events import Event
from midcourse.domain.replace import replace
from midcourse.ports.clock import Clock
from midcourse.ports.controls import Inbox
from midcourse.ports.driving import Claim

LISTEN_SECONDS = 0.25
"""Seconds between two polls of the inbox."""

Retry = Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]
"""Calls the store until it can be reached."""


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """An event to be decided."""

    event: Event
    message: int = 0
    """Its number, if it is a message."""
    recovers: bool = False
    """Whether it answers a command of an earlier driver. Such events are decided before messages."""


class _Posted:
    """A marker in the queue: the inbox may have messages."""


class Mailbox:
    """Events in the order in which they are decided: recovery, messages, then everything else as it arrives."""

    def __init__(self, inbox: Inbox, claim: Claim, clock: Clock, retry: Retry) -> None:
        self._inbox = inbox
        self._run_id = claim.run
        self._clock = clock
        self._retry = retry
        self._queue: asyncio.Queue[Arrival | _Posted | BaseException] = asyncio.Queue()
        self._first: deque[Arrival] = deque()
        self.known = claim.decided
        """The number of the last message that was read."""

    def put(self, event: Event) -> None:
        self._queue.put_nowait(Arrival(event=event))

    def fail(self, bug: BaseException) -> None:
        """Have `receive` raise this."""
        self._queue.put_nowait(bug)

    def ring(self) -> None:
        """Have `receive` read the inbox, since it may have messages."""
        self._queue.put_nowait(_Posted())

    def is_empty(self) -> bool:
        return not self._first and self._queue.empty()

    async def recover(self, events: tuple[Event, ...]) -> None:
        """Queue these events first, then the messages that no driver has decided.

        They get the time of the first message at the latest: an answer that was accepted before its question expired must
        not be decided after that.
        """
        await self.read()
        times = [arrival.event.at for arrival in self._first if arrival.event.at]
        at = min([self._clock.now(), *times])
        self._first.extendleft(Arrival(event=replace(event, at=at), recovers=True) for event in reversed(events))

    async def receive(self) -> Arrival:
        """Wait for the next event. It is stamped with the time."""
        while not self._first:
            arrival = await self._queue.get()
            if isinstance(arrival, BaseException):
                raise arrival
            if isinstance(arrival, _Posted):
                await self.read()
            else:
                self._first.append(arrival)
        arrival = self._first.popleft()
        if arrival.event.at:
            return arrival
        return replace(arrival, event=replace(arrival.event, at=self._clock.now()))

    async def read(self) -> None:
        """Read new messages, and queue them before everything except recovery."""
        messages = await self._retry(lambda: self._inbox.messages(self._run_id, self.known))
        earlier = [arrival for arrival in self._first if arrival.message or arrival.recovers]
        later = [arrival for arrival in self._first if not (arrival.message or arrival.recovers)]
        new = (Arrival(event=message.event, message=message.number) for message in messages)
        self._first = deque([*earlier, *new, *later])
        if messages:
            self.known = messages[-1].number

    async def put_back(self, arrival: Arrival) -> None:
        """Queue an event again, after the messages that were accepted before it."""
        self._first.appendleft(arrival)
        await self.read()

    async def listen(self) -> None:
        """Poll the inbox until cancelled. If the store cannot be reached, the next poll tries again; after another error `receive` raises it."""
        while True:
            await asyncio.sleep(LISTEN_SECONDS)
            try:
                async with Contained():
                    posted = await self._inbox.messages(self._run_id, self.known)
            except ConnectionError:
                continue
            except Exception as bug:
                self.fail(bug)
                return
            if posted:
                self.ring()
