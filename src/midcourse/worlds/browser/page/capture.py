"""Captures a page as zones. It asks the scripts in all frames of the page and joins their answers."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any
from urllib.parse import urldefrag

from midcourse.domain.argument import Pairs, Scalar
from midcourse.domain.observation import Viewer, Zone
from midcourse.worlds.base import Scene
from midcourse.worlds.browser.egress.address import read_origin
from midcourse.worlds.browser.page.frames import DocumentGone, DocumentSilent, Frames, pause_gc
from midcourse.worlds.browser.page.tabs import DownloadedFile, PageInterrupted, Tab, Tabs

_UNSEEN = (("seen", False),)


class Capture:
    """Observes the tabs of a session. Ids of zones are never reused, so a step that was planned for one page cannot hit another."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}
        self._looks: dict[str, _LastLook] = {}
        """The last look at each frame, by its name."""

    async def look(self, tabs: Tabs) -> Scene:
        tab = tabs.front
        around = (
            *[await _tab_zone(other) for other in tabs.others],
            *(_download_zone(download) for download in tabs.downloads),
        )
        if tab.dialog is not None:
            prompt = (("value", tab.dialog.default_value),) if tab.dialog.type == "prompt" else ()
            state: Pairs = (("kind", tab.dialog.type), *prompt)
            dialog = Zone(id="dialog", role="dialog", label=tab.dialog.message or "Leave this page?", state=state)
            return _build_scene(tab, tabs, _Seen(title=tab.page.url), (dialog, *around))
        try:
            seen = await tab.query(self._look_at_page(tab.frames))
        except DocumentSilent:
            seen = _Seen()
        except PageInterrupted:
            changed = tab.alive or tab is not tabs.front
            return await self.look(tabs) if changed else _build_scene(tab, tabs, _Seen(), around)
        return _build_scene(tab, tabs, seen, around)

    async def text(self, tab: Tab) -> str:
        """Return all text of the page, with a line for each label and each state."""
        seen = await tab.query(self._look_at_page(tab.frames))
        return "\n".join((seen.title, *_list_texts(seen.zones)))

    async def _look_at_page(self, frames: Frames) -> "_Seen":
        for _ in range(2):
            try:
                await frames.discover()
                return await self._look_at_frame(frames, frames.main, _Place())
            except DocumentGone:  # another document was loaded meanwhile
                continue
        return await self._look_at_frame(frames, frames.main, _Place())

    async def _look_at_frame(self, frames: Frames, frame: str, at: "_Place") -> "_Seen":
        name = frames.name_frame(frame)
        last = self._looks.pop(name, None)
        known = last.key if last and last.at == at else ""
        answer: dict[str, Any] = await frames.ask("look", self._next.get(name, 1), known, frame=frame)
        self._next[name] = answer["next"]
        with pause_gc():
            zones = _build_zones(name, answer, at)
            if last is not None and "order" in answer:
                known_zones = last.zones | zones
                zones = {number: known_zones[number] for number in answer["order"]}
        self._looks[name] = _LastLook(key=answer["key"], at=at, zones=zones)
        seen, done, known_zones = (
            _Seen(title=answer["title"], print=[answer["print"]], viewer=(answer["timeZone"], answer["locale"])),
            0,
            list(zones.values()),
        )
        for before, *inner in answer["frame"]:
            seen.zones.extend(known_zones[done:before])
            done = before
            await self._add_inner_frame(frames, inner, at, seen)
        seen.zones.extend(known_zones[done:])
        return seen

    async def _add_inner_frame(self, frames: Frames, entry: list[Any], around: "_Place", seen: "_Seen") -> None:
        """Add the zones of an inner frame, at its position in the page around it."""
        name, x, y, scale, state, advert = entry
        if not name or not (frame := frames.find(name)):
            return
        left, top = (at + around.scale * offset for at, offset in ((around.left, x), (around.top, y)))
        place = _Place(left=round(left), top=round(top), scale=around.scale * scale, state={**around.state, **state})
        try:
            inner = await self._look_at_frame(frames, frame, place)
        except DocumentGone:
            return
        seen.zones.extend(inner.zones)
        if not advert:
            seen.print.extend(inner.print)


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where a document begins on the page, and the state that all of its zones share."""

    left: int = 0
    top: int = 0
    scale: float = 1.0
    """The size that one pixel of the document has on the page."""
    state: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])


@dataclass(frozen=True, kw_only=True)
class _LastLook:
    """The last look at a document. When capture.js is called with its key, it answers only with the changes since then."""

    key: str
    at: _Place
    zones: dict[int, Zone]


@dataclass(frozen=True, kw_only=True)
class _Seen:
    title: str = ""
    zones: list[Zone] = field(default_factory=list[Zone])
    print: list[str] = field(default_factory=list[str])
    """The fingerprint of each document, without adverts."""
    viewer: tuple[str, str] = ("", "")
    """Time zone and language."""


def _build_zones(name: str, answer: dict[str, Any], at: _Place) -> dict[int, Zone]:
    """Build zones from the columns that capture.js returns, and return them by their numbers."""
    if not answer["number"]:
        return {}
    sides = iter(answer["box"] if at.scale == 1 else [round(at.scale * side) for side in answer["box"]])
    columns = answer["number"], answer["role"].split(" "), answer["label"].split("\n"), answer["state"], answer["cell"]
    rows = zip(*columns, zip(sides, sides, sides, sides, strict=True), strict=True)
    left, top, around = at.left, at.top, tuple(at.state.items())
    return {
        abs(number): _build_zone(
            id=f"{name}e{abs(number)}",
            role=role,
            label=label,
            bounds=(left + x, top + y, width, height),
            state=(*(state.items() if state else ()), *(_UNSEEN if number < 0 else ()), *around),
            cell=(f"{name}t{cell[0]}", cell[1], cell[2]) if cell else None,
        )
        for number, role, label, state, cell, (x, y, width, height) in rows
    }


def _build_zone(**fields: Any) -> Zone:
    """Build a `Zone` without its frozen `__init__`, which took half of the Python time on large pages."""
    zone = object.__new__(Zone)
    object.__setattr__(zone, "__dict__", fields)
    return zone


def _build_scene(tab: Tab, tabs: Tabs, seen: _Seen, around: tuple[Zone, ...]) -> Scene:
    address = tab.page.url
    states = (
        ("status", tab.status),
        ("tabs", len(tabs)),
        ("error", tab.load_error or None),
        ("crashed", tab.crashed or None),
        ("silent", tab.silent or None),
        ("closed", tab.page.is_closed() or None),
    )
    page = Zone(id="page", role="page", label=seen.title, state=tuple(pair for pair in states if pair[1] is not None))
    others = (f"{zone.role}\x1f{zone.label}" for zone in around)
    parts = "\x1e".join((urldefrag(address).url, str(tab.status), *seen.print, *others))
    return Scene(
        seen.title or address,
        page,
        *seen.zones,
        *around,
        address=address,
        origin=read_origin(address),
        viewer=Viewer(time_zone=seen.viewer[0], locale=seen.viewer[1], size=tab.size),
        fingerprint=blake2b(parts.encode(errors="replace"), digest_size=8).hexdigest(),
    )


async def _tab_zone(tab: Tab) -> Zone:
    """Return the zone of a background tab, with its title if the tab answers."""
    title = ""
    with suppress(DocumentGone, PageInterrupted):
        title = await tab.query(tab.frames.ask("title"))
    return Zone(id=f"tab{tab.number}", role="tab", label=title or tab.page.url, state=(("href", tab.page.url),))


def _download_zone(download: DownloadedFile) -> Zone:
    outcome = (
        ("error", download.failure)
        if download.failure
        else ("value", str(download.path))
        if download.path
        else ("busy", True)
    )
    return Zone(
        id=f"download{download.number}", role="download", label=download.name, state=(("href", download.url), outcome)
    )


def _list_texts(zones: Iterable[Zone]) -> Iterable[str]:
    for zone in zones:
        yield zone.label
        yield from (value for _, value in zone.state if isinstance(value, str))


def shows_text(scene: Scene, text: str) -> bool:
    return any(text in line for line in (scene.surface.title, *_list_texts(scene.zones)))
