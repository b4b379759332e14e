"""Runs our scripts in every frame of a page, in an isolated JavaScript world that scripts of the page cannot see or touch."""

import asyncio
import gc
import json
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag

from pydantic_core import from_json

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page

_WORLD = "midcourse"
_SCRIPTS = (
    "watch.js",
    "words.js",
    "roles.js",
    "states.js",
    "fingerprint.js",
    "places.js",
    "capture.js",
    "reach.js",
    "fields.js",
    "page_forms.js",
)
_PATIENCE = 5.0
"""Seconds to wait for a new document after the last one is gone."""
_INNER_ANSWERS_WITHIN = 10.0
_SILENT_ANSWERS_WITHIN = 0.5
"""Seconds that an inner frame has to answer, and that one has which did not answer before. The page does not wait longer for it."""
_ASKS_WITHIN = 1.0
"""Seconds from the start of a navigation to its request, on a busy machine. A navigation that is stopped sends no request."""


@cache
def script(*names: str) -> str:
    """Return the text of our scripts. It is read only once, so that a long-lived process does not mix versions after an upgrade."""
    folder = files("midcourse.worlds.browser.page") / "js"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


class DocumentGone(Exception):
    """The document no longer exists."""


class DocumentSilent(DocumentGone):
    """The document does not answer, because a script of the page never ends, or because the next page stopped loading halfway."""


@dataclass(frozen=True, kw_only=True)
class Context:
    """The JavaScript context in which our scripts run in one document. Other processes may reuse `number`, but never `unique`."""

    cdp: Any
    """The CDP session. It has no type, because Playwright declares none."""
    number: int
    unique: str

    async def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        from playwright.async_api import Error

        try:
            return await self.cdp.send(method, parameters)
        except Error as error:
            raise DocumentGone(error.message) from error


class Frames:
    """The frames of one page, by Chromium's ids. `main` is the outermost frame.

    A frame of another site runs in another process, which has a separate CDP session.
    """

    def __init__(self, page: "Page", opens: Callable[[], None], answered: Callable[[], None]) -> None:
        """`opens` is called when the page is about to open a window, `answered` when a dialog has closed."""
        self._page = page
        self._opens = opens
        self._dialog_answered = answered
        self._contexts: dict[str, Context] = {}
        self._parents: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._owned: set[tuple[str, str]] = set()
        self._tried: dict[Frame, str] = {}
        self._silent: set[str] = set()
        """Documents of inner frames that did not answer the last question."""
        self._came = asyncio.Event()
        self._leaving: dict[str, tuple[str, float]] = {}
        self.main = ""

    async def begin(self) -> None:
        """Install our scripts in every document of the page, present and future."""
        self.main = await self._listen(self._page)

    def name_frame(self, frame: str) -> str:
        """Return the name of a frame, which is the prefix of its zone ids: empty for the main frame, `f1`, `f2`, … for others."""
        if frame == self.main:
            return ""
        return self._names.setdefault(frame, f"f{len(self._names) + 1}")

    def find(self, name: str) -> str:
        """Return the id of the frame with this name, or an empty string."""
        return next((frame for frame, known in self._names.items() if known == name), "") if name else self.main

    def find_parent(self, frame: str) -> str:
        return self._parents.get(frame, "")

    @property
    def is_leaving(self) -> bool:
        """Whether a frame has started a navigation and not requested it yet, as after a click on a submit button."""
        now = asyncio.get_running_loop().time()
        return any(now < until for _, until in self._leaving.values())

    def mark_requested(self, url: str) -> None:
        """Note that the navigation to this URL has been requested."""
        gone = [frame for frame, (wanted, _) in self._leaving.items() if urldefrag(wanted).url == urldefrag(url).url]
        for frame in gone:
            del self._leaving[frame]

    @property
    def all(self) -> tuple[str, ...]:
        """The frames that have a document now."""
        return tuple(self._contexts)

    async def ask(self, function: str, *arguments: object, frame: str = "") -> Any:
        """Call `midcourse.<function>` in a frame and return the result, decoded if it is JSON text. Raise `DocumentGone` if the document is gone."""
        words = ", ".join(json.dumps(argument) for argument in arguments)
        value = await self.run(f"midcourse.{function}({words})", frame=frame)
        if not isinstance(value, str):
            return value
        with pause_gc():
            return _decode_json(value)

    async def run(self, source: str, *, frame: str = "") -> Any:
        """Evaluate a script in our isolated world. Raise `DocumentGone` if the document is gone, `DocumentSilent` if it does not answer."""
        context = await self._wait_for_context(frame or self.main)
        try:
            async with asyncio.timeout(self._time_limit(frame, context)):
                answer = await context.send(
                    "Runtime.evaluate",
                    expression=source,
                    uniqueContextId=context.unique,
                    returnByValue=True,
                    awaitPromise=True,
                )
        except TimeoutError:
            self._silent.add(context.unique)
            raise DocumentSilent(f"frame {self.name_frame(frame)} does not answer") from None
        self._silent.discard(context.unique)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "a script failed"))
        return answer["result"].get("value")

    def _time_limit(self, frame: str, context: Context) -> float | None:
        """Return the time limit of a question, or None for the main frame, for which the caller sets one."""
        if frame in ("", self.main):
            return None
        return _SILENT_ANSWERS_WITHIN if context.unique in self._silent else _INNER_ANSWERS_WITHIN

    async def ask_all(self, function: str, *arguments: object) -> list[Any]:
        """Return the results of `ask` in every document that exists and answers."""
        answers = await asyncio.gather(
            *(self.ask(function, *arguments, frame=frame) for frame in self.all), return_exceptions=True
        )
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(answer, DocumentGone):
                raise answer
        return [answer for answer in answers if not isinstance(answer, BaseException)]

    async def address(self) -> str:
        """Return the URL of the page, even if the page failed to load. Raise `DocumentGone` if the document is gone."""
        context = await self._wait_for_context(self.main)
        document = (await context.send("Page.getFrameTree"))["frameTree"]["frame"]
        return document.get("unreachableUrl") or document["url"]

    async def has_page_before(self) -> bool:
        """Whether the tab's history has an earlier page. The blank page that a tab opens with does not count."""
        context = await self._wait_for_context(self.main)
        history = await context.send("Page.getNavigationHistory")
        return any(entry["url"] != "about:blank" for entry in history["entries"][: history["currentIndex"]])

    async def give_file(self, frame: str, number: int, path: str) -> None:
        context = await self._wait_for_context(frame)
        expression = f"midcourse.element({number})"
        found = await context.send("Runtime.evaluate", expression=expression, uniqueContextId=context.unique)
        await context.send("DOM.setFileInputFiles", files=[path], objectId=found["result"]["objectId"])

    async def read_layout(self) -> list[dict[str, Any]]:
        """Return layout snapshots of each process that draws a part of the page. Raise `DocumentGone` if a document is gone."""
        await self.discover()
        apart = {id(context.cdp): context for context in self._contexts.values()}
        return [await context.send("DOMSnapshot.captureSnapshot", computedStyles=[]) for context in apart.values()]

    async def discover(self) -> None:
        """Find new frames. Connect to those of other sites, and learn which element shows which frame."""
        from playwright.async_api import Error

        for frame in self._page.frames[1:]:
            if self._tried.get(frame) != frame.url:
                self._tried[frame] = frame.url
                with suppress(Error):  # the frame runs in the same process as the frame around it, or is gone
                    await self._listen(frame)
        for frame in self.all:
            if frame != self.main:
                with suppress(DocumentGone):
                    await self._link_owner(frame)

    async def _link_owner(self, frame: str) -> None:
        """Tell the script in the parent which of its elements shows this frame."""
        context = self._contexts.get(self.find_parent(frame))
        if context is None or (frame, context.unique) in self._owned:
            return
        owner = await context.send("DOM.getFrameOwner", frameId=frame)
        node = await context.send(
            "DOM.resolveNode", backendNodeId=owner["backendNodeId"], executionContextId=context.number
        )
        await context.send(
            "Runtime.callFunctionOn",
            functionDeclaration="function (name) { midcourse.owns(this, name); }",
            objectId=node["object"]["objectId"],
            arguments=[{"value": self.name_frame(frame)}],
        )
        self._owned.add((frame, context.unique))

    async def _wait_for_context(self, frame: str) -> Context:
        try:
            async with asyncio.timeout(_PATIENCE):
                while frame not in self._contexts:
                    self._came.clear()
                    await self._came.wait()
        except TimeoutError:
            raise DocumentGone(f"frame {frame} has no document") from None
        return self._contexts[frame]

    # --- events of Chromium

    async def _listen(self, where: "Page | Frame") -> str:
        """Subscribe to the events of a process, and return the id of its outermost frame."""
        cdp: Any = await self._page.context.new_cdp_session(where)

        def on_created(event: dict[str, Any]) -> None:
            self._on_created(cdp, event["context"])

        def on_ended(*_: object) -> None:
            self._drop(frame for frame, context in self._contexts.items() if context.cdp is cdp)

        def on_window_open(_event: object) -> None:
            self._opens()

        def on_dialog_closed(_event: object) -> None:
            self._dialog_answered()

        cdp.on("Runtime.executionContextCreated", on_created)
        cdp.on("Runtime.executionContextDestroyed", self._on_destroyed)
        cdp.on("Runtime.executionContextsCleared", on_ended)
        cdp.on("close", on_ended)
        cdp.on("Page.frameAttached", self._on_attached)
        cdp.on("Page.frameDetached", self._on_detached)
        cdp.on("Page.frameRequestedNavigation", self._on_leaving)
        cdp.on("Page.frameStoppedLoading", self._on_staying)
        cdp.on("Page.windowOpen", on_window_open)
        cdp.on("Page.javascriptDialogClosed", on_dialog_closed)
        for domain in ("Page", "DOM", "Runtime"):
            await cdp.send(f"{domain}.enable")
        tree = (await cdp.send("Page.getFrameTree"))["frameTree"]
        self._learn(tree)
        source = {"source": script(*_SCRIPTS), "worldName": _WORLD, "runImmediately": True}
        await cdp.send("Page.addScriptToEvaluateOnNewDocument", source)
        return tree["frame"]["id"]

    def _learn(self, tree: dict[str, Any]) -> None:
        frame = tree["frame"]
        if parent := frame.get("parentId"):
            self._parents[frame["id"]] = parent
        for child in tree.get("childFrames", ()):
            self._learn(child)

    def _on_created(self, cdp: Any, context: dict[str, Any]) -> None:
        if context["name"] == _WORLD:
            made = Context(cdp=cdp, number=context["id"], unique=context["uniqueId"])
            self._contexts[context["auxData"]["frameId"]] = made
            self._came.set()

    def _on_destroyed(self, event: dict[str, Any]) -> None:
        unique = event["executionContextUniqueId"]
        self._drop(frame for frame, context in self._contexts.items() if context.unique == unique)

    def _drop(self, frames: Iterable[str]) -> None:
        for frame in list(frames):
            del self._contexts[frame]

    def _on_leaving(self, event: dict[str, Any]) -> None:
        if event["disposition"] == "currentTab":
            self._leaving[event["frameId"]] = (event["url"], asyncio.get_running_loop().time() + _ASKS_WITHIN)

    def _on_staying(self, event: dict[str, Any]) -> None:
        self._leaving.pop(event["frameId"], None)

    def _on_attached(self, event: dict[str, Any]) -> None:
        self._parents[event["frameId"]] = event["parentFrameId"]

    def _on_detached(self, event: dict[str, Any]) -> None:
        self._on_staying(event)
        if event.get("reason") != "swap":
            self._contexts.pop(event["frameId"], None)


def _decode_json(text: str) -> Any:
    """Decode JSON. An unpaired surrogate, left by scripts that cut text anywhere, becomes a question mark."""
    try:
        return from_json(text)
    except ValueError:
        return from_json(json.dumps(json.loads(text), ensure_ascii=False).encode(errors="replace"))


@contextmanager
def pause_gc() -> Generator[None]:
    """Pause garbage collection while this context is open, where many objects without cycles are made.

    It took half of the time of a capture. Do not await inside, because the pause is for the whole process.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
