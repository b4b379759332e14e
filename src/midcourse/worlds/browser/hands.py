"""Hands: how a zone is touched, with real mouse and keyboard. What is in the way is said, and never hit instead."""

import re
from collections.abc import Sequence
from typing import Any, Literal

from midcourse.domain.observation import Zone
from midcourse.domain.outcome import Outcome
from midcourse.worlds.base import failed, no_effect
from midcourse.worlds.browser.tabs import Tab

_ELEMENT = re.compile(r"(f\d+)?e(\d+)")
_TYPED = 200
"""Longer texts are pasted in: no handler needs thousands of key strokes."""


class Unreached(Exception):
    """Nothing was touched. The outcome says why."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.detail)
        self.outcome = outcome


class Hands:
    """On one tab. Raise `Unreached` for what cannot be touched; return an outcome for what did not go as it should."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._mouse = tab.page.mouse
        self._keyboard = tab.page.keyboard

    async def ask(self, function: str, zone: Zone, *arguments: object) -> Any:
        """The script in the zone's frame, about its element."""
        frame, number = self._element(zone)
        return await self._tab.doing(self._tab.frames.ask(function, number, *arguments, frame=frame))

    async def point(self, zone: Zone) -> tuple[float, float]:
        """Where on the page the zone can be touched, scrolled into view."""
        frame, number = self._element(zone)
        frames = self._tab.frames
        place = await self._tab.doing(frames.ask("reach", number, frame=frame))
        _check(zone, place)
        while frame != frames.main:
            name, frame = frames.name_of(frame), frames.parent_of(frame)
            place = await self._tab.doing(frames.ask("throughFrame", name, place["x"], place["y"], frame=frame))
            _check(zone, place)
        return place["x"], place["y"]

    async def click(self, zone: Zone, *, button: Literal["left", "right"] = "left", count: int = 1) -> None:
        x, y = await self.point(zone)
        await self._tab.doing(self._mouse.click(x, y, button=button, click_count=count))

    async def hover(self, zone: Zone) -> None:
        x, y = await self.point(zone)
        await self._tab.doing(self._mouse.move(x, y))

    async def drag(self, zone: Zone, to: Zone) -> None:
        """In small moves, since many pages look at the way and not only at the end."""
        x, y = await self.point(zone)
        await self._tab.doing(self._mouse.move(x, y))
        await self._tab.doing(self._mouse.down())
        try:
            x, y = await self.point(to)
            await self._tab.doing(self._mouse.move(x, y, steps=12))
        finally:
            await self._tab.doing(self._mouse.up())

    async def write(self, zone: Zone, text: str) -> Outcome | None:
        """In place of what the field contains."""
        if not zone.get("focused"):
            await self.click(zone)
        before = await self.ask("prepare", zone, text)
        if "wrong" in before:
            return failed("wrong_target", f"{zone.role} '{zone.label}' takes no text")
        if "readonly" in before:
            return failed("disabled", f"{zone.role} '{zone.label}' is read-only")
        if "set" not in before:
            await self._enter(text)
        after = await self.ask("content", zone)
        if after == before["content"] != text and "set" not in before:
            return no_effect(f"{zone.role} '{zone.label}' did not take it")
        if "set" in before and before["content"] != text:
            return failed("refused", f"{zone.role} '{zone.label}' ({zone.get('type')}) does not take '{text}'")
        return None

    async def _enter(self, text: str) -> None:
        if not text:
            await self._tab.doing(self._keyboard.press("Delete"))
        elif len(text) > _TYPED:
            await self._tab.doing(self._keyboard.insert_text(text))
        else:
            await self._tab.doing(self._keyboard.type(text))

    async def press(self, keys: str, zone: Zone | None = None) -> Outcome | None:
        """`Enter`, `Control+A`; several in a row with spaces between them."""
        if zone is not None:
            await self.point(zone)
            await self.ask("focus", zone)
        for key in keys.split():
            try:
                await self._tab.doing(self._keyboard.press(key))
            except ValueError as unknown:
                return failed("bad_arguments", f"press: {unknown}")
        return None

    async def choose(self, zone: Zone, options: Sequence[str]) -> Outcome | None:
        await self.point(zone)
        answer = await self.ask("choose", zone, list(options))
        if "wrong" in answer:
            return failed("wrong_target", f"{zone.role} '{zone.label}' has no options to select")
        if "missing" in answer:
            return failed("no_such_option", f"'{zone.label}' has no option {answer['missing']}")
        return None

    async def set_checked(self, zone: Zone, wanted: bool) -> Outcome | None:
        now = await self.ask("checked", zone)
        if now is None:
            return failed("wrong_target", f"{zone.role} '{zone.label}' cannot be checked or unchecked")
        if now == wanted:
            return None
        await self.click(zone)
        if await self.ask("checked", zone) == wanted:
            return None
        return no_effect(f"{zone.role} '{zone.label}' stays {'checked' if now else 'unchecked'}")

    def _element(self, zone: Zone) -> tuple[str, int]:
        found = _ELEMENT.fullmatch(zone.id)
        if found is None:
            raise Unreached(failed("wrong_target", f"{zone.role} '{zone.label}' is nothing on the page itself"))
        frame = self._tab.frames.called(found[1] or "")
        if not frame:
            raise Unreached(_gone(zone))
        return frame, int(found[2])


def _check(zone: Zone, place: dict[str, Any]) -> None:
    if "gone" in place:
        raise Unreached(_gone(zone))
    if "disabled" in place:
        raise Unreached(failed("disabled", f"{zone.role} '{zone.label}' is disabled"))
    if "covered" in place:
        raise Unreached(failed("covered", f"{zone.role} '{zone.label}' is covered by {place['covered']}"))


def _gone(zone: Zone) -> Outcome:
    detail = f"{zone.role} '{zone.label}' is no longer on the page"
    return Outcome(status="unreachable", reason="target_not_visible", detail=detail)
