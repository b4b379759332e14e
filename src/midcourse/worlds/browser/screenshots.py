"""Which looks get a picture, and where it is kept: under the hash of what it is."""

from typing import TYPE_CHECKING, Literal, TypeAlias

from midcourse.blobs import BlobFolder
from midcourse.errors import TaskInvalid
from midcourse.worlds.browser.tabs import Interrupted, Tab

if TYPE_CHECKING:
    from playwright.async_api import Page

When: TypeAlias = Literal["never", "on_change", "on_failure", "all"]

_HIDDEN = "input[type=password]"
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


async def shot(page: "Page") -> bytes:
    """A PNG of what is in view, without what is typed into password fields."""
    return await page.screenshot(mask=[page.locator(_HIDDEN)], timeout=1000 * _SECONDS)
