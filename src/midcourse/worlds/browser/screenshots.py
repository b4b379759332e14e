"""Which looks get a picture, and where it is kept: under the hash of what it is."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

from midcourse.blobs import BlobFolder
from midcourse.domain.observation import Zone
from midcourse.errors import TaskInvalid
from midcourse.worlds.browser.frames import script
from midcourse.worlds.browser.tabs import Interrupted, Tab

if TYPE_CHECKING:
    from playwright.async_api import Page

When: TypeAlias = Literal["never", "on_change", "on_failure", "all"]

_HIDDEN = "input[type=password],[data-midcourse-secret]"
_GREY = "#d4d4d8"
_SECONDS = 10.0


class Screenshots:
    """`on_change`: the page is another one than in the last picture. `on_failure`: the last act did not work."""

    def __init__(self, when: When, blobs: str) -> None:
        if when != "never" and not blobs:
            raise TaskInvalid(f"screenshots = '{when}' needs a folder to keep them in: blobs")
        self._when: When = when
        self._blobs = BlobFolder(blobs)
        self._pictured = ""
        self.failed = False

    async def of(self, tab: Tab, fingerprint: str) -> str:
        """The digest of the picture that this look gets, or nothing."""
        if not self._wanted(fingerprint) or tab.interrupted:
            return ""
        from playwright.async_api import Error

        try:
            picture = await tab.doing(shot(tab.page))
        except (Interrupted, Error):  # a page that cannot be pictured can still be read
            return ""
        self._pictured, self.failed = fingerprint, False
        return await self._blobs.save(picture)

    def _wanted(self, fingerprint: str) -> bool:
        match self._when:
            case "never":
                return False
            case "on_change":
                return fingerprint != self._pictured
            case "on_failure":
                return self.failed
            case "all":
                return True


async def shot(page: "Page", *, whole: bool = False) -> bytes:
    """A PNG of what is in view, or of the whole page, without passwords, and without fields that a secret was typed into."""
    hidden = [frame.locator(_HIDDEN) for frame in page.frames]
    return await page.screenshot(mask=hidden, mask_color=_GREY, full_page=whole, timeout=1000 * _SECONDS)


async def drawn(tab: Tab, zones: Iterable[Zone], *, whole: bool = False) -> bytes:
    """The same with these zones drawn over it, each with its id; not those that something else lies over."""
    boxes = [(zone.id, zone.role, *zone.bounds) for zone in zones if zone.bounds and not zone.get("covered")]
    await tab.frames.run(script("overlay.js"))
    await tab.frames.ask("draw", boxes)
    try:
        return await shot(tab.page, whole=whole)
    finally:
        await tab.frames.ask("wipe")
