"""The desktop world: turns a call into an act in a window, and holds back what needs approval."""

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Pairs, Scalar
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.outcome import Outcome
from midcourse.pictures import LatestPictures, When
from midcourse.ports.world import WOULD_CHANGE, WOULD_SEND, Call, CallKey, Catalogue, identify_call
from midcourse.worlds.base import Scene, Unseen, not_sent
from midcourse.worlds.desktop.accessibility import NoAnswer, Ref
from midcourse.worlds.desktop.display import OWN, Size
from midcourse.worlds.desktop.evidence import MailUnreadable, PathRefused, has_mail, list_mail_files
from midcourse.worlds.desktop.input import translate_keys
from midcourse.worlds.desktop.policy import UNKNOWN, ActRule, DescribedAct, read_effects
from midcourse.worlds.desktop.screen import Box
from midcourse.worlds.desktop.session import DesktopSession, SessionOptions
from midcourse.worlds.desktop.skills import Skills
from midcourse.worlds.desktop.windows import DesktopView

HELD = (WOULD_SEND, WOULD_CHANGE)
"""The reasons in outcomes of acts that were not carried out yet."""
_JUDGED_SKILLS = ("click", "press", "press_keys", "type_text")
"""Skills with acts that the policy judges. The others fill in fields, move windows, look, or take something back."""
_BY_FOCUS = ("press_keys", "type_text")
"""Skills without a target, which act on the window in front."""
_PRESSING = ("Return", "KP_Enter", "space")
"""Keys that press the control that has the focus."""
_LONGEST = 20_000
"""The maximum number of characters of a value that a question shows. A longer value is shown as its length and digest."""
_SENT_WITHIN = 30.0
_GLANCE = 0.1


@dataclass(frozen=True, kw_only=True)
class _JudgedAct:
    act: DescribedAct
    rule: ActRule


class Desktop(Skills):
    """Programs on a display of their own, or on the user's display. All options can be written in a task file.

    `start` are command lines of programs that run from the beginning. `programs` are the programs that a plan may start, by default
    those of `start`. `display` is "own" for a display that only this world sees, or names the user's display, such as ":0". `home` is the
    home folder of the programs on an own display; without it, they get one that is deleted when the desktop is closed.

    `effects` is the policy, as a file or a mapping of the same form: which effects acts have in which programs. `screenshots` says when
    screenshots are taken.

    A desktop has settled after `quiet_seconds` without a change, at the latest after `settle_seconds`.
    """

    name = "desktop"
    kind = "desktop"
    blocks = False
    keeps: ClassVar[Mapping[str, str]] = {"home": "home"}
    host_options: ClassVar[Mapping[str, object]] = {"display": OWN, "start": (), "programs": ()}

    def __init__(
        self,
        start: str | Sequence[str] = (),
        *,
        programs: Sequence[str] | None = None,
        display: str = OWN,
        home: str = "",
        effects: str | Mapping[str, object] | None = None,
        screenshots: When = "never",
        width: int = 1280,
        height: int = 800,
        quiet_seconds: float = 0.15,
        settle_seconds: float = 5.0,
    ) -> None:
        commands = (start,) if isinstance(start, str) else tuple(start)
        allowed = tuple(shlex.split(each)[0] for each in commands) if programs is None else tuple(programs)
        options = SessionOptions(
            start=commands,
            display=display,
            home=home,
            size=Size(width=width, height=height),
            quiet_seconds=quiet_seconds,
            settle_seconds=settle_seconds,
        )
        super().__init__(options, allowed)
        self._effects = read_effects(effects)
        self._pictures = LatestPictures(screenshots)
        self._secrets: dict[str, str] = {}
        self._homes: dict[str, str] = {}
        """The program that each secret belongs to."""
        self._announced: CallKey | None = None
        """The call that was reported as reversible. When the same call comes again, it is carried out."""
        self._bound: tuple[CallKey, CommitSet] | None = None
        """The last commit set that was read, with its call. When this call is allowed, it may send this and nothing else."""
        self._pictured: tuple[object, ...] = ()
        """The window that was in front in the last picture, and its bounds."""
        self._seen: dict[str, Ref] = {}
        """The windows that a run saw in front, by their titles. The last one is also stored under an empty title."""

    # --- the port

    def catalogue(self) -> Catalogue:
        """Return the skills. Only the policy and the window show whether one needs approval, so each commit set comes from the world."""
        declared = super().catalogue()
        return replace(declared, skills=tuple(replace(skill, commits="world") for skill in declared.skills))

    async def open(self) -> str:
        await super().open()
        self._session = await DesktopSession.begin(self._options)
        return ""

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.end()

    async def conceal(self, secrets: Pairs) -> None:
        for written, value in secrets:
            name, _, where = written.partition("@")
            if str(value):  # an empty secret would be found in every text
                self._secrets[name] = str(value)
            if where:
                self._homes[name] = where

    async def attend(self) -> str:
        if self._options.display != OWN:
            return f"on display {self._options.display}"
        return "this desktop has a display of its own without a screen: set `display` to yours"

    async def look(self) -> Scene | Unseen:
        if self._session is None or not self._session.alive:
            return Unseen(reason="world_lost", detail="the desktop is not open")
        try:
            return (await self._session.look()).scene
        except NoAnswer as problem:
            return Unseen(reason="failed", detail=f"the desktop does not answer: {problem}")

    async def observe(self) -> Observation | Unseen:
        seen = await super().observe()
        if not isinstance(seen, Unseen) and (front := self._running.view.front) is not None:
            self._seen |= {front.title: front.node.ref, "": front.node.ref}
        if isinstance(seen, Unseen) or not self._pictures.is_wanted(seen.fingerprint):
            return seen
        png = await self._running.screen.take(self._list_covered_boxes(seen.zones))
        self._pictured = _identify_front_window(self._running.view)
        size = (self._options.size.width, self._options.size.height) if self._options.display == OWN else None
        return replace(seen, screenshot=await self._pictures.keep(png, seen.fingerprint), size=size)

    def picture_looks(self) -> None:
        """Take a screenshot at every look from now on."""
        self._pictures.take_all()

    async def read_screenshot(self, digest: str) -> bytes | None:
        return self._pictures.read(digest)

    async def picture(self, seen: Observation) -> bytes:
        """Return a PNG of the screen for a person, with the zones of this observation drawn over it."""
        return await self._running.screen.draw(seen.zones, self._list_covered_boxes(seen.zones))

    async def commit_set(self, call: Call) -> CommitSet | None:
        self._bound = None
        if self._session is None:
            return None
        commit = await self._read_commit(call)
        if commit is not None:
            self._bound = (identify_call(call), commit)
        return commit

    # --- acts

    async def _attempt(self, call: Call) -> Outcome:
        if self._session is None or not self._session.alive:
            return not_sent("world_lost", "the desktop is not open")
        declared = self.catalogue().skill(call.skill)
        if declared is None or declared.effect == "read":
            return await self._carry_out(call)
        judged = await self._judge(call)
        refused = self._refuse(call)
        if refused is not None:
            return refused
        outcome = await self._do_judged(call, judged) if judged else await self._carry_out(call)
        if outcome.reason not in HELD:
            self._announced = None
            await self._running.settle()
        self._pictures.failed = outcome.status != "ok"
        return outcome

    async def _do_judged(self, call: Call, judged: _JudgedAct) -> Outcome:
        match judged.rule.effect:
            case "free":
                return await self._carry_out(call)
            case "reversible" if not call.allowed and self._announced != identify_call(call):
                self._announced = identify_call(call)
                detail = f"it would {judged.act.says}, which can be taken back"
                return Outcome(status="no_effect", reason=WOULD_CHANGE, detail=detail)
            case "reversible":
                before = await asyncio.to_thread(self._files.take_snapshot)
                outcome = await self._carry_out(call)
                if outcome.status == "ok":
                    self._reversible = (judged.act.program, judged.act.window, judged.rule.undo, before)
                return outcome
            case "irreversible":
                return await self._send(call, judged)

    def _refuse(self, call: Call) -> Outcome | None:
        """Return a failure if a call must not be carried out with the window that is in front now.

        This is so for a place in a picture that is not current, for keys that are meant for another window, and for a secret that does
        not belong to the program in front.
        """
        front = self._running.view.front
        meant = self._seen.get(call.target.surface) or self._seen.get("")
        if call.skill in _BY_FOCUS and not call.allowed and meant and front and front.node.ref != meant:
            detail = f"'{front.title}' is in front, and would get what is meant for another window"
            return not_sent("target_not_visible", detail)
        if call.pictured and not call.allowed and _identify_front_window(self._running.view) != self._pictured:
            what = f"{call.target.role} '{call.target.label}'"
            return not_sent("moved", f"another window is in front, or it has moved, since {what} was seen in a picture")
        here = f"program:{front.program.name}" if front else ""
        for _, name in call.secrets:
            if call.pictured or self._homes.get(str(name)) != here:
                detail = f"'{name}' may not be typed here; if it belongs there, name it '{name}@{here}'"
                return not_sent("secret_not_allowed_here", detail)
        return None

    async def _send(self, call: Call, judged: _JudgedAct) -> Outcome:
        """Carry out an irreversible act only if it is allowed and the window still has the values that were read for it."""
        bound, self._bound = self._bound, None
        commit = await self._read_commit(call)
        if not call.allowed or commit is None or bound != (identify_call(call), commit):
            return Outcome(
                status="no_effect", reason=WOULD_SEND, detail=f"it would {judged.act.says}, which needs approval first"
            )
        folder = self._files.find(judged.rule.sent) if judged.rule.sent else None
        earlier = frozenset(list_mail_files(folder)) if folder else frozenset[Path]()
        outcome = await self._carry_out(call)
        if folder is None or outcome.status != "ok":
            return outcome
        return await self._await_sent(folder, earlier, dict(commit.values))

    async def _await_sent(self, folder: Path, earlier: frozenset[Path], values: Mapping[str, object]) -> Outcome:
        """Wait until the mail is in the folder of sent mails, or until a dialog other than one with a progress bar says why it is not."""
        subject = str(values.get("Subject", ""))
        until = asyncio.get_running_loop().time() + _SENT_WITHIN
        while asyncio.get_running_loop().time() < until:
            with suppress(MailUnreadable):  # the mail is being written
                if has_mail(folder, subject=subject, since=earlier):
                    return Outcome(detail=f"'{subject}' is in {folder.name}", evidence="response")
            view = await self._running.look()
            if (front := view.front) is not None and front.node.is_("modal"):
                roles = self._running.bus.roles
                if not any(roles.get(node.role) == "progress bar" for node in front.walk()):
                    await self._running.settle()
                    text = "; ".join(zone.label for zone in view.scene.zones if zone.role == "text")
                    return Outcome(status="unknown", reason="interrupted", detail=f"'{front.title}' came up: {text}")
            await asyncio.sleep(_GLANCE)
        return Outcome(status="unknown", reason="not_seen_sent", detail=f"'{subject}' is not in {folder.name} yet")

    async def _carry_out(self, call: Call) -> Outcome:
        try:
            return await super()._attempt(call)
        except NoAnswer as problem:
            return Outcome(status="unknown", reason="no_answer", detail=f"the program does not answer: {problem}")
        except PathRefused as refused:  # paths are resolved before a program is started
            return not_sent("not_permitted", str(refused))

    async def _read_commit(self, call: Call) -> CommitSet | None:
        judged = await self._judge(call)
        if judged is None or judged.rule.effect != "irreversible":
            return await super().commit_set(call)
        try:
            values = await self._running.windows.read_values(self._running.view)
        except NoAnswer:
            return None
        shown = tuple((name, _shorten_value(value)) for name, value in values)
        return CommitSet(
            values=shown, address=judged.act.says, abridged=any(len(str(value)) > _LONGEST for _, value in values)
        )

    # --- judging

    async def _judge(self, call: Call) -> _JudgedAct | None:
        """Judge a call by the policy. Return None if the policy does not judge such acts, or if the zone is gone."""
        if call.skill not in _JUDGED_SKILLS:
            return None
        try:
            view = await self._running.look()
        except NoAnswer:
            return None
        zone = next((zone for zone in view.scene.zones if zone.id == call.zone), None)
        if call.pictured:
            zone = _find_zone_at(view, call)
        if zone is None and call.skill in ("click", "press"):
            return None
        act = _describe_act(view, call, zone)
        return _JudgedAct(act=act, rule=UNKNOWN if _presses_unseen(act.keys) else self._effects.find_rule(act))

    def _list_covered_boxes(self, zones: Sequence[Zone]) -> list[Box]:
        """Return the bounds of zones that show a secret or take a password."""
        secrets = self._secrets.values()
        return [
            zone.bounds
            for zone in zones
            if zone.bounds is not None
            and (zone.get("password") or any(s in zone.label or s in str(zone.get("text") or "") for s in secrets))
        ]


def _describe_act(view: DesktopView, call: Call, zone: Zone | None) -> DescribedAct:
    """Describe a call as a policy sees it. Keys that press a button count as a click on it."""
    front = view.front
    act = DescribedAct(program=front.program.name if front else "", window=front.title if front else "")
    if call.skill == "click":
        assert zone is not None
        return replace(act, role=zone.role, label=zone.label)
    focused = zone or next((each for each in view.scene.zones if each.get("focused")), None)
    if call.skill == "type_text":
        return replace(act, role="typing", label=focused.role if focused else "")
    keys = str(dict(call.arguments).get("keys", ""))
    if target := _find_pressed(view, focused, keys):
        return replace(act, role=target.role, label=target.label)
    return replace(act, keys=keys)


def _identify_front_window(view: DesktopView) -> tuple[object, ...]:
    top = next((zone for zone in view.scene.zones if view.front and view.nodes.get(zone.id) is view.front.node), None)
    return (view.front.node.ref, top.bounds if top else None) if view.front else ()


def _find_zone_at(view: DesktopView, call: Call) -> Zone:
    """Return the zone that the program itself reports at this place of a picture, since a reader may be wrong or deceived."""
    x, y, width, height = call.bounds or (0, 0, 0, 0)
    across, down = x + width / 2, y + height / 2
    found: list[tuple[int, Zone]] = []
    for zone in view.scene.zones:
        if zone.bounds is None or zone.id not in view.nodes or zone.get("behind"):
            continue
        left, top, wide, high = zone.bounds
        covers = left <= across < left + wide and top <= down < top + high
        if covers and zone.role not in ("window", "dialog", "alert", "text"):
            found.append((wide * high, zone))
    if not found:
        return Zone(id=call.zone, role="picture", label=call.target.label, bounds=call.bounds)
    return min(found, key=lambda each: each[0])[1]


def _find_pressed(view: DesktopView, focused: Zone | None, keys: str) -> Zone | None:
    """Return the control that these keys press, or the text field into which they are typed."""
    if translate_keys(keys) not in _PRESSING:
        return None
    if focused is not None and focused.role in ("button", "menuitem", "checkbox", "radio", "link"):
        return focused
    node = view.nodes.get(focused.id) if focused is not None else None
    if (
        focused is not None
        and focused.role == "textbox"
        and (translate_keys(keys) == "space" or (node and node.is_("multi_line")))
    ):
        return focused
    if translate_keys(keys) == "space":
        return None
    buttons = (zone for zone in view.scene.zones if zone.role == "button" and zone.id in view.nodes)
    return next((zone for zone in buttons if view.nodes[zone.id].is_("default")), None)


def _presses_unseen(keys: str) -> bool:
    """Whether one of several keys would press the control that has the focus at that moment, which cannot be predicted."""
    groups = keys.split()
    return len(groups) > 1 and any(translate_keys(group) in _PRESSING for group in groups)


def _shorten_value(value: Scalar) -> Scalar:
    text = str(value)
    if len(text) <= _LONGEST:
        return value
    return f"{len(text)} characters, sha256 {sha256(text.encode(errors='surrogatepass')).hexdigest()}"
