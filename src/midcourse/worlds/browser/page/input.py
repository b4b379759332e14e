"""Mouse and keyboard input on zones. An element that covers the target is reported, and is never hit instead of it."""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from midcourse.domain.observation import Zone
from midcourse.domain.outcome import Outcome, cut_value
from midcourse.worlds.base import failed, no_effect
from midcourse.worlds.browser.page.frames import DocumentGone, script
from midcourse.worlds.browser.page.tabs import PageInterrupted, Tab

_ELEMENT = re.compile(r"(f\d+)?e(\d+)")
_TYPED = 200
"""The maximum number of characters that are typed. Longer texts are pasted, because typing is slow.

Texts of several lines are also pasted, because Enter might submit the first line.
"""
_CHOOSER_SECONDS = 5.0
_BUDGE = 5
"""Pixels to move before the page scrolls to the drop target, so that the page notices a drag."""


class ZoneUnreachable(Exception):
    """The zone could not be touched, and nothing else was touched. The outcome says why."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.detail)
        self.outcome = outcome


class Input:
    """Input on one tab. Methods raise `ZoneUnreachable` if nothing was touched, and return an outcome for other failures."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._mouse = tab.page.mouse
        self._keyboard = tab.page.keyboard

    async def ask(self, function: str, zone: Zone, *arguments: object) -> Any:
        """Call a script function in the zone's frame with its element."""
        frame, number = self._find_element(zone)
        return await self._tab.query(self._tab.frames.ask(function, number, *arguments, frame=frame))

    async def load(self, file: str, zone: Zone) -> None:
        """Load a script that only some calls need into the zone's frame."""
        await self._tab.query(self._tab.frames.run(script(file), frame=self._find_element(zone)[0]))

    async def click(self, zone: Zone, *, button: Literal["left", "right"] = "left", times: int = 1) -> None:
        """Click a zone. If another element got in the way, the click on it was blocked, and a second click is tried.

        A zone that is known only from a picture is clicked in its middle, on any element that the page has there.
        """
        try:
            await self._click(zone, button, times)
        except ZoneUnreachable as missed:
            if missed.outcome.reason != "missed":
                raise
            await self._click(zone, button, times)

    async def _click(self, zone: Zone, button: Literal["left", "right"], times: int) -> None:
        async with self._touch(zone) as (x, y):
            await self._tab.perform(self._mouse.click(x, y, button=button, click_count=times))

    async def hover(self, zone: Zone) -> None:
        async with self._touch(zone) as (x, y):
            await self._tab.perform(self._mouse.move(x, y))

    async def drag(self, zone: Zone, to: Zone | None, right: float, down: float) -> None:
        """Drag to another zone or by a distance, in small moves, because many pages follow the whole path and not only its end."""
        if to is not None:
            await self._touchable_point(to)  # check this before anything is touched
        async with self._touch(zone) as (x, y):
            await self._tab.perform(self._mouse.move(x, y))
            await self._tab.perform(self._mouse.down())
            try:
                if to is not None:
                    await self._tab.perform(self._mouse.move(x + _BUDGE, y + _BUDGE, steps=2))
                    x, y = await self._touchable_point(to)
                await self._tab.perform(self._mouse.move(x + right, y + down, steps=12))
            finally:
                await self._tab.perform(self._mouse.up())

    async def write(self, zone: Zone, text: str) -> Outcome | None:
        """Replace the content of a field."""
        if zone.pictured:
            # Select the text of a field at this position and type. Only the next picture shows what the field then contains.
            await self.click(zone)
            await self._tab.perform(self._keyboard.press("Control+A"))
            return await self._enter_text(text)
        if not zone.get("focused"):
            await self.click(zone)
        before = _check_reachable(zone, await self.ask("prepare", zone, text))
        if "wrong" in before:
            return failed("wrong_target", f"{zone.role} '{zone.label}' does not take text")
        if "readonly" in before:
            return failed("disabled", f"{zone.role} '{zone.label}' is read-only")
        if "set" in before:
            refused = failed("refused", f"{zone.role} '{zone.label}' ({zone.get('type')}) does not take '{text}'")
            return None if before["set"] else refused
        if not before.get("inserted"):
            await self._enter_text(text)
        with suppress(DocumentGone):  # some fields open another page when they are full
            content = await self.ask("content", zone)
            if content == before["content"] != text or (zone.role == "spinbutton" and content == "" != text):
                return no_effect(f"{zone.role} '{zone.label}' did not take it")
            if zone.role == "spinbutton" and _is_other_number(content, text):
                # A page that rewrites the number after each key loses the point or the place of the next one.
                _check_reachable(zone, await self.ask("prepare", zone, text))
                await self._tab.perform(self._keyboard.insert_text(text))
                content = await self.ask("content", zone)
                if _is_other_number(content, text):
                    return failed("text_differs", f"{zone.role} '{zone.label}' was given '{text}' and has '{content}'")
        return None

    async def append(self, zone: Zone, text: str, after: str) -> Outcome | None:
        """Add text to a field, at its end or after a part of its text, and check that the field kept what it had."""
        what = f"{zone.role} '{zone.label}'"
        if zone.pictured:
            if after:
                return failed(
                    "not_by_position", f"{what} is only seen in the picture: text can be added at its end only"
                )
            await self.click(zone)
            await self._tab.perform(self._keyboard.press("Control+End"))
            return await self._enter_text(text)
        if not zone.get("focused"):
            await self.click(zone)
        before = _check_reachable(zone, await self.ask("prepare", zone, text, after))
        if "found" in before:
            times = f"{before['found']} times" if before["found"] else "no such text"
            return failed("wrong_place", f"{what} has {times}: '{after}'; name a part that it has once")
        if "wrong" in before:
            return failed("wrong_target", f"text cannot be added to {what}: write the whole value with type")
        if "readonly" in before:
            return failed("disabled", f"{what} is read-only")
        if not before.get("inserted") and text:
            await self._enter_text(text)
        had, new, has = (_squeeze(each) for each in (before["content"], text, await self.ask("content", zone) or ""))
        if has == had and new:
            return no_effect(f"{what} did not take it")
        at = has.find(new) if before["head"] is None else len(_squeeze(before["head"]))
        if has != had[:at] + new + had[at:]:
            return failed("text_differs", f"{what} now has another text than before with this added: read it")
        return None

    async def _enter_text(self, text: str) -> None:
        if not text:
            await self._tab.perform(self._keyboard.press("Delete"))
        elif len(text) > _TYPED or "\n" in text:
            await self._tab.perform(self._keyboard.insert_text(text))
        else:
            await self._tab.perform(self._keyboard.type(text))

    async def press(self, keys: str, zone: Zone | None = None) -> Outcome | None:
        """Press keys such as `Enter` or `Control+A`, separated by spaces, in a zone, or where the focus is."""
        from playwright.async_api import Error

        if zone is not None:
            _check_reachable(zone, await self.ask("checkUsable", zone))
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
        """Select exactly these options of a native list."""
        async with self._touch(zone):
            answer = await self.ask("choose", zone, list(options))
        if "wrong" in answer:
            return failed("wrong_target", f"{zone.role} '{zone.label}' has no options to select")
        if "missing" in answer:
            wanted: str = " | ".join(answer["missing"])
            return failed("no_such_option", f"'{zone.label}' does not have '{wanted}'; it has {zone.get('options')}")
        return None

    async def find_own_options(self, zone: Zone, options: Sequence[Zone]) -> list[Zone]:
        """Return those of these options that belong to this zone."""
        near = {
            number: option
            for option in options
            for frame, number in [self._find_element(option)]
            if frame == self._find_element(zone)[0]
        }
        return [near[number] for number in await self.ask("offered", zone, list(near))]

    async def set_checked(self, zone: Zone, wanted: bool, rest: Callable[[], Awaitable[None]]) -> Outcome | None:
        """Check or uncheck a box. `rest` waits until the page has settled, since some pages react late or replace the element."""
        now = await self.ask("checked", zone)
        if now is None:
            return failed("wrong_target", f"{zone.role} '{zone.label}' cannot be checked or unchecked")
        for _ in range(2 if now == "mixed" else 1):  # a mixed box may pass through the other state
            if now not in (wanted, None):
                now = await self._click_and_read(zone, now, rest)
        if now in (wanted, None):
            return None
        return no_effect(
            f"{zone.role} '{zone.label}' stays {'mixed' if now == 'mixed' else 'checked' if now else 'unchecked'}"
        )

    async def _click_and_read(
        self, zone: Zone, before: bool | str, rest: Callable[[], Awaitable[None]]
    ) -> bool | str | None:
        """Click, and return the state afterwards, or None if the element no longer exists."""
        await self.click(zone)
        with suppress(DocumentGone):
            if await self.ask("checked", zone) == before:
                await rest()
            return await self.ask("checked", zone)
        return None

    async def upload(self, zone: Zone, path: Path) -> Outcome | None:
        """Set the file of a file field, or of the file chooser that a click opens."""
        from playwright.async_api import TimeoutError as TimedOut

        frame, number = self._find_element(zone)
        _check_reachable(zone, await self.ask("checkUsable", zone))
        if await self.ask("isFileField", zone):
            await self._tab.perform(self._tab.frames.give_file(frame, number, str(path)))
            return None
        try:
            async with self._tab.page.expect_file_chooser(timeout=1000 * _CHOOSER_SECONDS) as chooser:
                await self.click(zone)
            await (await chooser.value).set_files(path)
        except TimedOut:
            return failed("wrong_target", f"{zone.role} '{zone.label}' does not ask for a file")
        return None

    async def scroll(self, zone: Zone, right: float, down: float) -> Outcome | None:
        """Scroll what a zone is in by a number of screens, with the mouse wheel if the zone is known only from a picture."""
        if zone.pictured:
            size = self._tab.page.viewport_size or {"width": 0, "height": 0}
            async with self._touch(zone) as (x, y):
                await self._tab.perform(self._mouse.move(x, y))
                return await self._tab.perform(self._mouse.wheel(right * size["width"], down * size["height"]))
        if zone.role == "page":
            moved = await self._tab.query(self._tab.frames.ask("scroll", 0, right, down))
        else:
            moved = await self.ask("scroll", zone, right, down)
        return None if moved else no_effect("there is nothing further in that direction", "not_needed")

    async def read(self, zone: Zone) -> str:
        """Return the text of a zone or the page, the path of a download, or the text that a reader has read in a picture."""
        if zone.pictured:
            return zone.label
        if _ELEMENT.fullmatch(zone.id):
            return _join_read(await self.ask("read", zone))
        if zone.role == "page":
            return _join_read(await self._tab.query(self._tab.frames.ask("read", 0)))
        if zone.role != "download":
            return zone.label
        if zone.get("busy"):
            raise ZoneUnreachable(failed("busy", f"'{zone.label}' is still downloading"))
        if problem := zone.get("error"):
            raise ZoneUnreachable(failed("download_failed", f"'{zone.label}' could not be downloaded: {problem}"))
        return str(zone.get("value"))

    # --- finding the point to touch

    @asynccontextmanager
    async def _touch(self, zone: Zone) -> AsyncGenerator[tuple[float, float]]:
        """Scroll a zone into view and yield a point of it. Until this context ends, clicks on any other element in all frames are blocked.

        A zone of a picture has no element. Its point is its middle, and nothing is blocked.
        """
        if zone.pictured:
            size = self._tab.page.viewport_size
            x, y = zone.middle or (-1.0, -1.0)
            if size is None or not (0 <= x < size["width"] and 0 <= y < size["height"]):
                raise ZoneUnreachable(_report_gone(zone))
            yield x, y
            return
        await self._tab.query(self._tab.frames.ask_all("blockClicks"))
        missed = ""
        try:
            yield await self._find_point(zone)
        finally:
            with suppress(DocumentGone, PageInterrupted):
                answers = await self._tab.query(self._tab.frames.ask_all("unblockClicks"))
                if not any(answer["hit"] for answer in answers):
                    missed = next((answer["blocker"] for answer in answers if answer["blocker"]), "")
        if missed:
            raise ZoneUnreachable(failed("missed", f"{missed} came in the way of {zone.role} '{zone.label}'"))

    async def _find_point(self, zone: Zone) -> tuple[float, float]:
        frames = self._tab.frames
        frame, number = self._find_element(zone)
        place = _check_reachable(zone, await self._tab.query(frames.ask("reach", number, frame=frame)))
        while frame != frames.main:
            name, frame = frames.name_frame(frame), frames.find_parent(frame)
            through = frames.ask("throughFrame", name, place["x"], place["y"], frame=frame)
            place = _check_reachable(zone, await self._tab.query(through))
        return place["x"], place["y"]

    async def _touchable_point(self, zone: Zone) -> tuple[float, float]:
        async with self._touch(zone) as point:
            return point

    def _find_element(self, zone: Zone) -> tuple[str, int]:
        found = _ELEMENT.fullmatch(zone.id)
        if found is None:
            raise ZoneUnreachable(failed("wrong_target", f"{zone.role} '{zone.label}' is not an element of the page"))
        frame = self._tab.frames.find(found[1] or "")
        if not frame:
            raise ZoneUnreachable(_report_gone(zone))
        return frame, int(found[2])


def _is_other_number(content: object, text: str) -> bool:
    """Whether a field has a number, and another one than was typed. What is written differently may be the same."""
    try:
        return float(str(content)) != float(text)
    except ValueError:
        return False


def _squeeze(text: str) -> str:
    """The text without white space, which an editor lays out in its own way."""
    return "".join(text.split())


def _join_read(answer: dict[str, Any]) -> str:
    return cut_value(answer["text"], f"{answer['cut']} characters" if answer["cut"] else "")


def _check_reachable(zone: Zone, place: dict[str, Any]) -> dict[str, Any]:
    if "gone" in place:
        raise ZoneUnreachable(_report_gone(zone))
    if "disabled" in place:
        raise ZoneUnreachable(failed("disabled", f"{zone.role} '{zone.label}' is disabled"))
    if "covered" in place:
        raise ZoneUnreachable(failed("covered", f"{zone.role} '{zone.label}' is covered by {place['covered']}"))
    return place


def _report_gone(zone: Zone) -> Outcome:
    detail = f"{zone.role} '{zone.label}' is no longer on the page"
    return Outcome(status="unreachable", reason="target_not_visible", detail=detail)
