"""The browser as a world: what can be done in it, and what it can be asked."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Annotated, Any, Literal

from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Scalar
from midcourse.domain.observation import Observation
from midcourse.domain.outcome import Outcome
from midcourse.domain.skill import Parameter
from midcourse.ports.world import Call, Catalogue
from midcourse.worlds.base import BaseWorld, Scene, Unseen, Zone, failed, no_effect, probe, skill
from midcourse.worlds.browser.address import PAGES, AddressRefused
from midcourse.worlds.browser.capture import shows
from midcourse.worlds.browser.forms import commit_of_form
from midcourse.worlds.browser.frames import Gone
from midcourse.worlds.browser.hands import Hands, Unreached
from midcourse.worlds.browser.origins import Origins, read_origins
from midcourse.worlds.browser.outbox import Held, commit_of
from midcourse.worlds.browser.reading import Kind, Unreadable, read_as
from midcourse.worlds.browser.screenshots import Screenshots, When, drawn
from midcourse.worlds.browser.session import Session, Terms
from midcourse.worlds.browser.settle import Patience
from midcourse.worlds.browser.tabs import Interrupted, Tab

_OPTIONS = ("option", "menuitem", "menuitemradio", "treeitem")
_GLANCE = 0.05
_WAYS = {"down": (0, 1), "up": (0, -1), "right": (1, 0), "left": (-1, 0)}


class Browser(BaseWorld):
    """A session in a Chromium of its own that begins at `start`. All options can be written in a task file.

    Whatever comes up by itself (dialogs, new tabs, files, a crash) is seen at the next look; nothing of it raises.
    """

    name = "browser"
    blocks = False

    def __init__(
        self,
        start: str,
        *,
        headed: bool = False,
        origins: str | Mapping[str, object] | None = None,
        authorities: str = "",
        storage: str = "",
        screenshots: When = "never",
        blobs: str = "",
        width: int = 1280,
        height: int = 800,
        executable: str = "",
        quiet_seconds: float = 0.1,
        settle_seconds: float = 5.0,
        navigate_seconds: float = 30.0,
    ) -> None:
        """`origins` says whom it may speak to besides the start, and what is known about them: a policy file, or what would
        be in one. `authorities` is a file with certificates to trust besides the usual ones.

        `storage` is a file with cookies to begin with, kept up to date. `blobs` is where screenshots go.

        A page has settled after `quiet_seconds` without a change and without a request under way, or after
        `settle_seconds` whatever it does.
        """
        super().__init__()
        self._terms = Terms(
            start=start,
            headed=headed,
            executable=executable,
            width=width,
            height=height,
            storage=storage,
            origins=read_origins(origins, start),
            authorities=authorities,
            patience=Patience(quiet=quiet_seconds, most=settle_seconds),
            navigate_seconds=navigate_seconds,
        )
        self._screenshots = Screenshots(screenshots, blobs)
        self._catalogue = _catalogue(super().catalogue(), start, self._terms.origins)
        self._session: Session | None = None

    # --- the port

    async def open(self) -> str:
        await super().open()
        self._session = await Session.begin(self._terms)
        return ""

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.end()

    def catalogue(self) -> Catalogue:
        """Of every skill it shows only when it is tried whether it would send something, and what."""
        return self._catalogue

    async def commit_set(self, call: Call) -> CommitSet | None:
        if self._session is None or self._session.fence.lost(call):
            return None
        held = self._session.fence.waiting_for(call)
        commit = commit_of(held) if held else await super().commit_set(call)
        return self._session.fence.agree(call, commit)

    async def look(self) -> Scene | Unseen:
        if self._session is None:
            return Unseen(reason="world_lost", detail="the browser is not open")
        return await self._session.look()

    async def observe(self) -> Observation | Unseen:
        seen = await super().observe()
        if isinstance(seen, Unseen):
            return seen
        return replace(seen, screenshot=await self._screenshots.of(self._tab, seen.fingerprint))

    async def picture(self, seen: Observation, *, whole: bool = False) -> bytes:
        """For people: a PNG of the page, in view or whole, with the zones of this look drawn over it."""
        return await drawn(self._tab, seen.zones, whole=whole)

    async def _attempt(self, call: Call) -> Outcome:
        if self._session is None:
            return failed("world_lost", "the browser is not open")
        if self._tab.dialog is not None and call.skill not in ("accept", "dismiss", "switch_tab", "close_tab"):
            return failed("dialog_open", f"the dialog '{self._tab.dialog.message}' has to be answered first")
        declared = self.catalogue().skill(call.skill)
        if declared is None or declared.effect == "read":
            return await self._carried_out(call)
        fence = self._session.fence
        if (repeated := fence.repeats(call)) is not None:
            return repeated
        await self._session.stir()
        own = fence.begin(call)
        with fence.expecting(call):
            outcome = await (self._let_go(own) if own else self._carried_out(call))
            await self._session.rest()
        outcome = fence.judged(call, outcome, sends=bool(own) or declared.effect == "irreversible")
        await self._session.keep()
        if self._tab.crashed:
            outcome = _interrupted(self._tab)
        self._screenshots.failed = outcome.status != "ok"
        return outcome

    async def _carried_out(self, call: Call) -> Outcome:
        async def attempt() -> Outcome:
            return await self._secret_refused(call) or await super(Browser, self)._attempt(call)

        return await self._come_what_may(attempt())

    async def _let_go(self, held: Sequence[Held]) -> Outcome:
        return await self._come_what_may(self._running.let_go(held))

    async def _come_what_may(self, doing: Awaitable[Outcome]) -> Outcome:
        from playwright.async_api import Error

        tab = self._tab
        try:
            return await doing
        except Unreached as unreached:
            return unreached.outcome
        except Interrupted:
            return _interrupted(tab)
        except (Gone, Error) as error:
            return (
                _interrupted(tab) if tab.interrupted else Outcome(status="unknown", reason="error", detail=str(error))
            )

    async def _secret_refused(self, call: Call) -> Outcome | None:
        """A secret is typed into fields of origins that may know it, and is pictured nowhere."""
        if not call.secrets:
            return None
        zone = await self._find(call.zone)
        if zone is None:
            return failed("secret_not_allowed_here", "a secret is typed into a field, and into nothing else")
        await self._hands.load("secrets.js", zone)
        origin = await self._hands.ask("origin", zone)
        for _, name in call.secrets:
            if not self._terms.origins.takes_secret(str(name), origin):
                detail = f"'{name}' may not be typed at {origin}; if it belongs there, add it to its secrets"
                return failed("secret_not_allowed_here", detail)
        return await self._hands.ask("conceal", zone)

    @property
    def _running(self) -> Session:
        assert self._session is not None, "the browser is not open"
        return self._session

    @property
    def _tab(self) -> Tab:
        return self._running.tab

    @property
    def _hands(self) -> Hands:
        return Hands(self._tab)

    # --- skills: going places

    @skill(transition=True, undo="go_back")
    async def navigate(self, url: str) -> Outcome | None:
        """Go to an address."""
        try:
            address, _ = self._terms.origins.check(url, PAGES)
        except AddressRefused as refused:
            return failed("not_permitted", str(refused))
        return await self._running.go(address.url)

    @skill(transition=True)
    async def go_back(self) -> Outcome | None:
        """Go back to the page before."""
        back = await self._tab.doing(self._tab.page.go_back(wait_until="commit"))
        return None if back is not None else no_effect("there is no page before this one")

    @skill(transition=True)
    async def switch_tab(self, zone: Zone) -> Outcome | None:
        """Bring another tab to the front."""
        tab = self._running.tabs.called(zone.id) if zone.role == "tab" else None
        if tab is None:
            return failed("wrong_target", f"{zone.role} '{zone.label}' is no tab")
        return await self._running.tabs.switch(tab)

    @skill(transition=True)
    async def close_tab(self, zone: Zone) -> Outcome | None:
        """Close a tab, or with `page` the one in front."""
        tab = self._running.tabs.called(zone.id) if zone.role in ("tab", "page") else None
        if tab is None:
            return failed("wrong_target", f"{zone.role} '{zone.label}' is no tab")
        if len(self._running.tabs) == 1:
            return failed("last_tab", "the last tab stays open")
        return await tab.page.close()

    # --- skills: mouse and keyboard

    @skill(transition=True)
    async def click(self, zone: Zone, button: Literal["left", "right"] = "left", times: int = 1) -> Outcome | None:
        """Click on it."""
        return await self._hands.click(zone, button=button, times=times)

    @skill(undo="clear")
    async def type(self, zone: Zone, text: str) -> Outcome | None:
        """Type text into a field, in place of what is there."""
        return await self._hands.write(zone, text)

    @skill
    async def clear(self, zone: Zone) -> Outcome | None:
        """Empty a field."""
        return await self._hands.write(zone, "")

    @skill(transition=True)
    async def press(self, zone: Zone, keys: Annotated[str, "such as Enter, ArrowDown or Control+A"]) -> Outcome | None:
        """Press keys on it."""
        return await self._hands.press(keys, None if zone.role == "page" else zone)

    @skill(transition=True)
    async def press_keys(self, keys: Annotated[str, "such as Escape or Control+A"]) -> Outcome | None:
        """Press keys, wherever the focus is."""
        return await self._hands.press(keys)

    @skill
    async def hover(self, zone: Zone) -> Outcome | None:
        """Move the mouse over it."""
        return await self._hands.hover(zone)

    @skill
    async def scroll(
        self,
        zone: Zone,
        direction: Literal["down", "up", "right", "left"] = "down",
        amount: Annotated[float, "in screens"] = 0.8,
    ) -> Outcome | None:
        """Scroll what it is in, or with `page` the page."""
        right, down = _WAYS[direction]
        return await self._hands.scroll(zone, right * amount, down * amount)

    @skill
    async def drag(
        self,
        zone: Zone,
        to: Annotated[str, "the id of another zone"] = "",
        right: Annotated[float, "pixels"] = 0.0,
        down: Annotated[float, "pixels"] = 0.0,
    ) -> Outcome | None:
        """Drag it onto another zone, or by so many pixels."""
        target = await self._find(to) if to else None
        if to and target is None:
            return Outcome(status="unreachable", reason="target_not_visible", detail=f"there is no zone '{to}'")
        return await self._hands.drag(zone, target, right, down)

    # --- skills: fields and dialogs

    @skill
    async def select(self, zone: Zone, option: Annotated[str, "several with ' | ' between them"]) -> Outcome | None:
        """Select an option, and only it."""
        names = [name.strip() for name in option.split(" | ")]
        outcome = await self._hands.choose(zone, names)
        if outcome is None or outcome.reason != "wrong_target":
            return outcome
        if zone.get("options") and zone.role in ("textbox", "combobox", "searchbox"):
            return await self._hands.write(zone, option)
        return await self._pick(zone, option)

    async def _pick(self, zone: Zone, option: str) -> Outcome | None:
        """From a list that the page has made itself: it opens at a click."""
        found = await self._option(option)
        if found is None:
            await self._hands.click(zone)
            await self._running.rest()
            found = await self._option(option)
        if found is None:
            return failed("no_such_option", f"no option '{option}' showed at {zone.role} '{zone.label}'")
        return await self._hands.click(found)

    async def _option(self, label: str) -> Zone | None:
        scene = await self._running.look()
        return next((zone for zone in scene.zones if zone.role in _OPTIONS and zone.label == label), None)

    @skill(undo="uncheck")
    async def check(self, zone: Zone) -> Outcome | None:
        """Make sure that it is checked."""
        return await self._hands.set_checked(zone, True)

    @skill(undo="check")
    async def uncheck(self, zone: Zone) -> Outcome | None:
        """Make sure that it is not checked."""
        return await self._hands.set_checked(zone, False)

    @skill
    async def upload(self, zone: Zone, path: str) -> Outcome | None:
        """Give a file to a field, or to a button that asks for one."""
        file = Path(path)
        if not await asyncio.to_thread(file.is_file):
            return failed("no_such_file", f"there is no file '{path}'")
        return await self._hands.upload(zone, file)

    @skill(transition=True)
    async def accept(self, zone: Zone, text: Annotated[str, "for a dialog that asks for it"] = "") -> Outcome | None:
        """Say yes to an open dialog of the browser's."""
        return await self._answer(zone, accept=True, text=text)

    @skill(transition=True)
    async def dismiss(self, zone: Zone) -> Outcome | None:
        """Say no to an open dialog of the browser's."""
        return await self._answer(zone, accept=False)

    async def _answer(self, zone: Zone, *, accept: bool, text: str = "") -> Outcome | None:
        if zone.id != "dialog":
            return failed("wrong_target", f"{zone.role} '{zone.label}' is on the page; click its buttons")
        return await self._tab.answer(accept, text)

    # --- skills: sending

    @skill(effect="irreversible", transition=True, commit_set="form_sends")
    async def submit(self, zone: Zone) -> Outcome | None:
        """Submit the form that it belongs to. All of its fields leave."""
        form = await self._form(zone)
        if form is None:
            return failed("wrong_target", f"{zone.role} '{zone.label}' belongs to no form")
        if form["pressed"]:
            return await self._hands.click(zone)
        return await self._hands.ask("submit", zone)

    async def form_sends(self, zone: Zone) -> CommitSet | None:
        form = await self._form(zone)
        return None if form is None else commit_of_form(form)

    async def _form(self, zone: Zone) -> dict[str, Any] | None:
        await self._hands.load("forms.js", zone)
        return await self._hands.ask("form", zone)

    @skill(effect="irreversible", transition=True, commit_set="request_sends")
    async def send(self, zone: Zone) -> Outcome | None:
        """Let a request go that waits."""
        if self._running.fence.request(zone.id) is None:
            return failed("wrong_target", f"{zone.role} '{zone.label}' is no request that waits")
        return Outcome(status="no_effect", reason="would_send", detail="it has to be allowed first")

    async def request_sends(self, zone: Zone) -> CommitSet | None:
        held = self._running.fence.request(zone.id)
        return None if held is None else held.request.commit

    # --- skills: reading

    @skill(effect="read")
    async def wait_for(self, text: str, seconds: float = 10.0) -> Outcome | None:
        """Wait until a text is to be seen."""
        deadline = asyncio.get_running_loop().time() + seconds
        while not shows(await self._running.look(), text):
            if asyncio.get_running_loop().time() > deadline:
                return failed("not_seen", f"'{text}' did not show within {seconds:g} s")
            await asyncio.sleep(_GLANCE)
        return None

    @skill(effect="read")
    async def read(self, zone: Zone) -> Mapping[str, Scalar]:
        """Read all of its text, or with `page` the page's."""
        return {"text": await self._hands.read(zone)}

    @skill(effect="read")
    async def extract(
        self, zone: Zone, name: Annotated[str, "the field of the output that it fills"], kind: Kind = "string"
    ) -> Mapping[str, Scalar] | Outcome:
        """Read what it says, as a value of the task's output."""
        text = await self._hands.read(zone)
        try:
            return {name: read_as(kind, text)}
        except Unreadable as trouble:
            return failed("unreadable", str(trouble))

    # --- probes

    @probe
    async def page_shows(self, url: str, text: str) -> bool | None:
        """Whether another page says this. The session's own tabs stay as they are."""
        said = await self._running.text_at(url)
        return None if said is None else text in said


def _catalogue(declared: Catalogue, start: str, origins: Origins) -> Catalogue:
    """With the destinations among the parameters, and those of them that the policy file vouches for."""
    vouched = tuple("*".join(map(escape, pattern.split("*"))) for pattern in origins.vouched)
    destinations = {("navigate", "url"): (escape(start), *vouched), ("upload", "path"): ()}

    def marked(skill: str, parameter: Parameter) -> Parameter:
        where = destinations.get((skill, parameter.name))
        return parameter if where is None else replace(parameter, destination=True, vouched=where)

    skills = (
        replace(one, commits="world", parameters=tuple(marked(one.name, each) for each in one.parameters))
        for one in declared.skills
    )
    return replace(declared, skills=tuple(skills))


def _interrupted(tab: Tab) -> Outcome:
    """Something came up before it was over, and will be seen."""
    if tab.crashed:
        return failed("page_crashed", f"the page crashed: {tab.page.url}")
    return Outcome(detail=f"a dialog opened: {tab.dialog.message}" if tab.dialog else "the page closed itself")
