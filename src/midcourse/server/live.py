"""Live pictures of runs. All viewers of a run share its pictures, and none are taken without a viewer."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TypeAlias

from midcourse.ports.viewing import NotAttended, View
from midcourse.tenants.runs import TenantRuns

PERIOD = 0.5
"""The minimum number of seconds between two pictures of a run."""
REFRESH = 5.0
"""Seconds after which a picture is taken even if no change was noticed: animations and values set by scripts are not noticed."""


Look: TypeAlias = Callable[[str], Awaitable[View | None]]


@dataclass(frozen=True, kw_only=True)
class Frame:
    """The latest picture of a run. It is never stored."""

    number: str
    picture: bytes = field(repr=False)


class NotWatchable(Exception):
    """There is nothing to watch: the world is not open, has no pictures, or is out of reach."""


class LiveView:
    """The latest picture of one run, kept up to date while a viewer waits for the next one."""

    def __init__(self, look: Look, period: float = PERIOD) -> None:
        """Create the view. `look` takes a picture, given the stamp of the last one. It may raise `ConnectionError` or `NotAttended`."""
        self._ask = look
        self._period = period
        self._waiting = 0
        self._news = asyncio.Condition()
        self._frame: Frame | None = None
        self._why_not = ""
        self._stamp = ""
        self._taken_at = self._looked_at = -REFRESH
        self._task: asyncio.Task[None] | None = None

    @property
    def idle(self) -> bool:
        return not self._waiting and self._task is None

    async def next(self, after: str, seconds: float) -> Frame | None:
        """Wait until the latest picture differs from `after`, and return it; None if that takes too long. Raises `NotWatchable`."""
        self._waiting += 1
        self._why_not = ""
        if self._task is None:
            self._task = asyncio.create_task(self._keep_up(), name="live view")
        try:
            async with asyncio.timeout(seconds), self._news:
                await self._news.wait_for(lambda: self._why_not or (self._frame and self._frame.number != after))
        except TimeoutError:
            return None
        finally:
            self._waiting -= 1
        if self._why_not:  # pyrefly: ignore[redundant-condition]  # set while this waited
            raise NotWatchable(self._why_not)
        return self._frame

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _keep_up(self) -> None:
        try:
            await asyncio.sleep(max(0.0, self._looked_at + self._period - time.monotonic()))
            while self._waiting:
                self._looked_at = time.monotonic()
                await self._look()
                async with self._news:
                    self._news.notify_all()
                await asyncio.sleep(max(0.0, self._looked_at + self._period - time.monotonic()))
        finally:
            self._task = None

    async def _look(self) -> None:
        stale = time.monotonic() - self._taken_at > REFRESH
        try:
            seen = await self._ask("" if stale else self._stamp)
        except (ConnectionError, NotAttended) as trouble:
            self._why_not = str(trouble)
            return
        if seen is None:
            self._why_not = "this world has no pictures to watch"
            return
        if not seen.picture:
            return
        number = sha256(seen.picture).hexdigest()[:16]
        changing = self._frame is None or self._frame.number != number
        self._frame = Frame(number=number, picture=seen.picture)
        self._taken_at = time.monotonic()
        # Changes while this picture was taken show in the next one: as long as two pictures differ, no stamp is trusted.
        self._stamp = "" if changing else seen.stamp


class LiveViews:
    """The watched runs of all tenants."""

    def __init__(self) -> None:
        self._views: dict[tuple[str, str], LiveView] = {}

    def find_view(self, tenant: str, tenant_runs: TenantRuns, run_id: str) -> LiveView:
        for key in [key for key, view in self._views.items() if view.idle]:
            del self._views[key]
        return self._views.setdefault((tenant, run_id), LiveView(lambda since: tenant_runs.view(run_id, since)))

    async def close(self) -> None:
        for view in self._views.values():
            await view.close()
