"""When is a page done with what an act set off? When its documents and its network have been quiet for a moment."""

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
"""Where answers are slow, so is news of requests: the quiet has to last this many times as long as an answer takes."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long the quiet has to last, and how long it is waited for, in seconds."""

    quiet: float = 0.1
    most: float = 5.0


def _nothing(_request: "Request") -> bool:
    return False


async def settle(tab: Tab, patience: Patience, ignored: "Callable[[Request], bool]" = _nothing) -> None:
    """Returns when the page is quiet, a dialog is open or the page is gone or silent; at the latest when patience ends.

    Requests that were on their way before the act, or that wait to be allowed, are `ignored`. A page whose network is
    quiet and whose documents never are (an animation) gets a second.
    """
    loop = asyncio.get_running_loop()
    begun = busy = loop.time()
    while not (tab.interrupted or tab.silent) and (left := begun + patience.most - loop.time()) > 0:
        asked = loop.time()
        still = await _still_for(tab, left)
        now = loop.time()
        quiet = max(patience.quiet, _SLOWNESS * (now - asked))
        loading = tab.frames.is_leaving or not all(map(ignored, tab.in_flight))
        if loading:
            busy = now
        still = min(still, now - begun, now - busy)
        if still >= quiet or now - busy > max(_MAX_RESTLESS, quiet):
            return
        await asyncio.sleep(_PAUSE if loading else max(quiet - still, 0.001))


async def _still_for(tab: Tab, within: float) -> float:
    """Seconds since the last change in any document; none while there is no document, or none that answers."""
    try:
        async with asyncio.timeout(within):
            return min(await tab.perform(tab.frames.ask_all("stillFor")), default=0.0) / 1000
    except (PageInterrupted, TimeoutError):
        return 0.0
