"""Takes screenshots of observations, with secrets covered, and keeps them by the hash of their content."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, TypeAlias

from midcourse.domain.observation import Zone
from midcourse.pictures import LatestPictures, When
from midcourse.worlds.browser.page.frames import DocumentGone, Frames, script
from midcourse.worlds.browser.page.redaction import Places, SecretLocator
from midcourse.worlds.browser.page.tabs import PageInterrupted, Tab

if TYPE_CHECKING:
    from playwright.async_api import Page

View: TypeAlias = tuple[object, ...]
"""Which document a tab shows, and how far it is scrolled."""
_VIEW = "[performance.timeOrigin, scrollX, scrollY, innerWidth, innerHeight]"

_HIDDEN = "input[type=password],[data-midcourse-secret]"
_GREY = "#d4d4d8"
_SECONDS = 10.0
_TRIES = 3


class ScreenshotRefused(Exception):
    """A screenshot was not taken because the page did not stop changing, so it might have shown a secret."""


class Screenshots(LatestPictures):
    """Screenshots of the pages that were observed."""

    def __init__(self, when: When, secrets: SecretLocator) -> None:
        super().__init__(when)
        self._secrets = secrets
        self._view: View | None = None

    async def is_current(self, tab: Tab) -> bool:
        """Whether positions in the last screenshot are still those of the page, which is the same document and was not scrolled."""
        return self._view is not None and self._view == await read_view(tab)

    async def take(self, tab: Tab, fingerprint: str) -> str:
        """Take a screenshot if this observation gets one. Return its digest, or an empty string."""
        if not self.is_wanted(fingerprint) or tab.interrupted or tab.silent:
            return ""
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(_TRIES * _SECONDS):
                self._view = await read_view(tab)
                picture = await tab.perform(take_screenshot(tab, self._secrets))
        except (
            PageInterrupted,
            Error,
            DocumentGone,
            ScreenshotRefused,
            TimeoutError,
        ):  # a page can still be read if no screenshot of it can be taken
            return ""
        return await self.keep(picture, fingerprint)


async def read_view(tab: Tab) -> View:
    return tab.number, *await tab.query(tab.frames.run(_VIEW))


async def take_screenshot(
    tab: Tab, secrets: SecretLocator, *, whole: bool = False, quality: int | None = None
) -> bytes:
    """Take a screenshot of the visible part or the whole page, as a PNG or as a JPEG of this quality.

    Passwords, fields with typed secrets, and secrets that are shown are covered. Raise `ScreenshotRefused` if the page changes
    while they are being covered.
    """
    if not secrets:
        return await _take_screenshot(tab.page, whole, quality)
    for _ in range(_TRIES):
        places = await secrets.find_places(tab.frames)
        async with _cover_secrets(tab.frames, places):
            picture = await _take_screenshot(tab.page, whole, quality)
            if await _is_all_covered(tab.frames, places) and await secrets.find_places(tab.frames) == places:
                return picture
    raise ScreenshotRefused(tab.page.url)


async def take_uncovered(tab: Tab, quality: int) -> bytes:
    """Take a JPEG of the visible part as it is, with secrets and the text cursor."""
    return await tab.page.screenshot(type="jpeg", quality=quality, caret="initial", timeout=1000 * _SECONDS)


async def _take_screenshot(page: "Page", whole: bool, quality: int | None) -> bytes:
    hidden = [frame.locator(_HIDDEN) for frame in page.frames]
    return await page.screenshot(
        mask=hidden,
        mask_color=_GREY,
        full_page=whole,
        timeout=1000 * _SECONDS,
        type="jpeg" if quality else "png",
        quality=quality,
    )


@asynccontextmanager
async def _cover_secrets(frames: Frames, places: Places) -> AsyncGenerator[None]:
    """Cover these places while this context is open. Raise `DocumentGone` if a document cannot be covered."""

    async def cover(frame: str) -> None:
        await frames.run(script("cover.js"), frame=frame)
        await frames.ask("cover", places[frame], frame=frame)

    async def uncover(frame: str) -> None:
        with suppress(DocumentGone):
            await frames.ask("uncover", frame=frame)

    try:
        await asyncio.gather(*map(cover, places))
        yield
    finally:
        await asyncio.gather(*map(uncover, places))


async def _is_all_covered(frames: Frames, places: Places) -> bool:
    """Whether all covers are still there, since a page may remove elements that it did not make."""
    return all(await asyncio.gather(*(frames.ask("isCovered", frame=frame) for frame in places)))


async def draw_zones(tab: Tab, zones: Iterable[Zone], secrets: SecretLocator, *, whole: bool = False) -> bytes:
    """Take a screenshot and draw these zones and their ids over it, except zones that are covered."""
    boxes = [(zone.id, zone.role, *zone.bounds) for zone in zones if zone.bounds and not zone.get("covered")]
    await tab.frames.run(script("overlay.js"))
    await tab.frames.ask("draw", boxes)
    try:
        return await take_screenshot(tab, secrets, whole=whole)
    finally:
        await tab.frames.ask("wipe")
