"""A rule-based planner that knows the task and sees only the current page.

It knows other names of controls, closes overlays, leaves error pages and signs in again. It remembers nothing; some arms tell it
which steps are completed.
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
    """A value in its usual format, and in another one for pages that reject the first."""

    usual: str
    other: str


Value = str | bool | Either


class Screen:
    """The current page, and the completed steps."""

    def __init__(self, context: PlanningContext, words: Words) -> None:
        self._surface = context.observation.surface
        self._zones = context.observation.zones
        self._words = words
        self._finished = {step.says for step in context.completed}
        self.is_rejected = any(attempt.reason == "rejected" and "422" in attempt.detail for attempt in context.attempts)
        """Whether a request was rejected because of its values."""
        self.title = self._surface.title
        self.dialog = next((zone.label for zone in reversed(self._zones) if zone.role == "dialog"), "")
        """The label of the topmost dialog."""

    def has_done(self, says: str) -> bool:
        return says in self._finished

    def find_zone(self, role: str, usual: str, within: str = "") -> Zone | None:
        """Find an enabled zone with this name or a synonym."""
        names = (usual, *self._words.get(usual, ()))
        found = (zone for zone in self._zones if zone.role == role and zone.label in names and not zone.get("disabled"))
        return next((zone for zone in found if within in ("", zone.get("within"))), None)

    def find_decline_button(self, own: Sequence[str]) -> Zone | None:
        """Find the button that closes an overlay, except in the application's own dialogs."""
        buttons = (zone for zone in self._zones if zone.role == "button" and zone.label in DECLINES)
        return next((one for one in buttons if not one.get("disabled") and one.get("within") not in own), None)

    def shows_text(self, text: str, role: str = "") -> bool:
        return any(text in zone.label for zone in self._zones if role in ("", zone.role) and zone.role != "page")

    def make_probe(self, text: str, path: str = "") -> Probe:
        """Make a probe for a text on the page at this path, or on the current page."""
        url = self._surface.origin + path if path else self._surface.address
        return Probe(name="page_shows", arguments=(("url", url), ("text", text)), settles_after=1.0)

    @property
    def is_empty(self) -> bool:
        """Whether the page has not loaded yet."""
        return all(zone.role == "page" for zone in self._zones)

    @property
    def has_waiting_request(self) -> bool:
        """Whether a request waits to be sent."""
        return any(zone.role == "request" for zone in self._zones)

    @property
    def has_failed(self) -> bool:
        page = next((zone for zone in self._zones if zone.role == "page"), None)
        status = page.get("status") if page else None
        return isinstance(status, int) and status >= 400 and status != 422


class Clerk:
    words: ClassVar[Words] = {}
    dialogs: ClassVar[tuple[str, ...]] = ()
    """Dialogs of the application itself."""

    async def plan(self, context: PlanningContext) -> PlanDraft:
        screen = Screen(context, {**WORDS, **self.words})
        answer = self._handle_interruptions(screen) or self.work(screen)
        return answer or PlanDraft(verdict="gave_up", detail=f"nothing is known to be done on '{screen.title}'")

    def work(self, screen: Screen) -> PlanDraft | None:
        """Plan what to do on this page for the task."""
        raise NotImplementedError

    def _handle_interruptions(self, screen: Screen) -> PlanDraft | None:
        """Plan what must be done first on any page, if anything."""
        if screen.has_waiting_request:
            return plan_steps(Draft(zone=GLOBAL, skill="press_keys", arguments=(("keys", "Escape"),), says="Let it be"))
        if screen.is_empty:
            return plan_steps(Draft(zone="page", skill="scroll", says="See whether anything is there"))
        if overlay := screen.find_decline_button(self.dialogs):
            return plan_steps(click(overlay, f"Close with '{overlay.label}'"))
        if screen.has_failed:
            return press(screen, "link", TRY_AGAIN)
        if screen.title == "Sign in":
            password = Reference(source="secret", name="password")
            return form(screen, {"User name": USER}, "Sign in", secret=("Password", password))
        return None


# --- plans


def plan_steps(*drafts: Draft) -> PlanDraft:
    """Return a plan with these steps and a new look at the end."""
    return PlanDraft(steps=(*drafts, Draft(zone=REPLAN, says="Look again")), final=False)


@dataclass(frozen=True, kw_only=True)
class Final:
    """A step with a lasting effect: its name, the expectation that shows its success, and the probe for doubts."""

    says: str
    expect: Expectation
    probe: Probe


def click(zone: Zone, says: str, final: Final | None = None) -> Draft:
    if final is None:
        return Draft(zone=zone.id, skill="click", says=says)
    return Draft(zone=zone.id, skill="click", says=final.says, expect=final.expect, probe=final.probe)


def press(screen: Screen, role: str, usual: str, *, within: str = "", final: Final | None = None) -> PlanDraft | None:
    """Click a control. If a link is missing, open the menu first."""
    zone = screen.find_zone(role, usual, within)
    if zone is None and role == "link" and (menu := screen.find_zone("button", "Menu")):
        return plan_steps(click(menu, "Open the menu"))
    return plan_steps(click(zone, f"Press '{usual}'", final)) if zone else None


def form(
    screen: Screen,
    values: Mapping[str, Value],
    submit: str,
    *,
    final: Final | None = None,
    secret: tuple[str, Reference] | None = None,
) -> PlanDraft | None:
    """Set the fields that differ, then press the button."""
    drafts = [draft for usual, value in values.items() for draft in fill_field(screen, usual, value)]
    if secret and (field := screen.find_zone("textbox", secret[0])):
        drafts.append(_make_step(field, "type", f"Fill in '{secret[0]}'", ("text", secret[1])))
    button = screen.find_zone("button", submit)
    return plan_steps(*drafts, click(button, f"Press '{submit}'", final)) if button else None


def fill_field(screen: Screen, usual: str, value: Value) -> list[Draft]:
    """Return the steps that set the field to this value; none if it has the value or does not exist."""
    says = f"Fill in '{usual}'"
    if isinstance(value, bool):
        box = screen.find_zone("checkbox", usual)
        wrong = box is not None and box.get("checked") is not value
        return [_make_step(box, "check" if value else "uncheck", says)] if box and wrong else []
    if field := screen.find_zone("textbox", usual):
        text = _choose_text(value, objected=screen.is_rejected or bool(field.get("error")))
        return [] if field.get("value") == text else [_make_step(field, "type", says, ("text", text))]
    text = value.usual if isinstance(value, Either) else value
    if choice := screen.find_zone("combobox", usual):
        return [] if choice.get("value") == text else [_make_step(choice, "select", says, ("option", text))]
    radio = screen.find_zone("radio", text)
    return [_make_step(radio, "check", says)] if radio and not radio.get("checked") else []


def _choose_text(value: str | Either, *, objected: bool) -> str:
    if isinstance(value, str):
        return value
    return value.other if objected else value.usual


def _make_step(zone: Zone, skill: str, says: str, *arguments: tuple[str, Argument]) -> Draft:
    return Draft(zone=zone.id, skill=skill, arguments=arguments, says=says)
