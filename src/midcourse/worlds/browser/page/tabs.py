"""The tabs of a session: which one is in front, their dialogs, pop-ups, downloads and crashes, and when a page has settled."""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from midcourse.files import FILE, private_folder
from midcourse.worlds.browser.page.frames import DocumentGone, DocumentSilent, Frames

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Dialog, Download, Frame, Page, Request, Response

T = TypeVar("T")

_STAYED, _NO_CONTENT = "net::ERR_ABORTED", 204
"""Results of a navigation after which the old page stays."""
_REMEMBERED = 50
_STATUS = "performance.getEntriesByType('navigation')[0]?.responseStatus"

_UNWAITED = frozenset({"image", "media", "font", "ping", "eventsource", "websocket", "manifest", "texttrack", "other"})
"""Types of resources without which a page counts as complete."""
_BY_SCRIPTS = frozenset({"fetch", "xhr"})

_SOON = 2.0
_ANSWERS_WITHIN = 20.0
"""Seconds within which even a large page on a busy machine answers.

A page that did not answer gets only `_SOON` the next time, so that a dead page does not stall the run. After that it gets
twice as long each time, so that a slow page is not treated as dead forever.
"""
_PAUSE = 0.02
_MAX_RESTLESS = 1.0
_SLOWNESS = 4.0
"""The quiet must last this many times as long as an answer takes. If answers are slow, events of requests are late, too."""


class PageInterrupted(Exception):
    """The work waits until a dialog is answered, or will never end because the page crashed or was closed."""


class Tab:
    """One page, with what only the browser knows about it: dialogs, status, requests, crashes."""

    def __init__(self, page: "Page", number: int, opens: Callable[[], None] = lambda: None, *, opener: int = 0) -> None:
        self.page = page
        self.number = number
        self.opener = opener
        """The number of the tab that was in front before this one was opened."""
        self.frames = Frames(page, opens, self._on_answered)
        self.dialog: Dialog | None = None
        self.status: int | None = None
        self.load_error = ""
        """Why the last document failed to load, in Chromium's words."""
        self.crashed = False
        self._silences = 0
        """The number of questions in a row that were not answered."""
        self.document: Response | None = None
        """The response that the document in front came in."""
        self.loads_data = False
        """Whether a script of the document in front has asked a server for something, so that it may show more later."""
        self.in_flight: set[Request] = set()
        self.navigations: dict[tuple[str, str], Frame] = {}
        """The frames that requested navigations, by method and address."""
        self._interruption: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._unfinished: set[asyncio.Future[Any]] = set()

    async def begin(self) -> None:
        page = self.page
        page.on("dialog", self._on_dialog)
        page.on("crash", self._on_crash)
        page.on("close", self._interrupt)
        page.on("request", self._on_request)
        page.on("requestfinished", self._on_finished)
        page.on("requestfailed", self._on_failed)
        page.on("response", self._on_response)
        page.on("websocket", self._on_socket)
        await self.frames.begin()

    async def read_status(self) -> None:
        """Read the HTTP status of a page that loaded before our listeners were installed, as in a new pop-up."""
        if self.status is None:
            with suppress(DocumentGone, PageInterrupted):
                self.status = await self.query(self.frames.run(_STATUS)) or None

    @property
    def alive(self) -> bool:
        return not (self.crashed or self.page.is_closed())

    @property
    def size(self) -> tuple[int, int] | None:
        """The width and height of the visible part, in CSS pixels, if they are fixed."""
        size = self.page.viewport_size
        return (size["width"], size["height"]) if size else None

    @property
    def silent(self) -> bool:
        """Whether the page did not answer the last question."""
        return self._silences > 0

    @property
    def interrupted(self) -> bool:
        return self.dialog is not None or not self.alive

    async def perform(self, work: Awaitable[T]) -> T:
        """Await some work on the page. Raise `PageInterrupted` as soon as a dialog opens or the page is gone.

        Work that a dialog interrupted continues after the dialog is answered.
        """
        if self._interruption.done():
            if asyncio.iscoroutine(work):
                work.close()
            raise PageInterrupted
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait({task, self._interruption}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if task.done():
            return task.result()
        self._unfinished.add(task)
        task.add_done_callback(self._on_unfinished_done)
        raise PageInterrupted

    async def query(self, work: Awaitable[T]) -> T:
        """Await a call of our scripts like `perform`, but with a time limit. Raise `DocumentSilent` if no answer comes."""
        try:
            async with asyncio.timeout(self._time_limit):
                answer = await self.perform(work)
        except TimeoutError:
            self._silences += 1
            raise DocumentSilent(f"{self.page.url} does not answer") from None
        self._silences = 0
        return answer

    @property
    def _time_limit(self) -> float:
        return min(_SOON * 2 ** (self._silences - 1), _ANSWERS_WITHIN) if self.silent else _ANSWERS_WITHIN

    async def answer(self, accept: bool, text: str = "") -> None:
        """Answer the open dialog, and await the work that it interrupted."""
        dialog, self.dialog = self.dialog, None
        assert dialog is not None, "no dialog is open"
        self._interruption = asyncio.get_running_loop().create_future()
        await (dialog.accept(text or dialog.default_value) if accept else dialog.dismiss())
        if self._unfinished:
            await self.perform(asyncio.wait(self._unfinished.copy()))

    def _on_unfinished_done(self, task: "asyncio.Future[Any]") -> None:
        self._unfinished.discard(task)
        if not task.cancelled():
            task.exception()  # asyncio logs an exception that is never retrieved, and the caller no longer waits

    # --- events of the browser

    def _interrupt(self, _event: object = None) -> None:
        if not self._interruption.done():
            self._interruption.set_result(None)

    def _on_dialog(self, dialog: "Dialog") -> None:
        self.dialog = dialog
        self._interrupt()

    def _on_answered(self) -> None:
        """Note that a dialog was closed, by `answer` or by a person."""
        if self.dialog is not None:
            self.dialog = None
            self._interruption = asyncio.get_running_loop().create_future()

    def _on_crash(self, _page: "Page") -> None:
        self.crashed = True
        self.in_flight.clear()
        self._interrupt()

    def _on_request(self, request: "Request") -> None:
        if self._is_document(request):
            self.in_flight.clear()
            self.loads_data = False
        if request.resource_type in _BY_SCRIPTS:
            self.loads_data = True
        if request.resource_type not in _UNWAITED:
            self.in_flight.add(request)
        if request.is_navigation_request():
            self.frames.mark_requested(request.url)
            self.navigations[request.method, request.url] = request.frame
            while len(self.navigations) > _REMEMBERED:
                self.navigations.pop(next(iter(self.navigations)))

    def _on_socket(self, _socket: object) -> None:
        self.loads_data = True

    def _on_finished(self, request: "Request") -> None:
        self.in_flight.discard(request)

    def _on_failed(self, request: "Request") -> None:
        self.in_flight.discard(request)
        if self._is_document(request) and request.failure != _STAYED:
            self.load_error = request.failure or "failed"

    def _on_response(self, response: "Response") -> None:
        if self._is_document(response.request) and response.status != _NO_CONTENT:
            self.status, self.load_error, self.document = response.status, "", response

    def _is_document(self, request: "Request") -> bool:
        return request.is_navigation_request() and request.frame == self.page.main_frame


class DownloadedFile:
    """A file that was downloaded, or is still arriving."""

    def __init__(self, number: int, download: "Download") -> None:
        self.number = number
        self.name = download.suggested_filename
        self.url = download.url
        self.path: Path | None = None
        """The path of the file, once it is complete."""
        self.failure = ""


class Downloads:
    """The downloads of a session, in order. Files stay in the given folder; without one, they are deleted with the session."""

    def __init__(self, folder: str = "") -> None:
        self._given = Path(folder).absolute() if folder else None
        self._own: Path | None = None
        self._arrivals: list[DownloadedFile] = []

    def __iter__(self) -> Iterator[DownloadedFile]:
        return iter(self._arrivals)

    def __len__(self) -> int:
        return len(self._arrivals)

    async def keep(self, download: "Download") -> None:
        """Wait until a download is complete, and save it."""
        from playwright.async_api import Error

        arrival = DownloadedFile(len(self) + 1, download)
        self._arrivals.append(arrival)
        with suppress(Error):  # the browser was closed before the download was complete
            arrival.failure = await download.failure() or ""
            if not arrival.failure:
                await self._save(download, arrival)

    async def _save(self, download: "Download", arrival: DownloadedFile) -> None:
        try:
            path = await asyncio.to_thread(self._reserve, Path(arrival.name).name)
        except OSError as problem:
            arrival.failure = str(problem)
            return
        await download.save_as(path)
        path.chmod(FILE)  # Playwright gives the file the mode of its temporary copy
        arrival.path = path

    def _reserve(self, name: str) -> Path:
        """Create an empty file under a free name: an existing file is never overwritten."""
        wanted = self._folder() / name
        for number in count(1):
            path = wanted.with_stem(f"{wanted.stem}-{number}") if number > 1 else wanted
            with suppress(FileExistsError):
                path.touch(FILE, exist_ok=False)
                return path
        raise AssertionError("numbers do not end")

    def _folder(self) -> Path:
        if self._given is not None:
            private_folder(self._given)
            return self._given
        self._own = self._own or Path(tempfile.mkdtemp(prefix="midcourse-downloads-"))
        return self._own

    def close(self) -> None:
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)


class Tabs:
    """The tabs of a session in the order in which they were opened. A tab that opens outside of an act stays in the background."""

    def __init__(self, context: "BrowserContext", downloads: Downloads) -> None:
        self._context = context
        self.downloads = downloads
        self._tabs: dict[int, Tab] = {}
        self._front = 0
        self._opened_ever = 0
        self._private: set[Page] = set()
        self._opening = asyncio.Lock()
        self._arriving: set[asyncio.Task[None]] = set()
        self._announced = 0
        self._all_came = asyncio.Event()
        self._all_came.set()
        self.acting = False
        self.opened_by_act: list[Tab] = []
        """The tabs that the current act opened."""

    async def begin(self) -> Tab:
        """Open the first tab, which is empty."""
        self._context.on("page", self._on_page)
        return await self.open()

    @property
    def front(self) -> Tab:
        return self._tabs[self._front]

    @property
    def others(self) -> tuple[Tab, ...]:
        return tuple(tab for number, tab in self._tabs.items() if number != self._front)

    def __len__(self) -> int:
        return len(self._tabs)

    async def open(self) -> Tab:
        """Open a tab in front."""
        tab = await self._adopt(await self._open_page())
        self._front = tab.number
        return tab

    async def open_hidden(self) -> Tab:
        """Open a tab that observations do not include. The caller closes its page."""
        tab = Tab(await self._open_page(), 0)
        await tab.begin()
        return tab

    async def _open_page(self) -> "Page":
        async with self._opening:
            page = await self._context.new_page()
            self._private.add(page)
            return page

    async def wait_for_arrivals(self) -> None:
        """Wait a short time for every announced tab and file. A download may be slow, and a tab may be blocked from opening."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._all_came.wait(), _SOON)
        self._expect(0)
        if self._arriving:
            await asyncio.wait(self._arriving, timeout=_SOON)

    def find(self, zone_id: str) -> Tab | None:
        """Return the tab that a zone such as `tab2` stands for; `page` stands for the tab in front."""
        return self.front if zone_id == "page" else self._tabs.get(int(zone_id.removeprefix("tab")))

    def find_navigation(self, method: str, url: str) -> "tuple[Tab, Frame]":
        """Return the tab and frame that last requested this navigation, or those in front if they are gone."""
        for tab in self._tabs.values():
            frame = tab.navigations.get((method, url))
            if frame is not None and tab.alive and not frame.is_detached():
                return tab, frame
        return self.front, self.front.page.main_frame

    async def switch(self, tab: Tab) -> None:
        self._front = tab.number
        await tab.page.bring_to_front()

    # --- events of the browser

    def _on_opening(self) -> None:
        self._expect(self._announced + 1)

    def _on_page(self, page: "Page") -> None:
        self._expect(max(0, self._announced - 1))
        self._run_in_background(self._adopt_popup(page))

    def _expect(self, tabs: int) -> None:
        self._announced = tabs
        if tabs:
            self._all_came.clear()
        else:
            self._all_came.set()

    async def _adopt_popup(self, page: "Page") -> None:
        from playwright.async_api import Error

        acting = self.acting
        async with self._opening:
            if page in self._private:
                return
        with suppress(Error):  # the pop-up was closed as soon as it was opened
            tab = await self._adopt(page)
            if acting and tab.number in self._tabs:
                self._front = tab.number
                self.opened_by_act.append(tab)

    async def _adopt(self, page: "Page") -> Tab:
        self._opened_ever += 1
        tab = Tab(page, self._opened_ever, self._on_opening, opener=self._front)
        page.on("download", self._on_download)
        page.on("close", lambda _: self._on_closed(tab))
        await tab.begin()
        if tab.alive or not self._tabs:
            self._tabs[tab.number] = tab
        return tab

    def _on_closed(self, tab: Tab) -> None:
        """Remove a closed tab, and bring its opener or the newest tab to the front. The last tab is kept, although it is closed."""
        if len(self._tabs) > 1:
            self._tabs.pop(tab.number, None)
            if self._front == tab.number:
                self._front = tab.opener if tab.opener in self._tabs else max(self._tabs)

    def _on_download(self, download: "Download") -> None:
        self._run_in_background(self.downloads.keep(download))

    def _run_in_background(self, work: Awaitable[None]) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._arriving.add(task)
        task.add_done_callback(self._arriving.discard)


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long the page must be quiet, and the maximum time to wait for that, in seconds."""

    quiet: float = 0.1
    most: float = 5.0


async def settle(
    tab: Tab,
    patience: Patience,
    is_ignored: "Callable[[Request], bool]" = lambda _: False,
    is_busy: Callable[[], bool] = lambda: False,
) -> None:
    """Wait until the page is quiet, closed or silent, or a dialog is open; at most as long as `patience` allows.

    Requests that began before the act or that are held are ignored. `is_busy` says that something else is awaited. If the network is quiet and the documents never stop
    changing, as in an animation, the wait ends after a second.
    """
    loop = asyncio.get_running_loop()
    begun = busy = loop.time()
    while not (tab.interrupted or tab.silent) and (left := begun + patience.most - loop.time()) > 0:
        asked = loop.time()
        still = await _read_quiet_seconds(tab, left)
        now = loop.time()
        quiet = max(patience.quiet, _SLOWNESS * (now - asked))
        loading = tab.frames.is_leaving or is_busy() or not all(map(is_ignored, tab.in_flight))
        if loading:
            busy = now
        still = min(still, now - begun, now - busy)
        if still >= quiet or now - busy > max(_MAX_RESTLESS, quiet):
            return
        await asyncio.sleep(_PAUSE if loading else max(quiet - still, 0.001))


async def _read_quiet_seconds(tab: Tab, within: float) -> float:
    """Return the seconds since the last change in any document, or 0 if no document exists or answers."""
    try:
        async with asyncio.timeout(within):
            return min(await tab.perform(tab.frames.ask_all("stillFor")), default=0.0) / 1000
    except (PageInterrupted, TimeoutError):
        return 0.0
