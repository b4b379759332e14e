"""When is a page done with what an act set off? When its document and its network have been quiet for a moment."""

import asyncio
from dataclasses import dataclass

from midcourse.worlds.browser.frames import Gone
from midcourse.worlds.browser.tabs import Interrupted, Tab

_PAUSE = 0.02
_MOST_RESTLESS = 1.0


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long the quiet has to last, and how long it is waited for, in seconds."""

    quiet: float = 0.1
    most: float = 5.0


async def settle(tab: Tab, patience: Patience) -> None:
    """Returns when the page is quiet, a dialog is open or the page is gone; at the latest when patience ends.

    A page whose network is quiet and whose document never is (an animation) gets a second.
    """
    loop = asyncio.get_running_loop()
    begun = idle_since = loop.time()
    while not tab.interrupted and loop.time() - begun < patience.most:
        now = loop.time()
        if tab.in_flight:
            idle_since = now
        still = min(await _still_for(tab), now - begun)
        waits = max(patience.quiet - still, patience.quiet - (now - idle_since))
        if waits <= 0 or now - idle_since > max(_MOST_RESTLESS, patience.quiet):
            return
        await asyncio.sleep(min(max(waits, 0.001), _PAUSE if tab.in_flight else patience.quiet))


async def _still_for(tab: Tab) -> float:
    """Seconds since the last change of the document; none while there is no document."""
    try:
        return float(await tab.doing(tab.frames.ask("stillFor"))) / 1000
    except (Gone, Interrupted):
        return 0.0
