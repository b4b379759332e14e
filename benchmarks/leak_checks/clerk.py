"""A planner that types the secrets and presses every control of the site. It records everything it receives."""

from pathlib import Path

from benchmarks.leak_checks.site import FINISHED, list_actions
from midcourse.codec import encode
from midcourse.domain.argument import Reference
from midcourse.domain.expectation import Expectation, SurfaceMatches, ZoneAppears
from midcourse.domain.observation import Zone
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.ports.planner import PlanDraft, PlanningContext

EXPECTED = {
    "Save": Expectation(checks=(SurfaceMatches(pattern="Rejected*"),)),
    "Fetch": Expectation(checks=(ZoneAppears(label="Answered"),)),
    "Copy": Expectation(checks=(SurfaceMatches(pattern="another page, which never comes"),)),
}
"""`Copy` fails by its expectation, and `Send` is rejected, because a failure is stored in more places than a success."""


class Clerk:
    def __init__(self, heard: str, model: str = "") -> None:
        """`heard` is the file for all contexts received; `model` the address of a model that receives the same."""
        self._heard = Path(heard)
        self._model = model

    async def plan(self, context: PlanningContext) -> PlanDraft:
        with self._heard.open("a", encoding="utf-8") as file:
            file.write(encode(context) + "\n")
        if self._model:
            from benchmarks.leak_checks.consulted import get_model

            await get_model(self._model, self._heard.parent).ask(context)
        return _make_plan(_Screen(context))


class _Screen:
    def __init__(self, context: PlanningContext) -> None:
        self._zones = context.observation.zones
        self.title = context.observation.surface.title
        self.tried = {step.says for step in (*context.completed, *context.attempts)}
        self.station = next(
            (int(label[8:]) for zone in self._zones if (label := zone.label).startswith("Station ")), -1
        )

    @property
    def fields(self) -> list[Zone]:
        return [zone for zone in self._zones if zone.role == "textbox"]

    def zone(self, role: str, label: str = "") -> Zone | None:
        return next((zone for zone in self._zones if zone.role == role and label in ("", zone.label)), None)


def _make_plan(screen: _Screen) -> PlanDraft:
    if screen.title == FINISHED:
        return PlanDraft(verdict="done")
    if dialog := screen.zone("dialog"):
        return _make_step(Draft(zone=dialog.id, skill="accept", says="Agree"))
    if screen.zone("text", "An aside"):
        return _make_step(Draft(zone="page", skill="close_tab", says="Close the aside"))
    if button := screen.zone("button", "Tell"):
        tell = Draft(zone=button.id, skill="click", says=f"{screen.station} Tell it")
        return PlanDraft(steps=(*map(_type_secret, screen.fields), tell))
    if screen.zone("button", list_actions(screen.station)[0]):
        return _press_next(screen)
    return _make_step(Draft(zone=GLOBAL, skill="go_back", says="Go back"))


def _type_secret(field: Zone) -> Draft:
    secret = Reference(source="secret", name=field.label)
    return Draft(zone=field.id, skill="type", arguments=(("text", secret),), says=f"Say {field.label}")


def _press_next(screen: _Screen) -> PlanDraft:
    for action in list_actions(screen.station):
        says, button = f"{screen.station} {action}", screen.zone("button", action)
        if says not in screen.tried and button:
            return _make_step(Draft(zone=button.id, skill="click", says=says, expect=EXPECTED.get(action)))
    after = screen.zone("link", "Next")
    assert after, "every page has one"
    read = Draft(zone="page", skill="read", says=f"{screen.station} Read it all")
    return PlanDraft(steps=(read, Draft(zone=after.id, skill="click", says=f"{screen.station} Next")))


def _make_step(step: Draft) -> PlanDraft:
    return PlanDraft(steps=(step,), final=False)
