"""Lets a person watch the page, and use it while the browser is handed over: pictures, mouse and keyboard, and a record of what was done."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from midcourse.ports.viewing import Gesture, Handled, NotAttended, PersonAction, View
from midcourse.worlds.browser.page.frames import DocumentGone
from midcourse.worlds.browser.page.screenshots import (
    ScreenshotRefused,
    SecretLocator,
    read_viewport,
    take_screenshot,
    take_uncovered,
)
from midcourse.worlds.browser.page.tabs import PageInterrupted, Tab
from midcourse.worlds.browser.session import BrowserSession

if TYPE_CHECKING:
    pass


_KEYS = {" ": "Space"}
QUALITY = 60
"""JPEG quality: text stays readable, at about 60 kB for a page of 1280 x 800."""
PICTURE_SECONDS = 3.0
"""The time limit of a picture, in seconds. The run may be waiting for the page meanwhile."""
GESTURE_SECONDS = 5.0
"""The time limit of one gesture, in seconds, so that a page that does not answer does not delay the person's next one."""
_MODIFIERS = ("Alt", "AltGraph", "CapsLock", "Control", "Meta", "Shift")
_NAME = """((x, y) => {
  const at = x === null ? document.activeElement : document.elementFromPoint(x, y);
  const found = at?.closest('a,button,input,select,textarea,summary,label,[role],[onclick]') ?? at;
  if (!found || found === document.body || found === document.documentElement) return 'the page';
  const role = found.getAttribute('role') || { A: 'link', INPUT: found.type === 'submit' ? 'button' : 'field', TEXTAREA: 'field' }[found.tagName] || found.tagName.toLowerCase();
  const field = ['INPUT', 'TEXTAREA', 'SELECT'].includes(found.tagName);
  const own = field ? (found.type === 'submit' && found.value) || found.labels?.[0]?.innerText || found.placeholder || found.name : found.innerText;
  const name = (found.getAttribute('aria-label') || own || found.title || '').trim().replace(/\\s+/g, ' ').slice(0, 60);
  return name ? `${role} '${name}'` : role;
})"""


class LiveView:
    """Takes pictures of the page for persons who watch or use it.

    Covering secrets changes the page for a moment. So no picture is taken during a look or an act, and a look or an act waits for
    a picture that is being taken.
    """

    def __init__(self, secrets: SecretLocator) -> None:
        self._secrets = secrets
        self._lock = asyncio.Lock()
        self._uses = 0

    @asynccontextmanager
    async def use(self) -> AsyncGenerator[None]:
        """Mark the page as used by the run while this context is open."""
        async with self._lock:
            self._uses += 1
            yield

    async def take(self, session: BrowserSession, since: str, *, uncovered: bool = False) -> View:
        """Take a picture, unless nothing has changed since that stamp, the run uses the page, or a secret might be visible.

        With `uncovered`, secrets are visible. This is only for the person to whom the browser is handed over.
        """
        from playwright.async_api import Error

        if not self._uses or (
            self._lock.locked() and not uncovered
        ):  # before the first look the world may not know its secrets
            return View(stamp=since)
        # The person in control may wait here for a watcher's picture, and give the browser back meanwhile.
        async with self._lock:
            if uncovered and not session.attended:
                return View(stamp="")
            try:
                async with asyncio.timeout(PICTURE_SECONDS):
                    tab = session.tab
                    if tab.interrupted or tab.silent or (since and await self._make_stamp(session) == since):
                        return View(stamp=since)
                    taking = (
                        take_uncovered(tab, QUALITY)
                        if uncovered
                        else take_screenshot(tab, self._secrets, quality=QUALITY)
                    )
                    picture = await tab.perform(taking)
                    # Covering secrets counts as a change, so the stamp is read afterwards.
                    return View(stamp=await self._make_stamp(session), picture=picture)
            except (PageInterrupted, DocumentGone, ScreenshotRefused, Error, TimeoutError):
                return View(stamp="")

    async def _make_stamp(self, session: BrowserSession) -> str:
        """Return a stamp that changes with the page.

        Typed text does not change the document, so acts are counted as well. The stamp is hashed, since a URL may contain a secret.
        """
        seen = (self._uses, await session.change_stamp(), await read_viewport(session.tab))
        return sha256(repr(seen).encode()).hexdigest()[:16]


class Attendance:
    """Carries out a person's gestures while the browser is handed over. The run's next look or act ends the handover."""

    def __init__(self, live_view: LiveView, secrets: SecretLocator) -> None:
        self._live_view = live_view
        self._secrets = secrets

    async def handle(self, session: BrowserSession, gestures: tuple[Gesture, ...], since: str | None) -> Handled:
        if not gestures and since is None:
            if session.attended:
                await session.settle()
            return Handled(view=View(stamp=""), deeds=self._list_sent(session))
        if not session.attended:
            raise NotAttended("the run goes on, or was not taken over: take over first")
        deeds: list[PersonAction] = []
        if gestures:
            async with self._live_view.use():
                for gesture in gestures:
                    deeds += await self._carry_out(session, gesture)
        view = View(stamp=since or "")
        if since is not None and session.attended:
            view = await self._live_view.take(session, since, uncovered=True)
        dialog = session.tab.dialog
        return Handled(
            view=view, deeds=(*deeds, *self._list_sent(session)), dialog=dialog.message or "?" if dialog else ""
        )

    async def _carry_out(self, session: BrowserSession, gesture: Gesture) -> list[PersonAction]:
        from playwright.async_api import Error

        if not session.attended:
            raise NotAttended("the run goes on")
        session.tabs.acting = True  # a tab that the gesture opens comes to the front
        tab = session.tab
        what = await self._describe(tab, gesture)
        try:
            async with asyncio.timeout(GESTURE_SECONDS):
                if gesture.kind in ("accept", "dismiss"):
                    if tab.dialog is not None:
                        await tab.answer(gesture.kind == "accept", gesture.text)
                else:
                    await tab.perform(_dispatch(tab, gesture))
        except (PageInterrupted, Error, TimeoutError):
            pass  # a dialog opened, the page is gone, or there is no such key: the next picture shows it
        return [what] if what else []

    async def _describe(self, tab: Tab, gesture: Gesture) -> PersonAction | None:
        """Describe a gesture for the record. This is done before the gesture is carried out, since the page may change."""
        match gesture.kind:
            case "press":
                width, height = _viewport_size(tab)
                what = await self._name_element(tab, f"{gesture.x * width}, {gesture.y * height}")
                return PersonAction(kind="clicked", what=what)
            case "key_down" if len(gesture.text) == 1:
                return PersonAction(kind="typed", what=await self._name_element(tab, "null, null"))
            case "key_down" if gesture.text not in _MODIFIERS:
                return PersonAction(
                    kind="pressed", what=f"{gesture.text} in {await self._name_element(tab, 'null, null')}"
                )
            case "text":
                return PersonAction(
                    kind="typed", what=await self._name_element(tab, "null, null"), times=len(gesture.text)
                )
            case "wheel":
                return PersonAction(kind="scrolled", what="the page")
            case "back":
                return PersonAction(kind="went_back", what="to the page before")
            case "accept" | "dismiss":
                asked = self._secrets.redact(tab.dialog.message) if tab.dialog else "a dialog that was gone"
                return PersonAction(
                    kind="answered", what=f"'{asked}' with {'OK' if gesture.kind == 'accept' else 'Cancel'}"
                )
            case _:
                return None

    async def _name_element(self, tab: Tab, place: str) -> str:
        with suppress(DocumentGone, PageInterrupted):
            return self._secrets.redact(str(await tab.query(tab.frames.run(f"{_NAME}({place})"))))
        return "the page"

    def _list_sent(self, session: BrowserSession) -> tuple[PersonAction, ...]:
        """List the requests with an effect that were sent, without their queries, which may contain secrets."""
        return tuple(
            PersonAction(
                kind="sent",
                what=self._secrets.redact(
                    f"{request.method} {urlsplit(request.url)._replace(query='', fragment='').geturl()}"
                ),
            )
            for request in session.guard.outbox.take_sent_by_person()
        )


def _viewport_size(tab: Tab) -> tuple[int, int]:
    return tab.size or (1280, 800)


async def _dispatch(tab: Tab, gesture: Gesture) -> None:
    page, (width, height) = tab.page, _viewport_size(tab)
    x, y = gesture.x * width, gesture.y * height
    match gesture.kind:
        case "move":
            await page.mouse.move(x, y)
        case "press":
            await page.mouse.move(x, y)
            await page.mouse.down(button=gesture.button, click_count=gesture.clicks)
        case "release":
            await page.mouse.up(button=gesture.button, click_count=gesture.clicks)
        case "wheel":
            await page.mouse.wheel(gesture.dx, gesture.dy)
        case "key_down" if len(gesture.text) == 1 and not gesture.text.isascii():
            await page.keyboard.insert_text(gesture.text)
        case "key_down":
            await page.keyboard.down(_KEYS.get(gesture.text, gesture.text))
        case "key_up" if len(gesture.text) == 1 and not gesture.text.isascii():
            await page.keyboard.insert_text("")
        case "key_up":
            await page.keyboard.up(_KEYS.get(gesture.text, gesture.text))
        case "text":
            await page.keyboard.insert_text(gesture.text)
        case "back":
            await page.go_back(wait_until="commit", timeout=1000 * GESTURE_SECONDS)
        case _:
            raise AssertionError(f"{gesture.kind} is not for the page")
