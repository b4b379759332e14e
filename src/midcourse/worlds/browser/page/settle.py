"""Waits until a page has settled after an act, that is, until its documents and its network are quiet for a moment."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from midcourse.worlds.browser.page.tabs import PageInterrupted, Tab

if TYPE_CHECKING:
    from playwright.async_api import Request

_PAUSE = 0.02
_MAX_RESTLESS = 1.0
_SLOWNESS = 4.0
"""The quiet must last this many times as long as an answer takes. If answers are slow, events of requests are late, too."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long the page must be quiet, and the maximum time to wait for that, in seconds."""

    quiet: float = 0.1
    most: float = 5.0


def _ignore_none(_request: "Request") -> bool:
    return False


async def settle(tab: Tab, patience: Patience, ignored: "Callable[[Request], bool]" = _ignore_none) -> None:
    """Wait until the page is quiet, closed or silent, or a dialog is open; at most as long as `patience` allows.

    Requests that began before the act or that are held are `ignored`. If the network is quiet and the documents never stop
    changing, as in an animation, the wait ends after a second.
    """
    loop = asyncio.get_running_loop()
    begun = busy = loop.time()
    while not (tab.interrupted or tab.silent) and (left := begun + patience.most - loop.time()) > 0:
        asked = loop.time()
        still = await _read_quiet_seconds(tab, left)
        now = loop.time()
        quiet = max(patience.quiet, _SLOWNESS * (now - asked))
        loading = tab.frames.is_leaving or not all(map(ignored, tab.in_flight))
        if loading:
            busy = now
        still = min(still, now - begun, now - busy)
        if still >= quiet or now - busy > max(_MAX_RESTLESS, quiet):
            return
        await asyncio.sleep(_PAUSE if loading else max(quiet - still, 0.001))


async def _read_quiet_seconds(tab: Tab, within: float) -> float:
    """Return the seconds since the last change in any document, or 0 if no document exists or answers."""
    try:
        async with asyncio.timeout(within):
            return min(await tab.perform(tab.frames.ask_all("stillFor")), default=0.0) / 1000
    except (PageInterrupted, TimeoutError):
        return 0.0
