"""A rule-based planner that knows the task and sees only the current page.

It knows what else controls may be called, closes what covers the page, leaves error pages and signs in again. It
remembers nothing; the arm tells it what is finished, or does not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from midcourse.domain.argument import Argument, Reference
from midcourse.domain.expectation import Expectation, Probe
from midcourse.domain.observation import Zone
from midcourse.domain.plan import GLOBAL, REPLAN, Draft
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing.sites.site import TRY_AGAIN, USER, WORDS
from midcourse.testing.sites.view import POPUPS, Words

DONE = PlanDraft(verdict="done", detail="the page shows it")
DECLINES = tuple(popup.decline for popup in POPUPS)


@dataclass(frozen=True)
class Either:
    """How a value is usually written, and how if the page objects to that."""

    usual: str
    other: str


Value = str | bool | Either


class Screen:
    """One page, and the steps reported as finished."""

    def __init__(self, context: PlanningContext, words: Words) -> None:
        self._surface = context.observation.surface
        self._zones = context.observation.zones
        self._words = words
        self._finished = {step.says for step in context.completed}
        self.objected = any(attempt.reason == "rejected" and "422" in attempt.detail for attempt in context.attempts)
        """Whether what was sent has been rejected for what was in it."""
        self.title = self._surface.title
        self.dialog = next((zone.label for zone in reversed(self._zones) if zone.role == "dialog"), "")
        """The one on top."""

    def did(self, says: str) -> bool:
        return says in self._finished

    def zone(self, role: str, usual: str, within: str = "") -> Zone | None:
        """What can be acted on by this name or one that means the same."""
        names = (usual, *self._words.get(usual, ()))
        found = (zone for zone in self._zones if zone.role == role and zone.label in names and not zone.get("disabled"))
        return next((zone for zone in found if within in ("", zone.get("within"))), None)

    def declinable(self, own: Sequence[str]) -> Zone | None:
        """The control that closes an overlay which is not one of the application's dialogs."""
        buttons = (zone for zone in self._zones if zone.role == "button" and zone.label in DECLINES)
        return next((one for one in buttons if not one.get("disabled") and one.get("within") not in own), None)

    def says(self, text: str, role: str = "") -> bool:
        return any(text in zone.label for zone in self._zones if role in ("", zone.role) and zone.role != "page")

    def probe(self, text: str, path: str = "") -> Probe:
        """Whether a page of the application shows this: by its path, or the very page that this is."""
        url = self._surface.origin + path if path else self._surface.address
        return Probe(name="page_shows", arguments=(("url", url), ("text", text)), settles_after=1.0)

    @property
    def empty(self) -> bool:
        """Whether the page is not there yet."""
        return all(zone.role == "page" for zone in self._zones)

    @property
    def waits(self) -> bool:
        """Whether something would be sent that the task does not want."""
        return any(zone.role == "request" for zone in self._zones)

    @property
    def failed(self) -> bool:
        page = next((zone for zone in self._zones if zone.role == "page"), None)
        status = page.get("status") if page else None
        return isinstance(status, int) and status >= 400 and status != 422


class Clerk:
    words: ClassVar[Words] = {}
    dialogs: ClassVar[tuple[str, ...]] = ()
    """Of the application itself."""

    async def plan(self, context: PlanningContext) -> PlanDraft:
        screen = Screen(context, {**WORDS, **self.words})
        answer = self._around(screen) or self.work(screen)
        return answer or PlanDraft(verdict="gave_up", detail=f"nothing is known to be done on '{screen.title}'")

    def work(self, screen: Screen) -> PlanDraft | None:
        """What to do on this page for the task."""
        raise NotImplementedError

    def _around(self, screen: Screen) -> PlanDraft | None:
        """What to do on any page before anything else."""
        if screen.waits:
            return steps(Draft(zone=GLOBAL, skill="press_keys", arguments=(("keys", "Escape"),), says="Let it be"))
        if screen.empty:
            return steps(Draft(zone="page", skill="scroll", says="See whether anything is there"))
        if over := screen.declinable(self.dialogs):
            return steps(click(over, f"Close with '{over.label}'"))
        if screen.failed:
            return press(screen, "link", TRY_AGAIN)
        if screen.title == "Sign in":
            password = Reference(source="secret", name="password")
            return form(screen, {"User name": USER}, "Sign in", secret=("Password", password))
        return None


# --- plans


def steps(*drafts: Draft) -> PlanDraft:
    """These, and then look again."""
    return PlanDraft(steps=(*drafts, Draft(zone=REPLAN, says="Look again")), final=False)


@dataclass(frozen=True, kw_only=True)
class Final:
    """A step that leaves something behind: what it is called, what shows that it went well, and where to look otherwise."""

    says: str
    expect: Expectation
    probe: Probe


def click(zone: Zone, says: str, final: Final | None = None) -> Draft:
    if final is None:
        return Draft(zone=zone.id, skill="click", says=says)
    return Draft(zone=zone.id, skill="click", says=final.says, expect=final.expect, probe=final.probe)


def press(screen: Screen, role: str, usual: str, *, within: str = "", final: Final | None = None) -> PlanDraft | None:
    """Click on it. A link that is not there may be behind the menu."""
    zone = screen.zone(role, usual, within)
    if zone is None and role == "link" and (menu := screen.zone("button", "Menu")):
        return steps(click(menu, "Open the menu"))
    return steps(click(zone, f"Press '{usual}'", final)) if zone else None


def form(
    screen: Screen,
    values: Mapping[str, Value],
    submit: str,
    *,
    final: Final | None = None,
    secret: tuple[str, Reference] | None = None,
) -> PlanDraft | None:
    """Set the fields that differ, then press the button."""
    drafts = [draft for usual, value in values.items() for draft in filled(screen, usual, value)]
    if secret and (field := screen.zone("textbox", secret[0])):
        drafts.append(_set(field, "type", f"Fill in '{secret[0]}'", ("text", secret[1])))
    button = screen.zone("button", submit)
    return steps(*drafts, click(button, f"Press '{submit}'", final)) if button else None


def filled(screen: Screen, usual: str, value: Value) -> list[Draft]:
    """The steps that set the field to this value; none if it has it, or is missing."""
    says = f"Fill in '{usual}'"
    if isinstance(value, bool):
        box = screen.zone("checkbox", usual)
        wrong = box is not None and box.get("checked") is not value
        return [_set(box, "check" if value else "uncheck", says)] if box and wrong else []
    if field := screen.zone("textbox", usual):
        text = _written(value, objected=screen.objected or bool(field.get("error")))
        return [] if field.get("value") == text else [_set(field, "type", says, ("text", text))]
    text = value.usual if isinstance(value, Either) else value
    if choice := screen.zone("combobox", usual):
        return [] if choice.get("value") == text else [_set(choice, "select", says, ("option", text))]
    radio = screen.zone("radio", text)
    return [_set(radio, "check", says)] if radio and not radio.get("checked") else []


def _written(value: str | Either, *, objected: bool) -> str:
    if isinstance(value, str):
        return value
    return value.other if objected else value.usual


def _set(zone: Zone, skill: str, says: str, *arguments: tuple[str, Argument]) -> Draft:
    return Draft(zone=zone.id, skill=skill, arguments=arguments, says=says)
