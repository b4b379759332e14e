"""Keeps the storage of parked sessions, which a host has closed while their runs wait.

The next session under the same key begins with this storage. It can be used to sign in, so it stays in this process and is
forgotten after a time.
"""

import asyncio
from dataclasses import dataclass

from midcourse.worlds.host.wire import OpenAsk

MOST_CHARACTERS = 64 * 2**20
"""The maximum number of characters of all that is kept. The oldest is forgotten first."""


@dataclass(frozen=True)
class Parked:
    ask: OpenAsk
    stored: str
    expiry: asyncio.TimerHandle


class ParkedSessions:
    """The storage of parked sessions, by key, oldest first."""

    def __init__(self, most: int = MOST_CHARACTERS) -> None:
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
