"""Input: how a zone is touched, with real mouse and keyboard. What is in the way is said, and never hit instead."""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from midcourse.domain.observation import Zone
from midcourse.domain.outcome import Outcome
from midcourse.worlds.base import failed, no_effect
from midcourse.worlds.browser.page.frames import DocumentGone, script
from midcourse.worlds.browser.page.tabs import PageInterrupted, Tab

_ELEMENT = re.compile(r"(f\d+)?e(\d+)")
_TYPED = 200
"""Longer texts are pasted in: no handler needs thousands of key strokes. So are several lines: Enter may send the first."""
_CHOOSER_SECONDS = 5.0
_BUDGE = 5
"""Pixels after which what is held counts as dragged, before the page is scrolled to where it goes."""


class ZoneUnreachable(Exception):
    """Nothing was touched. The outcome says why."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.detail)
        self.outcome = outcome


class Input:
    """On one tab. Raise `ZoneUnreachable` for what cannot be touched; return an outcome for what did not go as it should."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._mouse = tab.page.mouse
        self._keyboard = tab.page.keyboard

    async def ask(self, function: str, zone: Zone, *arguments: object) -> Any:
        """The script in the zone's frame, about its element."""
        frame, number = self._element(zone)
        return await self._tab.query(self._tab.frames.ask(function, number, *arguments, frame=frame))

    async def load(self, file: str, zone: Zone) -> None:
        """A script that only some questions need, in the zone's frame."""
        await self._tab.query(self._tab.frames.run(script(file), frame=self._element(zone)[0]))

    async def click(self, zone: Zone, *, button: Literal["left", "right"] = "left", times: int = 1) -> None:
        """If something came in the way at the last moment, it did not notice, and there is one more try."""
        try:
            await self._click(zone, button, times)
        except ZoneUnreachable as missed:
            if missed.outcome.reason != "missed":
                raise
            await self._click(zone, button, times)

    async def _click(self, zone: Zone, button: Literal["left", "right"], times: int) -> None:
        async with self._touching(zone) as (x, y):
            await self._tab.perform(self._mouse.click(x, y, button=button, click_count=times))

    async def hover(self, zone: Zone) -> None:
        async with self._touching(zone) as (x, y):
            await self._tab.perform(self._mouse.move(x, y))

    async def drag(self, zone: Zone, to: Zone | None, right: float, down: float) -> None:
        """To the other zone, or by so many pixels. In small moves: many pages look at the way, not only at its end."""
        if to is not None:
            await self._middle(to)  # before anything is touched
        async with self._touching(zone) as (x, y):
            await self._tab.perform(self._mouse.move(x, y))
            await self._tab.perform(self._mouse.down())
            try:
                if to is not None:
                    await self._tab.perform(self._mouse.move(x + _BUDGE, y + _BUDGE, steps=2))
                    x, y = await self._middle(to)
                await self._tab.perform(self._mouse.move(x + right, y + down, steps=12))
            finally:
                await self._tab.perform(self._mouse.up())

    async def write(self, zone: Zone, text: str) -> Outcome | None:
        """In place of what the field contains."""
        if not zone.get("focused"):
            await self.click(zone)
        before = _check_reachable(zone, await self.ask("prepare", zone, text))
        if "wrong" in before:
            return failed("wrong_target", f"{zone.role} '{zone.label}' takes no text")
        if "readonly" in before:
            return failed("disabled", f"{zone.role} '{zone.label}' is read-only")
        if "set" in before:
            refused = failed("refused", f"{zone.role} '{zone.label}' ({zone.get('type')}) does not take '{text}'")
            return None if before["set"] else refused
        if not before.get("inserted"):
            await self._enter(text)
        with suppress(DocumentGone):  # such as one that leaves the page by itself once it is full
            content = await self.ask("content", zone)
            if content == before["content"] != text or (zone.role == "spinbutton" and content == "" != text):
                return no_effect(f"{zone.role} '{zone.label}' did not take it")
        return None

    async def _enter(self, text: str) -> None:
        if not text:
            await self._tab.perform(self._keyboard.press("Delete"))
        elif len(text) > _TYPED or "\n" in text:
            await self._tab.perform(self._keyboard.insert_text(text))
        else:
            await self._tab.perform(self._keyboard.type(text))

    async def press(self, keys: str, zone: Zone | None = None) -> Outcome | None:
        """`Enter`, `Control+A`; several in a row with spaces between them. Without a zone: where the focus is."""
        from playwright.async_api import Error

        if zone is not None:
            _check_reachable(zone, await self.ask("use", zone))
            await self.ask("focus", zone)
        for key in keys.split():
            try:
                await self._tab.perform(self._keyboard.press(key))
            except Error as error:
                if "Unknown key" not in error.message:
                    raise
                return failed("bad_arguments", f"there is no key '{key}'")
        return None

    async def choose(self, zone: Zone, options: Sequence[str]) -> Outcome | None:
        """Exactly these, in a list of the browser's own."""
        async with self._touching(zone):
            answer = await self.ask("choose", zone, list(options))
        if "wrong" in answer:
            return failed("wrong_target", f"{zone.role} '{zone.label}' has no options to select")
        if "missing" in answer:
            wanted = " | ".join(answer["missing"])
            return failed("no_such_option", f"'{zone.label}' does not have '{wanted}'; it has {zone.get('options')}")
        return None

    async def offered(self, zone: Zone, options: Sequence[Zone]) -> list[Zone]:
        """Those of them that belong to it."""
        near = {
            number: one for one in options for frame, number in [self._element(one)] if frame == self._element(zone)[0]
        }
        return [near[number] for number in await self.ask("offered", zone, list(near))]

    async def set_checked(self, zone: Zone, wanted: bool, rest: Callable[[], Awaitable[None]]) -> Outcome | None:
        """A page may take until it is at `rest` to do it, or put another element in its place."""
        now = await self.ask("checked", zone)
        if now is None:
            return failed("wrong_target", f"{zone.role} '{zone.label}' cannot be checked or unchecked")
        for _ in range(2 if now == "mixed" else 1):  # that one may become the other first
            if now not in (wanted, None):
                now = await self._click_checked(zone, now, rest)
        if now in (wanted, None):
            return None
        return no_effect(
            f"{zone.role} '{zone.label}' stays {'mixed' if now == 'mixed' else 'checked' if now else 'unchecked'}"
        )

    async def _click_checked(
        self, zone: Zone, before: bool | str, rest: Callable[[], Awaitable[None]]
    ) -> bool | str | None:
        """How it is then; None: it is no longer there."""
        await self.click(zone)
        with suppress(DocumentGone):
            if await self.ask("checked", zone) == before:
                await rest()
            return await self.ask("checked", zone)
        return None

    async def upload(self, zone: Zone, path: Path) -> Outcome | None:
        """Into a file field, or by way of the chooser that a click on it opens."""
        from playwright.async_api import TimeoutError as TimedOut

        frame, number = self._element(zone)
        _check_reachable(zone, await self.ask("use", zone))
        if await self.ask("isFileField", zone):
            await self._tab.perform(self._tab.frames.give_file(frame, number, str(path)))
            return None
        try:
            async with self._tab.page.expect_file_chooser(timeout=1000 * _CHOOSER_SECONDS) as chooser:
                await self.click(zone)
            await (await chooser.value).set_files(path)
        except TimedOut:
            return failed("wrong_target", f"{zone.role} '{zone.label}' asks for no file")
        return None

    async def scroll(self, zone: Zone, right: float, down: float) -> Outcome | None:
        if zone.role == "page":
            moved = await self._tab.query(self._tab.frames.ask("scroll", 0, right, down))
        else:
            moved = await self.ask("scroll", zone, right, down)
        return None if moved else no_effect("there is nothing further in that direction")

    async def read(self, zone: Zone) -> str:
        """All of its text, or of the page's; of a file, where it is."""
        if _ELEMENT.fullmatch(zone.id):
            return await self.ask("read", zone)
        if zone.role == "page":
            return await self._tab.query(self._tab.frames.ask("read", 0))
        return _path_of(zone) if zone.role == "download" else zone.label

    # --- where it is

    @asynccontextmanager
    async def _touching(self, zone: Zone) -> AsyncGenerator[tuple[float, float]]:
        """Where on the page it can be touched, scrolled into view. Inside, no click reaches anything else, in any frame."""
        await self._tab.query(self._tab.frames.ask_all("bar"))
        missed = ""
        try:
            yield await self._place(zone)
        finally:
            with suppress(DocumentGone, PageInterrupted):
                missed = _blocker(await self._tab.query(self._tab.frames.ask_all("release")))
        if missed:
            raise ZoneUnreachable(failed("missed", f"{missed} came in the way of {zone.role} '{zone.label}'"))

    async def _place(self, zone: Zone) -> tuple[float, float]:
        frames = self._tab.frames
        frame, number = self._element(zone)
        place = _check_reachable(zone, await self._tab.query(frames.ask("reach", number, frame=frame)))
        while frame != frames.main:
            name, frame = frames.name_of(frame), frames.parent_of(frame)
            through = frames.ask("throughFrame", name, place["x"], place["y"], frame=frame)
            place = _check_reachable(zone, await self._tab.query(through))
        return place["x"], place["y"]

    async def _middle(self, zone: Zone) -> tuple[float, float]:
        async with self._touching(zone) as point:
            return point

    def _element(self, zone: Zone) -> tuple[str, int]:
        found = _ELEMENT.fullmatch(zone.id)
        if found is None:
            raise ZoneUnreachable(failed("wrong_target", f"{zone.role} '{zone.label}' is nothing on the page itself"))
        frame = self._tab.frames.find(found[1] or "")
        if not frame:
            raise ZoneUnreachable(_gone(zone))
        return frame, int(found[2])


def _blocker(answers: Sequence[dict[str, Any]]) -> str:
    """What was hit in place of the zone, in whichever frame."""
    if any(answer["hit"] for answer in answers):
        return ""
    return next((answer["blocker"] for answer in answers if answer["blocker"]), "")


def _check_reachable(zone: Zone, place: dict[str, Any]) -> dict[str, Any]:
    if "gone" in place:
        raise ZoneUnreachable(_gone(zone))
    if "disabled" in place:
        raise ZoneUnreachable(failed("disabled", f"{zone.role} '{zone.label}' is disabled"))
    if "covered" in place:
        raise ZoneUnreachable(failed("covered", f"{zone.role} '{zone.label}' is covered by {place['covered']}"))
    return place


def _gone(zone: Zone) -> Outcome:
    detail = f"{zone.role} '{zone.label}' is no longer on the page"
    return Outcome(status="unreachable", reason="target_not_visible", detail=detail)


def _path_of(file: Zone) -> str:
    if file.get("busy"):
        raise ZoneUnreachable(failed("busy", f"'{file.label}' is still coming"))
    if trouble := file.get("error"):
        raise ZoneUnreachable(failed("download_failed", f"'{file.label}' did not come: {trouble}"))
    return str(file.get("value"))
