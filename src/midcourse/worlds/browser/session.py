"""One browser session: its Chromium process, its tabs, its guard, and its stored cookies, from start to end."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from midcourse.domain.observation import Observation
from midcourse.domain.outcome import Outcome
from midcourse.files import atomic_write, private_folder
from midcourse.worlds.base import Scene, failed
from midcourse.worlds.browser.chromium import Chromium, Sandbox, lend_chromium
from midcourse.worlds.browser.egress.guard import Guard
from midcourse.worlds.browser.egress.outbox import OutgoingRequest, State
from midcourse.worlds.browser.egress.policy import Origins
from midcourse.worlds.browser.egress.proxy import log_in
from midcourse.worlds.browser.page.capture import Capture
from midcourse.worlds.browser.page.forms import PageForms, mask_passwords, read_page_forms
from midcourse.worlds.browser.page.frames import DocumentGone, script
from midcourse.worlds.browser.page.tabs import Downloads, PageInterrupted, Patience, Tab, Tabs, settle

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Frame, Request

T = TypeVar("T")
_CLOSES_WITHIN = 5.0
_READS_WITHIN = 5.0
_ANSWERS_MESSAGE = 2.0
"""Seconds within which a server answers a message of a WebSocket, if it answers at all."""
_WAITS_FOR = "the page shows nothing: it may wait for this, which `send` sends"
_LOADING = re.compile(
    r"(?i)(?:(?:(?:please )?wait|(?:connect|initiali[sz]|load|process|render|runn|start|updat)ing)(?: \w+){0,2}"
    r"|(?:bitte warten|lade[nt]?|lädt|wird geladen|chargement|cargando|caricamento|carregando)(?: \w+)?) ?(?:…|\.\.\.)"
)
"""Matches the words of pages that are not complete yet."""
_MAX_PAGES = 10
"""The maximum number of pages of a list that are read for one probe."""
_FOLLOWING = r"""links => links
    .filter(link => link.relList.contains('next') || /^(next|older)\b/i.test(link.ariaLabel || link.textContent.trim()))
    .map(link => link.href.split('#')[0])"""


class LandedElsewhere(Exception):
    """Another page was loaded than the requested one."""


@dataclass(frozen=True, kw_only=True)
class SessionOptions:
    """The options of a session. `Browser` documents them."""

    start: str
    origins: Origins
    headed: bool = False
    executable: str = ""
    width: int = 1280
    height: int = 800
    scale: float = 1.0
    storage: str = ""
    downloads: str = ""
    authorities: str = ""
    patience: Patience = field(default_factory=Patience)
    navigate_seconds: float = 30.0
    sandbox: Sandbox = "on"
    uploads: str | None = None
    sessions_per_chromium: int = 1

    @property
    def storage_file(self) -> Path | None:
        return Path(self.storage).absolute() if self.storage else None


class BrowserSession:
    """A running Chromium with its tabs, behind the guard that holds what they send."""

    def __init__(
        self, options: SessionOptions, chromium: Chromium, context: "BrowserContext", storage: Path | None, guard: Guard
    ) -> None:
        self._options = options
        self.guard = guard
        self._chromium = chromium
        self._context = context
        self._storage = storage
        """The file that keeps cookies and local storage for the next session."""
        self._capture = Capture()
        self._background: set[Request] = set()
        self.tabs = Tabs(context, Downloads(options.downloads))
        self.lost = asyncio.Event()
        """Set when Chromium or this session has ended."""
        context.on("close", lambda _: self.lost.set())

    @classmethod
    async def begin(
        cls,
        options: SessionOptions,
        chromium: Chromium | None = None,
        *,
        stored: str = "",
        secrets: Collection[str] = (),
    ) -> "BrowserSession":
        """Start the browser and load the first page. A failure to load is visible in the first observation.

        `stored` is what `read_storage` of an earlier session returned. Without it, the file named in the options is read. No message
        with one of the `secrets` leaves by itself.
        """
        launch = {"executable": options.executable, "headed": options.headed, "sandbox": options.sandbox}
        if chromium is None:
            several = options.sessions_per_chromium > 1
            chromium = lend_chromium(options.sessions_per_chromium, **launch) if several else Chromium(**launch)
        storage = options.storage_file
        state = json.loads(stored) if stored else storage if storage and storage.exists() else None
        guard = Guard(options.origins, authorities=options.authorities, certificate=chromium.certificate)
        guard.outbox.messages.begins_empty = state is None or not await asyncio.to_thread(_keeps_local_storage, state)
        guard.outbox.messages.conceal(secrets)
        proxy = await guard.proxy.open()
        try:
            context = await chromium.start(
                proxy=proxy,
                flags=guard.proxy.flags,
                viewport={"width": options.width, "height": options.height},
                device_scale_factor=options.scale,
                accept_downloads=True,
                service_workers="block",
                **({"storage_state": state} if state else {}),
            )
        except BaseException:
            await guard.proxy.close()
            raise
        session = cls(options, chromium, context, storage, guard)
        try:
            await context.add_init_script(script("listeners.js"))
            await session.tabs.begin()
            await log_in(context, session.tab.page, guard.proxy.password)
            await session.go(options.start)
            await session.settle()
        except BaseException:
            await session.end()
            raise
        return session

    async def end(self) -> None:
        with suppress(Exception):  # a browser that has ended has nothing to save
            await self.save_storage()
        await self.guard.proxy.close()
        await self._chromium.close()
        self.tabs.downloads.close()

    async def wait_until_closed(self) -> None:
        """Wait until the user has closed every tab."""
        from playwright.async_api import Error

        with suppress(Error):  # the whole browser was closed
            while self.tab.alive:
                await self.tab.page.wait_for_event("close", timeout=0)

    @property
    def tab(self) -> Tab:
        return self.tabs.front

    async def look(self, named: Collection[str] = ()) -> Scene:
        """Observe the page and the requests that wait.

        Passwords in these requests are masked, except `named` secrets, which other code replaces by their names.
        """
        scene = await self._capture.look(self.tabs)
        self.guard.claim_late()
        if waiting := self.guard.outbox.waiting:
            pages = await self.read_forms(())
            shown = ((held, mask_passwords(held.request.commit, pages, named)) for held in waiting)
            hint = _WAITS_FOR if is_blank(scene) else ""
            scene.zones += tuple(held.as_zone(commit, self.guard.find_cause(held), hint) for held, commit in shown)
        return scene

    async def change_stamp(self) -> tuple[object, ...]:
        """Return a value that changes when a look may show something new. This takes two milliseconds on pages of any size."""
        tab, changes = self.tab, [0]
        with suppress(DocumentGone, PageInterrupted):
            changes = await tab.query(tab.frames.ask_all("changes"))
        return tab.number, tab.page.url, tab.interrupted, len(self.tabs), len(self.tabs.downloads), *changes

    async def go(self, url: str) -> Outcome | None:
        if not self.tab.alive or self.tab.silent:
            dead = self.tab
            await self.tabs.open()
            with suppress(TimeoutError):
                await asyncio.wait_for(dead.page.close(), _CLOSES_WITHIN)
        return await self._navigate(self.tab, url)

    async def _navigate(
        self, tab: Tab, url: str, frame: "Frame | None" = None, referrer: str | None = None
    ) -> Outcome | None:
        from playwright.async_api import Error
        from playwright.async_api import TimeoutError as TimedOut

        within, before = 1000 * self._options.navigate_seconds, self.guard.outbox.waiting
        going = (frame or tab.page).goto(url, wait_until="commit", timeout=within, referer=referrer)
        try:
            await tab.perform(going)
        except TimedOut:
            return Outcome(status="unknown", reason="timeout", detail=f"no answer from {url}")
        except Error as error:
            parked = any(held not in before for held in self.guard.outbox.waiting)
            turned_away = referrer is not None and self.guard.outbox.has_refused_navigation
            if parked or turned_away or "Download is starting" in error.message:
                return None
            tab.load_error = error.message.partition("\n")[0]
            return failed("not_reached", tab.load_error)
        return None

    async def release(self, several: Sequence[OutgoingRequest]) -> Outcome:
        """Release held requests. A parked one is claimed in the frame that requested it, if that still exists."""
        self.guard.outbox.release(several)
        for held in several:
            if held.state is State.CLAIMABLE:
                outcome = await self._claim(held)
                if outcome is not None:
                    return outcome
        return Outcome()

    async def _claim(self, held: OutgoingRequest) -> Outcome | None:
        """Claim a parked request by a navigation. It bypasses the cache, which may hold another response of this address."""
        request = held.request
        tab, frame = self.tabs.find_navigation(request.method, request.url)
        cdp: Any = await self._context.new_cdp_session(tab.page)  # Playwright does not declare its types
        try:
            await cdp.send("Network.enable")
            await cdp.send("Network.setCacheDisabled", {"cacheDisabled": True})
            return await self._navigate(tab, request.url, frame, referrer=held.claim)
        finally:
            with suppress(PageInterrupted):  # Chromium does not answer while a dialog is open
                await tab.perform(cdp.detach())

    # --- a person uses the browser

    async def attend(self) -> None:
        """Let a person use the browser: nothing is held, and tabs that they open come to the front."""
        self.guard.outbox.attended = self.tabs.acting = True
        self.guard.outbox.background.note_person()
        await self.tab.page.bring_to_front()

    @property
    def attended(self) -> bool:
        """Whether a person uses the browser."""
        return self.guard.outbox.attended

    async def end_attendance(self) -> None:
        """Wait until the page has settled after what the person did, then hold requests again."""
        if self.guard.outbox.attended:
            await self.settle()
            self.guard.outbox.attended = False

    # --- around an act

    async def begin_act(self) -> None:
        """Mark the start of an act, since later changes may be caused by it."""
        self.tabs.acting = True
        self._background = {request for request in self.tab.in_flight if not self._is_held(request)}
        await self._set_acting(True)

    async def settle(self, quiet: float = 0.0) -> None:
        """Wait until the page in front has settled, even if another page comes to the front meanwhile.

        `quiet` is for how many seconds it has to be quiet, if that is longer than usual.
        """
        patience = self._options.patience
        patience = replace(patience, quiet=max(quiet, patience.quiet))
        settled: Tab | None = None
        while settled is not self.tab:
            settled = self.tab
            await settle(
                settled,
                patience,
                lambda request: request in self._background or self._is_held(request),
                self._awaits_message,
            )
            await self.tabs.wait_for_arrivals()
            await self._close_refused_tabs()
            await self.tab.read_status()
        self.tabs.acting = False
        await self._set_acting(False)

    async def settle_fully(self) -> None:
        """Wait until the page has settled, and for requests that were under way before the last act, too."""
        self._background = set()
        await self.settle()

    async def _close_refused_tabs(self) -> None:
        """Close tabs that the act opened and that lead to a refused origin, because they show nothing."""
        opened_by_act = self.tabs.opened_by_act
        self.tabs.opened_by_act = []
        for tab in opened_by_act:
            with suppress(DocumentGone, PageInterrupted):
                address = await tab.query(tab.frames.address())
                refused = self.guard.origins.refuses(address) or (
                    address == "about:blank" and self.guard.outbox.has_refused_navigation
                )
                if len(self.tabs) > 1 and refused:
                    await tab.page.close()

    def _awaits_message(self) -> bool:
        """Whether a server has not yet answered a message of a WebSocket that has just left."""
        now = asyncio.get_running_loop().time()
        return any(now - socket.awaits_answer_since < _ANSWERS_MESSAGE for socket in self.guard.outbox.sockets)

    def _is_held(self, request: "Request") -> bool:
        return self.guard.outbox.holds(request.method, request.url)

    async def save_storage(self) -> None:
        """Save cookies and local storage for the next session. The file can be used to sign in, so only its owner can read it."""
        if self._storage is None or self.tab.interrupted or self.tab.silent:
            return
        with suppress(PageInterrupted):
            text = json.dumps(await self.tab.perform(self._context.storage_state()))
            private_folder(self._storage.parent)
            atomic_write(self._storage, text)

    async def read_storage(self) -> str:
        """Return cookies and local storage as JSON, or only the cookies if a page does not answer."""
        from playwright.async_api import Error

        with suppress(PageInterrupted, Error, TimeoutError):
            async with asyncio.timeout(_READS_WITHIN):
                return json.dumps(await self.tab.perform(self._context.storage_state()))
        return json.dumps({"cookies": await self._context.cookies(), "origins": []})

    async def _set_acting(self, acting: bool) -> None:
        with suppress(DocumentGone, PageInterrupted):
            await self.tab.query(self.tab.frames.ask_all("setActing", acting))

    # --- other pages, in a hidden tab

    async def is_shown_at(self, url: str, text: str) -> bool | None:
        """Return whether another page, or a page that continues its list, shows a text. They are read in a hidden tab.

        Return None if a page did not load or is an error, or if the list has too many pages: then the text may be on one of them.
        Raise `LandedElsewhere` if another page came instead. A sign-in page, for example, does not prove that an order is missing.
        """
        start, read = url, set[str]()
        while len(read) < _MAX_PAGES:
            found = await self._read_hidden(url, _read_list_page)
            if found is None or text in found[0]:
                return None if found is None else True
            read.add(url)
            later = [link for link in found[1] if _continues(link, start) and link not in read]
            if not later:
                return False
            url = later[0]
            if self.guard.origins.is_declared_unsafe("GET", url):
                return None
        return None

    async def read_forms(self, texts: Sequence[str]) -> tuple[PageForms, ...]:
        """Read the forms of the page in front, and which of these texts it contains. Return nothing if it does not answer."""
        with suppress(DocumentGone, PageInterrupted):
            return read_page_forms(await self.tab.query(self.tab.frames.ask_all("pageForms", list(texts))))
        return ()

    async def read_source(self) -> str:
        """Return the document in front as its server sent it, before any script. Empty if that is not known.

        Chromium's own copy of it is gone if the server says `no-store`, as most do for pages to sign in.
        """
        from playwright.async_api import Error

        document = self.tab.document
        if document is None or document.url != self.tab.page.url.partition("#")[0]:
            return ""  # a script has changed the address since, so the page may be another one
        with suppress(Error, TimeoutError, UnicodeDecodeError):
            async with asyncio.timeout(5):
                return await document.text()
        return ""

    async def read_forms_at(self, url: str) -> tuple[PageForms, ...]:
        """Read the forms of a page in a hidden tab. Return nothing if another page or an error comes."""

        async def read(tab: Tab) -> tuple[PageForms, ...]:
            return read_page_forms(await tab.query(tab.frames.ask_all("pageForms", [])))

        with suppress(DocumentGone, LandedElsewhere):
            return await self._read_hidden(url, read) or ()
        return ()

    async def _read_hidden(self, url: str, read: Callable[[Tab], Awaitable[T]]) -> T | None:
        """Read a page in a hidden tab. Return None if it did not load or is an error. Raise `LandedElsewhere` if another page came."""
        tab = await self.tabs.open_hidden()
        try:
            response = await tab.perform(tab.page.goto(url, timeout=1000 * self._options.navigate_seconds))
            if response is None or not response.ok:
                return None
            await settle(tab, self._options.patience)
            if _page_key(tab.page.url) != _page_key(url):
                raise LandedElsewhere(tab.page.url)
            return await read(tab)
        except PageInterrupted:
            return None
        finally:
            await tab.page.close()


def _keeps_local_storage(state: object) -> bool:
    """Whether a browser begins with what pages of an earlier session have stored, other than cookies."""
    try:
        kept: Any = json.loads(state.read_text(encoding="utf-8")) if isinstance(state, Path) else state
        return bool(kept and kept.get("origins"))
    except (OSError, ValueError, AttributeError):
        return True


def is_blank(scene: Scene | Observation) -> bool:
    """Whether a page shows nothing: no zone has a name, a value or a picture."""
    return not any(
        zone.label or zone.get("value") or zone.role == "img"
        for zone in scene.zones
        if zone.role not in ("page", "request", "tab", "download")
    )


def says_loading(scene: Scene | Observation) -> bool:
    """Whether a page says, in what can be seen without scrolling, that it is still loading."""
    return any(
        zone.label.endswith(("…", "...")) and _LOADING.fullmatch(zone.label) and zone.get("seen") is not False
        for zone in scene.zones
    )


async def _read_list_page(tab: Tab) -> tuple[str, tuple[str, ...]]:
    """Return the text of a page, and the addresses that its links to a next page lead to."""
    links: Any = tab.page.locator("a[href], link[href]")
    following: list[str] = await tab.perform(links.evaluate_all(_FOLLOWING))
    return await Capture().text(tab), tuple(following)


def _continues(link: str, start: str) -> bool:
    """Whether a link to a next page leads to another page of the same list, and not, for example, to the next article."""
    there, here = urlsplit(link), urlsplit(start)
    below = there.path.startswith(f"{here.path.rstrip('/')}/")
    return there[:2] == here[:2] and (below or there.path.rstrip("/") == here.path.rstrip("/"))


def _page_key(url: str) -> tuple[str, str, str]:
    parts = urlsplit(url)
    return parts.netloc, parts.path.rstrip("/"), parts.query
