"""A planner for any form: it reads labels and roles, fills the fields that its brief names, and presses the buttons that it names.

It knows nothing about tokens, sessions, requests or the sites. Where the page has a link to a list of orders, it gives the address of
that list as a probe. It is naive on purpose: if the form is still there, it presses the button again.
"""

import re
from dataclasses import dataclass

from midcourse import Draft, Expectation, PlanDraft, Probe, Zone
from midcourse.domain.observation import Observation
from midcourse.expect import TextContains
from midcourse.ports.planner import PlanningContext

FIELDS = ("textbox", "searchbox", "combobox", "listbox", "spinbutton", "checkbox", "radio", "switch", "file")
PRESSED = ("button", "clickable", "link")
"""In this order, if several have the same label."""
IN_PAGE = re.compile(r"(f\d+)*e\d+$")
"""Ids of elements; the browser's own dialog has another."""
MAX_STRAYS = 4


@dataclass(frozen=True, kw_only=True)
class Brief:
    """What a person would tell an assistant who has never seen the site."""

    fields: tuple[tuple[str, str], ...] = ()
    """Labels and values. The value of a checkbox or radio button is `on`."""
    commit: str = ""
    """The label of the button that orders."""
    ahead: tuple[str, ...] = ()
    """Labels of buttons and links that lead to it; the first of them that is visible is pressed."""
    shows: str = ""
    """The text that confirms the order."""
    corrections: tuple[tuple[str, str, str], ...] = ()
    """What to do if the page says something: text, label, value."""
    back: str = ""
    """The button that leads to the page before, for a correction."""
    orders: str = ""
    """The link to the list of orders."""
    reference: str = ""
    """The text by which the order is recognised in that list."""
    refused: str = ""
    """The text that says that the order is not possible."""


class FormFiller:
    """Plans for one brief."""

    def __init__(self, brief: Brief) -> None:
        self._brief = brief
        self._values = dict(brief.fields)
        self._orders = ""
        self._strays = 0
        self._waited = False

    async def plan(self, context: PlanningContext) -> PlanDraft:
        seen, brief = context.observation, self._brief
        self._remember(seen)
        if self._is_done(seen):
            return PlanDraft(verdict="done", detail="the page confirms it")
        if brief.refused and _shows(seen, brief.refused):
            return PlanDraft(verdict="impossible", detail=brief.refused)
        dialog = next((zone for zone in seen.zones if zone.role == "dialog" and not IN_PAGE.match(zone.id)), None)
        if dialog is not None:
            return _take(Draft(zone=dialog.id, skill="accept", says="Answer the dialog with yes"))
        if any(step.says == _press(brief.commit) for step in context.completed):
            return self._find_order(seen)
        return self._go_on(seen)

    def _remember(self, seen: Observation) -> None:
        link = _find(seen, self._brief.orders, ("link",)) if self._brief.orders else None
        if link is not None:
            self._orders = str(link.get("href") or "")
        for text, label, value in self._brief.corrections:
            if _shows(seen, text):
                self._values[label] = value
                for other, on in self._brief.fields:
                    if other != label and on == value == "on" and other in self._values:
                        del self._values[other]  # one of several radio buttons

    def _is_done(self, seen: Observation) -> bool:
        brief = self._brief
        if brief.shows and _shows(seen, brief.shows):
            return True
        listed = bool(self._orders) and seen.surface.address.split("?")[0] == self._orders
        return listed and bool(brief.reference) and _shows(seen, brief.reference)

    def _go_on(self, seen: Observation) -> PlanDraft:
        """Fill the fields that are visible, and press the first of the buttons."""
        brief = self._brief
        if any(_shows(seen, text) for text, *_ in brief.corrections) and brief.back:
            visible = [label for _, label, _ in brief.corrections if _find(seen, label, FIELDS)]
            back = _find(seen, brief.back, PRESSED)
            if back is not None and not visible:
                return _take(Draft(zone=back.id, skill="click", says=_press(brief.back)))
        steps: list[Draft] = []
        for label, value in self._values.items():
            zone = _find(seen, label, FIELDS)
            if zone is None:
                continue
            option = next((one for one in seen.zones if one.role == "option" and one.label == value), None)
            if option is not None and zone.role == "combobox" and zone.get("options") is None:
                return _take(Draft(zone=option.id, skill="click", says=f"Pick {value}"))
            step = _fill(zone, value)
            if step is not None and step.transition:
                return _take(step)
            steps += [step] if step is not None else []
        for label in filter(None, (brief.commit, *brief.ahead)):
            button = _find(seen, label, PRESSED)
            if button is not None and button.get("disabled") is not True:
                return _take(*steps, self._click(button, label))
        return _take(*steps) if steps else self._stray(seen)

    def _click(self, button: Zone, label: str) -> Draft:
        if label != self._brief.commit:
            return Draft(zone=button.id, skill="click", says=_press(label))
        probe = None
        if self._orders and self._brief.reference:
            probe = Probe(name="page_shows", arguments={"url": self._orders, "text": self._brief.reference})
        expect = Expectation(checks=(TextContains(text=self._brief.shows),)) if self._brief.shows else None
        return Draft(zone=button.id, skill="click", says=_press(label), expect=expect, probe=probe)

    def _find_order(self, seen: Observation) -> PlanDraft:
        """The order was sent, but the page does not confirm it: wait once, then look into the list of orders."""
        brief = self._brief
        if brief.shows and not self._waited:
            self._waited = True
            return _take(Draft(skill="wait_for", arguments={"text": brief.shows, "seconds": 5}, says="Wait"))
        listed = bool(self._orders) and seen.surface.address.split("?")[0] == self._orders
        link = _find(seen, "Next" if listed else brief.orders, ("link",)) if brief.orders else None
        if link is not None:
            return _take(Draft(zone=link.id, skill="click", says=_press(link.label)))
        return self._stray(seen)

    def _stray(self, seen: Observation) -> PlanDraft:
        """Nothing on the page is known: let it send what it waits for, or go back."""
        self._strays += 1
        if self._strays > MAX_STRAYS:
            return PlanDraft(verdict="gave_up", detail=f"'{seen.surface.title}' has nothing that the brief names")
        request = next((zone for zone in seen.zones if zone.role == "request"), None)
        if request is not None:
            return _take(Draft(zone=request.id, skill="send", says="Send what the page waits for"))
        return _take(Draft(skill="go_back", says="Go back"))


def _take(*steps: Draft) -> PlanDraft:
    return PlanDraft(steps=steps, final=False)


def _press(label: str) -> str:
    return f"Press {label}"


def _shows(seen: Observation, text: str) -> bool:
    return any(
        text in zone.label or text in str(zone.get("text") or "") for zone in seen.zones if zone.role not in FIELDS
    )


def _find(seen: Observation, label: str, roles: tuple[str, ...]) -> Zone | None:
    fitting = [zone for zone in seen.zones if zone.role in roles and zone.label.rstrip(" :*") == label.rstrip(" :*")]
    return min(fitting, key=lambda zone: roles.index(zone.role)) if fitting else None


def _fill(zone: Zone, value: str) -> Draft | None:
    """The step that gives the field this value, or None if it has it."""
    says = f"Fill in {zone.label}"
    match zone.role:
        case "checkbox" | "radio" | "switch":
            return None if zone.get("checked") is True else Draft(zone=zone.id, skill="check", says=says)
        case "file":
            chosen = str(zone.get("value") or "")
            return None if chosen else Draft(zone=zone.id, skill="upload", arguments={"path": value}, says=says)
        case _ if zone.get("options") is not None:
            return (
                None
                if zone.get("value") == value
                else Draft(zone=zone.id, skill="select", arguments={"option": value}, says=says)
            )
        case _ if zone.get("type") == "password" and zone.get("value"):
            return None
        case _:
            suggests = True if zone.role == "combobox" else None
            step = Draft(zone=zone.id, skill="type", arguments={"text": value}, transition=suggests, says=says)
            return None if str(zone.get("value") or "") == value else step
