"""Our scripts in every frame of a page, in a world of their own that no script of the page can see or touch."""

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.async_api import Page

_WORLD = "midcourse"
_SCRIPTS = ("watch.js", "capture.js", "reach.js")
_PATIENCE = 5.0
"""Seconds that a document gets to come into being after the one before it is gone."""


def script(*names: str) -> str:
    folder = files("midcourse.worlds.browser")
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


class Gone(Exception):
    """The document that was asked is no longer there."""


@dataclass(frozen=True, kw_only=True)
class Context:
    """Where our scripts run in one document. Numbers are used again by other processes, `unique` never is."""

    number: int
    unique: str


class Frames:
    """Of one page. A frame is known by the id that Chromium has for it; `main` is the outermost one."""

    def __init__(self, page: "Page") -> None:
        self._page = page
        self._cdp: Any = None  # Playwright leaves the types of its session open
        self._contexts: dict[str, Context] = {}
        self._parents: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._owned: set[tuple[str, str]] = set()
        self._came = asyncio.Event()
        self.main = ""

    async def begin(self) -> None:
        """From here on every document of the page has our scripts, those that are there already too."""
        cdp: Any = await self._page.context.new_cdp_session(self._page)
        self._cdp = cdp
        cdp.on("Runtime.executionContextCreated", self._created)
        cdp.on("Runtime.executionContextDestroyed", self._destroyed)
        cdp.on("Runtime.executionContextsCleared", self._cleared)
        cdp.on("Page.frameAttached", self._attached)
        cdp.on("Page.frameDetached", self._detached)
        for domain in ("Page", "DOM", "Runtime"):
            await cdp.send(f"{domain}.enable")
        self._learn((await cdp.send("Page.getFrameTree"))["frameTree"])
        source = {"source": script(*_SCRIPTS), "worldName": _WORLD, "runImmediately": True}
        await cdp.send("Page.addScriptToEvaluateOnNewDocument", source)

    def name_of(self, frame: str) -> str:
        """What the ids of its zones begin with: nothing for the main one, `f1`, `f2`, … for others."""
        if frame == self.main:
            return ""
        return self._names.setdefault(frame, f"f{len(self._names) + 1}")

    def called(self, name: str) -> str:
        """The frame of this name, or nothing."""
        return next((frame for frame, one in self._names.items() if one == name), "") if name else self.main

    def parent_of(self, frame: str) -> str:
        return self._parents.get(frame, "")

    @property
    def inner(self) -> tuple[str, ...]:
        """Those inside others that have a document now."""
        return tuple(frame for frame in self._contexts if frame != self.main)

    async def ask(self, function: str, *arguments: object, frame: str = "") -> Any:
        """What `midcourse.<function>` answers there, out of its JSON if it is text. Raises `Gone`."""
        context = await self._context(frame or self.main)
        words = ", ".join(json.dumps(one) for one in arguments)
        asked = {
            "expression": f"midcourse.{function}({words})",
            "uniqueContextId": context.unique,
            "returnByValue": True,
            "userGesture": False,
        }
        answer = await self._send("Runtime.evaluate", asked)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{function}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        value = answer["result"].get("value")
        return json.loads(value) if isinstance(value, str) else value

    async def own(self, frame: str) -> None:
        """Let the script in the parent know which of its elements shows this frame."""
        context = self._contexts.get(self.parent_of(frame))
        if context is None or (frame, context.unique) in self._owned:
            return
        with suppress(Gone):
            owner = await self._send("DOM.getFrameOwner", {"frameId": frame})
            node = {"backendNodeId": owner["backendNodeId"], "executionContextId": context.number}
            element = await self._send("DOM.resolveNode", node)
            call = {
                "functionDeclaration": "function (name) { midcourse.owns(this, name); }",
                "objectId": element["object"]["objectId"],
                "arguments": [{"value": self.name_of(frame)}],
            }
            await self._send("Runtime.callFunctionOn", call)
            self._owned.add((frame, context.unique))

    async def _context(self, frame: str) -> Context:
        try:
            async with asyncio.timeout(_PATIENCE):
                while frame not in self._contexts:
                    self._came.clear()
                    await self._came.wait()
        except TimeoutError:
            raise Gone(f"frame {frame} has no document") from None
        return self._contexts[frame]

    async def _send(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        from playwright.async_api import Error

        try:
            return await self._cdp.send(method, parameters)
        except Error as error:
            raise Gone(error.message) from error

    # --- what Chromium tells

    def _learn(self, tree: dict[str, Any]) -> None:
        frame = tree["frame"]
        if parent := frame.get("parentId"):
            self._parents[frame["id"]] = parent
        else:
            self.main = frame["id"]
        for child in tree.get("childFrames", ()):
            self._learn(child)

    def _created(self, event: dict[str, Any]) -> None:
        context = event["context"]
        if context["name"] == _WORLD:
            self._contexts[context["auxData"]["frameId"]] = Context(number=context["id"], unique=context["uniqueId"])
            self._came.set()

    def _destroyed(self, event: dict[str, Any]) -> None:
        unique = event["executionContextUniqueId"]
        for frame in [frame for frame, context in self._contexts.items() if context.unique == unique]:
            del self._contexts[frame]

    def _cleared(self, _event: object = None) -> None:
        self._contexts.clear()

    def _attached(self, event: dict[str, Any]) -> None:
        self._parents[event["frameId"]] = event["parentFrameId"]

    def _detached(self, event: dict[str, Any]) -> None:
        self._contexts.pop(event["frameId"], None)
