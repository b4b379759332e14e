"""The browser world: turns a call into an act on a page and its effects into an outcome."""

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from glob import escape
from typing import ClassVar, get_args

from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Pairs
from midcourse.domain.observation import Observation
from midcourse.domain.outcome import ANSWERED_WITH_ERROR, UPLOADED, Outcome
from midcourse.domain.skill import Parameter
from midcourse.errors import TaskInvalid
from midcourse.pictures import When
from midcourse.ports.viewing import Gesture, Handled, View
from midcourse.ports.world import WOULD_PASS_ON, WOULD_SEND, Call, Catalogue, Finding
from midcourse.worlds.base import Scene, Unseen, failed, not_sent
from midcourse.worlds.browser.chromium import Sandbox
from midcourse.worlds.browser.egress.acceptance import Shown, add_response_evidence, find_refused_sign_in, has_error
from midcourse.worlds.browser.egress.address import read_place
from midcourse.worlds.browser.egress.flow import Served
from midcourse.worlds.browser.egress.guard import UPLOAD
from midcourse.worlds.browser.egress.outbox import OutgoingRequest, join_commits
from midcourse.worlds.browser.egress.policy import PUBLIC, SOCKET, Origins, read_allowed_origins
from midcourse.worlds.browser.egress.sign_in import SignIns
from midcourse.worlds.browser.egress.upload import THE_FILE, ApprovedFile
from midcourse.worlds.browser.page.forms import (
    find_changed_values,
    find_form_page,
    find_generated_values,
    find_sources,
    find_words,
    mask_passwords,
)
from midcourse.worlds.browser.page.frames import DocumentGone
from midcourse.worlds.browser.page.input import ZoneUnreachable
from midcourse.worlds.browser.page.screenshots import Screenshots, SecretLocator, draw_zones
from midcourse.worlds.browser.page.tabs import PageInterrupted, Patience, Tab
from midcourse.worlds.browser.session import BrowserSession, SessionOptions, is_blank, says_loading
from midcourse.worlds.browser.skills import Skills
from midcourse.worlds.browser.viewing import Attendance, LiveView

_FILLING = ("check", "clear", "select", "type", "uncheck", "upload")
"""Skills that fill in a part of a form, which stays for the rest."""
_WITH_DIALOG = ("accept", "dismiss", "switch_tab", "close_tab")
"""Skills that work while a browser dialog is open, besides reading."""
_QUIET_AT_FIRST = 0.6
"""Seconds for which a page whose scripts load data must be quiet at its first look. Many wait for 500 ms before they go on."""
_RENDERS_WITHIN, _LOADS_WITHIN, _HOLDS_UP = 8.0, 4.0, 0.5
"""Seconds for which a page that shows nothing is looked at again, one that says that it is loading, and both once something of it is held."""
LOST = Unseen(reason="world_lost", detail="the browser has ended")
NOT_OPEN = Unseen(reason="world_lost", detail="the browser is not open")


class Browser(Skills):
    """A browser session in a Chromium that begins at the address `start`. All options can be written in a task file.

    Dialogs, new tabs, downloads and crashes raise no exception; they appear in the next observation.

    `origins` is the policy, as a file or a mapping of the same form: which origins may be reached besides the start, and what is
    known about them. `within` is the operator's policy, which `origins` cannot exceed; "public" allows all origins outside
    private networks. `authorities` is a file of certificates to trust besides the usual ones.

    `storage` is a file with the cookies to begin with, which is kept up to date. `screenshots` says for which observations a
    screenshot is taken. `downloads` is the folder for downloaded files; without it, they are deleted when the browser is closed.
    `uploads` is the folder below which files may be uploaded; if it is empty, none. By default, the files that the task names may be
    uploaded, and those that this session has downloaded.

    `width` and `height` are the size of the visible part of a page, in CSS pixels. `scale` is the number of screenshot pixels for
    one CSS pixel; with 2, small print is easier to read.

    `sandbox="off"` starts Chromium without its sandbox; for root this is always so. `sessions_per_chromium` is how many sessions
    of one process share a Chromium; a host sets it to 20.

    A page has settled after `quiet_seconds` without a change or a pending request, at the latest after `settle_seconds`.
    """

    name = "browser"
    blocks = False
    keeps: ClassVar[Mapping[str, str]] = {"downloads": "downloads"}
    host_options: ClassVar[Mapping[str, object]] = {
        "authorities": "",
        "executable": "",
        "sandbox": "on",
        "sessions_per_chromium": 20,
        "storage": "",
        "uploads": "",
        "within": PUBLIC,
    }

    def __init__(
        self,
        start: str,
        *,
        headed: bool = False,
        origins: str | Mapping[str, object] | None = None,
        within: str | Mapping[str, object] | None = None,
        authorities: str = "",
        storage: str = "",
        screenshots: When = "never",
        downloads: str = "",
        uploads: str | None = None,
        width: int = 1280,
        height: int = 800,
        scale: float = 1.0,
        executable: str = "",
        sandbox: Sandbox = "on",
        sessions_per_chromium: int = 1,
        quiet_seconds: float = 0.1,
        settle_seconds: float = 5.0,
        navigate_seconds: float = 30.0,
    ) -> None:
        if sandbox not in get_args(Sandbox):
            raise TaskInvalid(f"sandbox is on or off, not '{sandbox}'")
        options = SessionOptions(
            start=start,
            headed=headed,
            executable=executable,
            width=width,
            height=height,
            scale=scale,
            storage=storage,
            downloads=downloads,
            origins=read_allowed_origins(start, origins, within),
            authorities=authorities,
            patience=Patience(quiet=quiet_seconds, most=settle_seconds),
            navigate_seconds=navigate_seconds,
            sandbox=sandbox,
            uploads=uploads,
            sessions_per_chromium=sessions_per_chromium,
        )
        super().__init__(options)
        self._secrets = SecretLocator()
        self._screenshots = Screenshots(screenshots, self._secrets)
        self._live_view = LiveView(self._secrets)
        self._attendance = Attendance(self._live_view, self._secrets)
        self._catalogue = _mark_destinations(super().catalogue(), start, options.origins)
        self._reread: tuple[CommitSet, tuple[str, ...], tuple[str, ...] | None] | None = None
        """The commit set, names and result of the last reread. The result is needed both before and after an approval."""
        self._asked: tuple[CommitSet, CommitSet] | None = None
        """The last commit set, and how it was shown."""
        self._sign_ins = SignIns()
        self._first: object = None
        """The tab and document that were looked at last."""
        self._incomplete: object = None
        """The tab and document that have shown nothing, or said that they are loading, for as long as they were looked at."""
        self._stored = ""
        """The cookies and local storage that the next session begins with, as JSON."""

    # --- the port

    async def open(self) -> str:
        await super().open()
        await self.close()  # in case the Chromium of the last session has ended
        self._session = await BrowserSession.begin(self._options, stored=self._stored, secrets=self._secrets.values)
        return ""

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.end()

    async def wait_until_lost(self) -> None:
        await self._running.lost.wait()

    async def park(self) -> str | None:
        return None if self._running.attended else await self._running.read_storage()

    def unpark(self, stored: str) -> None:
        self._stored = stored

    async def conceal(self, secrets: Pairs) -> None:
        for written, value in secrets:
            name, _, origin = written.partition("@")
            self._secrets.add([(name, str(value))])
            if origin:
                self._sign_ins.bind(name, str(value), origin)
        if self._session is not None:
            self._session.guard.outbox.messages.conceal(self._secrets.values)

    async def attend(self) -> str:
        await self._running.attend()
        return (
            "in the browser's window"
            if self._options.headed
            else "in the console, on the page of the run; the browser has no window: that needs `headed` for this world"
        )

    def catalogue(self) -> Catalogue:
        """Return the skills. Only trying one shows whether it would send something, so the commit set of each comes from the world."""
        return self._catalogue

    async def act(self, call: Call) -> Outcome:
        async with self._live_view.use():
            outcome = await super().act(call)
        # What the guard has proved is still true after Chromium has ended.
        if self._session is None or not self._session.lost.is_set() or outcome.evidence:
            return outcome
        held = outcome.status == "no_effect" and outcome.reason in (
            WOULD_SEND,
            WOULD_PASS_ON,
        )  # it is gone with the browser
        return replace(
            outcome,
            status="no_effect" if held else "unknown",
            reason="world_lost",
            detail=f"{LOST.detail}; {outcome.detail}" if outcome.detail else LOST.detail,
        )

    async def probe(self, name: str, arguments: Pairs) -> Finding:
        async with self._live_view.use():
            return await super().probe(name, arguments)

    async def commit_set(self, call: Call) -> CommitSet | None:
        async with self._live_view.use():
            return await self._read_commit_set(call)

    async def _read_commit_set(self, call: Call) -> CommitSet | None:
        if self._session is None:
            return None
        held = self._session.guard.find_held(call)
        if self._session.guard.has_lost(call):
            # As it was approved; the act then says that it was not sent.
            commit = self._session.guard.find_bound_commit(call)
        else:
            commit = join_commits(held) if held else await super().commit_set(call)
        if commit is not None and commit.address:
            if self._tab.dialog is not None and self._asked is not None and self._asked[0] == commit:
                # Behind a dialog no form can be read, so it is shown as it was before.
                self._session.guard.bind(call, commit)
                return self._asked[1]
            plain, pages = commit, await self._session.read_forms(find_generated_values(commit))
            leads = len(held) == 1 and held[0].request.is_navigation
            source = await self._session.read_source() if leads else ""
            covers = self._session.guard.find_covered(call, self._tab.page.url, pages, source)
            sources, words = find_sources(commit, pages), find_words(commit, pages)
            commit = replace(commit, sources=sources, covers=covers, words=words)
            self._session.guard.bind(call, commit)
            commit = mask_passwords(commit, pages, self._secrets.values)
            file = self._session.guard.find_promised(call)
            if not self._session.guard.has_lost(call):
                file = await self._read_uploaded(call) if held else None
                self._session.guard.promise(call, file)
            shown = replace(commit, values=(*commit.values, (THE_FILE, file.describe()))) if file else commit
            self._asked = (plain, shown)
            return shown
        return self._session.guard.bind(call, commit)

    async def _read_uploaded(self, call: Call) -> ApprovedFile | None:
        """Return the file of an upload whose page has asked where to put it, and sends it once it knows."""
        name, content = await self._read_file(call)
        return self._running.guard.find_file(call, name, content, self._tab.page.url)

    async def _has_sent_file(self, call: Call, sent: Sequence[OutgoingRequest]) -> bool:
        """Whether a script sent the file of this upload, and not only what prepares for it."""
        _, content = await self._read_file(call)
        return bool(content) and any(content in each.request.body for each in sent if not each.request.is_navigation)

    async def _read_file(self, call: Call) -> tuple[str, bytes]:
        """Return the name and content of the file of an upload, both empty if it is none or may not be read."""
        named = dict(call.arguments).get("path")
        if call.skill != UPLOAD or not isinstance(named, str) or await self._refuse_file(call):
            return "", b""
        path = self._find_upload(named)
        try:
            return path.name, await asyncio.to_thread(path.read_bytes)
        except OSError:
            return "", b""

    async def reread(self, call: Call, names: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return which of these values change when the page is loaded again, in a hidden tab."""
        commit = self._session.guard.find_bound_commit(call) if self._session else None
        if self._session is None or commit is None:
            return None
        if self._reread is None or self._reread[:2] != (commit, names):
            async with self._live_view.use():
                self._reread = (commit, names, await self._find_changed(self._session, commit, names))
        return self._reread[2]

    async def _find_changed(
        self, session: BrowserSession, commit: CommitSet, names: tuple[str, ...]
    ) -> tuple[str, ...] | None:
        from playwright.async_api import Error

        before = await session.read_forms(())
        try:
            after = await session.read_forms_at(find_form_page(commit, before)) if before else ()
        except Error:
            return None
        return find_changed_values(commit, names, before, after) if after else None

    async def look(self) -> Scene | Unseen:
        if self._session is None:
            return NOT_OPEN
        seen = LOST if self._session.lost.is_set() else await self._session.look(self._secrets.values)
        return LOST if self._session.lost.is_set() else seen

    async def observe(self) -> Observation | Unseen:
        async with self._live_view.use():
            return await self._observe()

    async def settle(self) -> None:
        if self._session is not None:
            async with self._live_view.use():
                await self._session.settle_fully()

    async def view(self, since: str) -> View:
        return await self._live_view.take(self._session, since) if self._session else View(stamp="")

    async def handle(self, gestures: tuple[Gesture, ...], since: str | None) -> Handled:
        return await self._attendance.handle(self._running, gestures, since)

    async def _observe(self) -> Observation | Unseen:
        if self._session is not None:
            await self._session.end_attendance()
        seen = await self._observe_rendered()
        if isinstance(seen, Unseen):
            return seen
        screenshot = await self._screenshots.take(self._tab, seen.fingerprint)
        return replace(seen, screenshot=screenshot, size=self._tab.size if screenshot else None)

    async def _observe_rendered(self) -> Observation | Unseen:
        """Observe the page, if possible once it shows its content.

        The first look waits until a page whose scripts load data has been quiet for longer. A page that shows nothing, or says that
        it is loading, is looked at again for a while. What a page wants to change by itself before the first act is dropped, since it
        may wait for that; as long as it shows nothing, it is kept, because a plan may send it.
        """
        if self._session is None:
            return await super().observe()
        guard = self._session.guard
        if self._tab.loads_data and self._in_front != self._first and guard.outbox.background.is_untouched:
            await self._session.settle(_QUIET_AT_FIRST)
        self._first = self._in_front
        seen = await super().observe()
        begun, dropped = time.monotonic(), False
        ends = begun + _RENDERS_WITHIN
        while not isinstance(seen, Unseen) and not self._tab.interrupted and time.monotonic() < ends:
            blank = is_blank(seen)
            if not blank and not dropped and guard.drop_first_changes():
                dropped = True
            elif self._in_front != self._incomplete and await (
                self._has_scripts() if blank else self._is_loading(seen)
            ):
                if not blank:
                    ends = min(ends, begun + _LOADS_WITHIN)
                if guard.outbox.waiting:  # the page may wait for it, so looking does not help for long
                    ends = min(ends, time.monotonic() + _HOLDS_UP)
                await self._wait_for_change()
            else:
                return seen
            await self._running.settle()
            seen = await super().observe()
        if time.monotonic() >= ends:
            self._incomplete = self._in_front
        return seen

    @property
    def _in_front(self) -> object:
        """The tab in front and its document."""
        return self._tab.number, self._tab.document

    async def _is_loading(self, seen: Observation) -> bool:
        """Whether the page says that more will come."""
        if not self._tab.loads_data:
            return False
        with suppress(DocumentGone, PageInterrupted):
            return says_loading(seen) or any(await self._tab.query(self._tab.frames.ask_all("isBusy")))
        return False

    async def _has_scripts(self) -> bool:
        with suppress(DocumentGone, PageInterrupted):
            return bool(await self._tab.query(self._tab.frames.run("document.scripts.length > 0")))
        return False

    def picture_looks(self) -> None:
        """Take a screenshot at every look from now on."""
        self._screenshots.take_all()

    async def read_screenshot(self, digest: str) -> bytes | None:
        return self._screenshots.read(digest)

    async def picture(self, seen: Observation, *, whole: bool = False) -> bytes:
        """Return a PNG of the page with the zones of this observation drawn over it; empty while a dialog is open."""
        return b"" if self._tab.interrupted else await draw_zones(self._tab, seen.zones, self._secrets, whole=whole)

    def take_refused(self) -> tuple[str, ...]:
        """Return the requests that were refused since the last call of this method."""
        return tuple(dict.fromkeys(refusal.what for refusal in self._running.guard.outbox.take_refusals()))

    async def _attempt(self, call: Call) -> Outcome:
        """Carry out a call, or release what it caused before, and judge it by what left the browser.

        The order matters: refuse what cannot be carried out now, release or drop what is held, act, wait until the page has
        settled, judge what was sent and what is held now, release a sign-in, and add what the responses show.
        """
        if self._session is None or self._session.lost.is_set():
            return Outcome(status="no_effect", reason="world_lost", detail="the browser is not open", evidence="rule")
        declared = self.catalogue().skill(call.skill)
        if declared is None or declared.effect == "read":
            return await self._carry_out(call)
        guard = self._session.guard
        # What waits without the page can leave, and what the page gave up is reported. A page opens an alert when its request takes long.
        lost = guard.has_lost(call) and not guard.find_rest(call)
        decided = call.allowed and (lost or guard.can_release(call))
        if self._tab.dialog is not None and call.skill not in _WITH_DIALOG and not decided:
            return not_sent("dialog_open", f"the dialog '{self._tab.dialog.message}' must be answered first")
        await self._session.end_attendance()
        if call.pictured and not call.allowed and (moved := await self._check_not_moved(call)):
            return moved
        if (repeated := guard.answer_repeat(call)) is not None:
            return repeated
        await self._session.begin_act()
        place = read_place(self._tab.page.url)
        guard.outbox.background.note_call(call, self._tab.page.url)
        before = await self._capture_shown() if call.allowed else None
        own = guard.begin_act(call)
        with guard.expect(call):
            outcome = await (self._release(own) if own else self._carry_out(call))
            await self._session.settle()
            if own and self._tab.dialog is not None:
                await guard.wait_for_responses(self._options.patience.most)  # a page with a dialog is not waited for
            await guard.wait_for_pause(call, place)
        outcome = guard.judge(call, outcome, sends=bool(own) or declared.effect == "irreversible")
        guard.note_typed(call, outcome, place)
        if not call.allowed:
            outcome = await self._release_sign_in(call, outcome)
        if before is not None and outcome.status == "ok" and guard.outbox.sent:
            self._sign_ins.note(before.scene)
            after = await self._capture_shown()
            sent = guard.outbox.sent
            if call.skill == UPLOAD:
                # A message has no response of its own. That the page goes on with the file is the answer to it.
                sent = [each for each in sent if each.request.method != SOCKET] or sent
            outcome = add_response_evidence(
                outcome, sent, before, after, self._sign_ins, fills_in=call.skill in _FILLING
            )
            if call.skill == UPLOAD and guard.find_held(call) and not has_error(sent):
                # The upload is under way, so no person is asked whether it happened: what waits is sent or dropped next.
                outcome = replace(outcome, status="ok", reason=UPLOADED, evidence="response")
            elif outcome.evidence == "response" and await self._has_sent_file(call, sent):
                outcome = replace(outcome, reason=UPLOADED)
        elif outcome.status == "unknown" and has_error(guard.outbox.sent):
            outcome = replace(outcome, reason=ANSWERED_WITH_ERROR)
        self._incomplete = None if guard.outbox.sent else self._incomplete  # it may have waited for this
        await self._session.save_storage()
        if self._tab.crashed:
            outcome = report_interruption(self._tab)
        self._screenshots.failed = outcome.status != "ok"
        return outcome

    async def _check_not_moved(self, call: Call) -> Outcome | None:
        """Return a failure if the page has changed or was scrolled since its picture was taken: a position may now show something else."""
        with suppress(DocumentGone, PageInterrupted):
            if await self._screenshots.is_current(self._tab):
                return None
        where = f"{call.target.role} '{call.target.label}'"
        return not_sent("moved", f"the page was scrolled or another one came since {where} was seen in its picture")

    async def _capture_shown(self) -> Shown:
        """Return what the browser shows now, to compare it before and after an act."""
        return Shown(scene=await self._running.look(), pages=await self._running.read_forms(()))

    async def _release_sign_in(self, call: Call, outcome: Outcome) -> Outcome:
        """Release the request held for this call without a question, if it is only a sign-in with a secret of its origin."""
        session, held = self._running, self._running.guard.find_held(call)
        if len(held) != 1 or not self._sign_ins:
            return outcome
        request = held[0].request
        if self._options.origins.is_declared_unsafe(request.method, request.url):
            return outcome
        background = session.guard.outbox.background
        served = Served.read(await session.read_source() if request.is_navigation else "")
        if not self._sign_ins.is_sign_in_only(request, await session.read_forms(()), background, served):
            return outcome
        background.note_session(request, held[0].response)
        self._sign_ins.places.add(read_place((await session.look()).surface.address))
        session.guard.begin_act(replace(call, allowed=True))
        outcome = await self._release(held)
        await session.settle()
        outcome = session.guard.judge(call, outcome, sends=True)
        return find_refused_sign_in(outcome, session.guard.outbox.sent, await self._capture_shown())

    async def _carry_out(self, call: Call) -> Outcome:
        async def attempt() -> Outcome:
            refused = await self._refuse_file(call) or await self._refuse_secret(call)
            return refused or await super(Browser, self)._attempt(call)

        return await self._catch_interruptions(attempt())

    async def _release(self, held: Sequence[OutgoingRequest]) -> Outcome:
        return await self._catch_interruptions(self._running.release(held))

    async def _catch_interruptions(self, doing: Awaitable[Outcome]) -> Outcome:
        from playwright.async_api import Error

        tab = self._tab
        try:
            return await doing
        except ZoneUnreachable as unreached:
            return unreached.outcome
        except PageInterrupted:
            return report_interruption(tab)
        except (DocumentGone, Error) as error:
            if tab.interrupted:
                return report_interruption(tab)
            return Outcome(status="unknown", reason="error", detail=str(error))

    async def _refuse_secret(self, call: Call) -> Outcome | None:
        """Return a failure if a secret may not be typed here. The secret is also registered to be covered in screenshots."""
        if not call.secrets:
            return None
        if call.pictured:
            return not_sent(
                "secret_not_allowed_here", "a secret can only be typed into a field that the page itself shows"
            )
        values = dict(call.arguments)
        self._secrets.add((str(name), str(values[argument])) for argument, name in call.secrets)
        zone = await self._find(call.zone)
        if zone is None:
            return not_sent("secret_not_allowed_here", "a secret can only be typed into a field")
        await self._input.load("secrets.js", zone)
        origin = await self._input.ask("origin", zone)
        for _, name in call.secrets:
            if not (
                self._options.origins.allows_secret(str(name), origin)
                or self._sign_ins.allows_secret(str(name), origin)
            ):
                detail = f"'{name}' may not be typed at {origin}; if it belongs there, name it '{name}@{origin}'"
                return not_sent("secret_not_allowed_here", detail)
        return await self._input.ask("conceal", zone)


def _mark_destinations(declared: Catalogue, start: str, origins: Origins) -> Catalogue:
    """Return the skills with destination parameters marked, and the destinations to which the policy file lets a planner navigate."""
    vouched = tuple("*".join(map(escape, pattern.split("*"))) for pattern in origins.vouched_patterns)
    destinations = {("navigate", "url"): (escape(start), *vouched), ("upload", "path"): ()}

    def mark(skill: str, parameter: Parameter) -> Parameter:
        where = destinations.get((skill, parameter.name))
        return parameter if where is None else replace(parameter, destination=True, vouched=where)

    skills = (
        replace(skill, commits="world", parameters=tuple(mark(skill.name, each) for each in skill.parameters))
        for skill in declared.skills
    )
    return replace(declared, skills=tuple(skills))


def report_interruption(tab: Tab) -> Outcome:
    if tab.crashed:
        return failed("page_crashed", f"the page crashed: {tab.page.url}")
    return Outcome(detail=f"a dialog opened: {tab.dialog.message}" if tab.dialog else "the page closed itself")
