"""Takes screenshots of observations, with secrets covered, and keeps them by the hash of their content.

The places of secrets are found in Chromium's layout, in any encoding, so secrets never enter the page. Text is found wherever it
comes from: shadow roots, frames, style sheets, capitals made by a style, one letter per element. Images, canvases and videos have
no text; they are covered only if their attributes contain the secret.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from midcourse.domain.observation import Zone
from midcourse.pictures import LatestPictures, When
from midcourse.redact import Redactor
from midcourse.worlds.browser.page.frames import DocumentGone, Frames, script
from midcourse.worlds.browser.page.tabs import PageInterrupted, Tab

if TYPE_CHECKING:
    from playwright.async_api import Page


Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, width and height, relative to the document."""
Places: TypeAlias = Mapping[str, tuple[Box, ...]]
"""Boxes to cover, by frame."""

_WITHOUT_TEXT = frozenset(
    ("INPUT", "TEXTAREA", "SELECT", "IMG", "IMAGE", "CANVAS", "VIDEO", "OBJECT", "EMBED", "IFRAME", "FRAME", "METER")
)
"""Elements that have no text in the layout. They are searched by their attributes and covered whole."""
_IN_LIST = ("OPTION", "OPTGROUP")
Viewport: TypeAlias = tuple[object, ...]
"""Which document a tab shows, and how far it is scrolled."""
_VIEWPORT = "[performance.timeOrigin, scrollX, scrollY, innerWidth, innerHeight]"

_HIDDEN = "input[type=password],[data-midcourse-secret]"
_GREY = "#d4d4d8"
_SECONDS = 10.0
_TRIES = 3


class SecretLocator:
    """Knows the secrets of one session, and finds them on pages."""

    def __init__(self) -> None:
        self._secrets: dict[str, str] = {}
        self._redactor = Redactor(())

    def add(self, secrets: Iterable[tuple[str, str]]) -> None:
        known = {**self._secrets, **dict(secrets)}
        if known != self._secrets:
            self._secrets = known
            self._redactor = Redactor(known.items(), on_screen=True)

    def __bool__(self) -> bool:
        return bool(self._secrets)

    def redact(self, text: str) -> str:
        """Return the text with secrets replaced by their names."""
        return self._redactor(text)

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(self._secrets.values())

    async def find_places(self, frames: Frames) -> Places:
        """Find the boxes to cover in all documents that show a secret. Raise `DocumentGone` if a document is gone."""
        found: dict[str, tuple[Box, ...]] = {}
        for snapshot in await frames.read_layout():
            for written in snapshot["documents"]:
                document = _Document(written, snapshot["strings"])
                if boxes := tuple(self._find_in(document)):
                    found[document.frame] = boxes
        return found

    def _find_in(self, document: "_Document") -> Iterator[Box]:
        # The text of all elements is searched as one, since a secret may be spread over several.
        runs = list(document.runs())
        spans = list(self._redactor.places("".join(run.text for run in runs)))
        at = 0
        for run in runs:
            for box, begin, end in run.boxes:
                if any(at + begin < last and first < at + end for first, last in spans):
                    yield box
            at += len(run.text)
        for words, box in document.elements_without_text():
            if any(self._redactor.places(words)):
                yield box


@dataclass(frozen=True)
class _Run:
    """A piece of text, and the boxes it is laid out in, each with its range of the text."""

    text: str
    boxes: Sequence[tuple[Box, int, int]]


class _Document:
    """One document of `DOMSnapshot.captureSnapshot`, in which every text is an index into a table of strings."""

    def __init__(self, written: Mapping[str, Any], strings: Sequence[str]) -> None:
        self._strings = strings
        self._nodes = written["nodes"]
        self._layout = written["layout"]
        self._boxes = written["textBoxes"]
        self.frame = self._text(written["frameId"])

    def runs(self) -> Iterator[_Run]:
        of: dict[int, list[tuple[Box, int, int]]] = {}
        texts: list[int] = self._layout["text"]
        boxes, indexes = self._boxes, enumerate[int](self._boxes["layoutIndex"])
        for at, index in indexes:
            text, start = self._text(texts[index]), boxes["start"][at]
            place = (_count_characters(text, start), _count_characters(text, start + boxes["length"][at]))
            of.setdefault(index, []).append((_box(boxes["bounds"][at]), *place))
        for index, text in enumerate(texts):
            if text >= 0:
                yield _Run(self._text(text), of.get(index, ()))

    def elements_without_text(self) -> Iterator[tuple[str, Box]]:
        """Yield the attribute texts and boxes of elements without text."""
        bounds = dict(zip(self._layout["nodeIndex"], self._layout["bounds"], strict=True))
        names = self._nodes["nodeName"]
        for node, said in self._list_attribute_texts().items():
            if node in bounds and self._text(names[node]).upper() in _WITHOUT_TEXT:
                yield "\n".join(said), _box(bounds[node])

    def _list_attribute_texts(self) -> dict[int, list[str]]:
        """Return the attributes and values of each node, and for a list those of its options."""
        nodes, attributes = self._nodes, enumerate[list[int]](self._nodes["attributes"])
        words = {node: [self._text(at) for at in pairs[1::2]] for node, pairs in attributes}
        for kind in ("inputValue", "textValue"):
            for node, value in zip(nodes[kind]["index"], nodes[kind]["value"], strict=True):
                words[node].append(self._text(value))
        names, values = [self._text(at) for at in nodes["nodeName"]], nodes["nodeValue"]
        parents: list[int] = nodes["parentIndex"]
        for node, parent in reversed(list(enumerate(parents))):  # children come after their parents
            if names[node] in _IN_LIST:
                words[parent] += words[node]
            elif parent >= 0 and names[parent] in _IN_LIST and values[node] >= 0:
                words[parent].append(self._text(values[node]))
        return words

    def _text(self, at: int) -> str:
        return self._strings[at]


def _box(bounds: Sequence[float]) -> Box:
    left, top, width, height = bounds
    return left, top, width, height


def _count_characters(text: str, units: int) -> int:
    """Convert UTF-16 units, in which JavaScript counts, to characters."""
    return units if text.isascii() else len(text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", errors="ignore"))


class ScreenshotRefused(Exception):
    """A screenshot was not taken because the page did not stop changing, so it might have shown a secret."""


class Screenshots(LatestPictures):
    """Screenshots of the pages that were observed."""

    def __init__(self, when: When, secrets: SecretLocator) -> None:
        super().__init__(when)
        self._secrets = secrets
        self._viewport: Viewport | None = None

    async def is_current(self, tab: Tab) -> bool:
        """Whether positions in the last screenshot are still those of the page, which is the same document and was not scrolled."""
        return self._viewport is not None and self._viewport == await read_viewport(tab)

    async def take(self, tab: Tab, fingerprint: str) -> str:
        """Take a screenshot if this observation gets one. Return its digest, or an empty string."""
        if not self.is_wanted(fingerprint) or tab.interrupted or tab.silent:
            return ""
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(_TRIES * _SECONDS):
                self._viewport = await read_viewport(tab)
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


async def read_viewport(tab: Tab) -> Viewport:
    return tab.number, *await tab.query(tab.frames.run(_VIEWPORT))


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
            # A page may remove elements that it did not make, or show the secret at another place meanwhile.
            covered = await asyncio.gather(*(tab.frames.ask("isCovered", frame=frame) for frame in places))
            if all(covered) and await secrets.find_places(tab.frames) == places:
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


async def draw_zones(tab: Tab, zones: Iterable[Zone], secrets: SecretLocator, *, whole: bool = False) -> bytes:
    """Take a screenshot and draw these zones and their ids over it, except zones that are covered."""
    boxes = [(zone.id, zone.role, *zone.bounds) for zone in zones if zone.bounds and not zone.get("covered")]
    await tab.frames.run(script("overlay.js"))
    await tab.frames.ask("draw", boxes)
    try:
        return await take_screenshot(tab, secrets, whole=whole)
    finally:
        await tab.frames.ask("wipe")
