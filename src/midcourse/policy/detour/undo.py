"""Ways to undo one act of a detour, the most reliable first.

A way back is a guess from the step, the screen before it and the screen now, so its result is always verified by fingerprint.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from midcourse.domain.argument import Arguments, Scalar
from midcourse.domain.detour import Strategy
from midcourse.domain.observation import Observation
from midcourse.domain.plan import GLOBAL, Draft, Step
from midcourse.domain.replace import replace
from midcourse.domain.skill import Catalogue, Skill

SWITCHES = ("checked", "selected", "on", "pressed", "expanded", "open")
"""States that a second click reverts."""
TEXTS = ("value", "text")
"""States that show what was typed or selected."""
CLOSERS = ("cancel", "close", "dismiss", "back", "no", "not now", "x", "×")
"""Labels of controls that close a dialog or menu without changing anything else, the most reliable first."""
KEYS = ("key", "keys")
"""Names of skill arguments that name a key."""
ESCAPE = "Escape"
OPPOSITES = {
    "enter": ESCAPE,
    "tab": "Shift+Tab",
    "shift+tab": "Tab",
    "arrowdown": "ArrowUp",
    "arrowup": "ArrowDown",
    "arrowleft": "ArrowRight",
    "arrowright": "ArrowLeft",
    "pagedown": "PageUp",
    "pageup": "PageDown",
    "win": "Win",
    "f11": "F11",
}
"""The key that reverts each key; Escape for all others."""


@dataclass(frozen=True, kw_only=True)
class WayBack:
    strategy: Strategy
    draft: Draft


@dataclass(frozen=True, kw_only=True)
class ActContext:
    """An act, the screen before it, and the screen now."""

    step: Step
    before: Observation
    now: Observation
    catalogue: Catalogue

    @property
    def skill(self) -> Skill | None:
        return self.catalogue.skill(self.step.skill)


def find_ways_back(scene: ActContext) -> tuple[WayBack, ...]:
    """The ways to undo the act, at most one of each strategy."""
    return (*_restore(scene), *_toggle(scene), *_own_undo(scene), *_close(scene), *_opposite_key(scene))


def _restore(scene: ActContext) -> Iterator[WayBack]:
    """Write the text that was there before."""
    was, is_now = scene.before.zone(scene.step.zone), scene.now.zone(scene.step.zone)
    if was is None or is_now is None:
        return
    for name in TEXTS:
        old, new = was.get(name), is_now.get(name)
        argument = next((n for n, value in scene.step.arguments if isinstance(value, str)), None)
        if isinstance(old, str) and old != new and argument is not None:
            yield WayBack(
                strategy="restore", draft=_repeat_step(scene, _with_argument(scene.step.arguments, argument, old))
            )
            return


def _toggle(scene: ActContext) -> Iterator[WayBack]:
    """Repeat the act on the same switch; a skill with a boolean argument gets the previous value."""
    was, is_now = scene.before.zone(scene.step.zone), scene.now.zone(scene.step.zone)
    if was is None or is_now is None:
        return
    if all(was.get(name) is None or was.get(name) == is_now.get(name) for name in SWITCHES):
        return
    arguments = scene.step.arguments
    flag = next((name for name, value in arguments if isinstance(value, bool)), None)
    old = next((was.get(name) for name in SWITCHES if was.get(name) is not None), None)
    if flag is not None and isinstance(old, bool):
        arguments = _with_argument(arguments, flag, old)
    yield WayBack(strategy="toggle", draft=_repeat_step(scene, arguments))


def _own_undo(scene: ActContext) -> Iterator[WayBack]:
    """Use the undo skill that the skill names, unless it requires arguments."""
    skill = scene.skill
    undo = scene.catalogue.skill(skill.undo) if skill and skill.undo else None
    if undo is None or any(parameter.required for parameter in undo.parameters):
        return
    yield WayBack(strategy="undo", draft=_draft(undo, scene.step.zone))


def _close(scene: ActContext) -> Iterator[WayBack]:
    """Cancel, close or dismiss what the act opened: only zones that were not there before count."""
    skills = (scene.skill, scene.catalogue.skill("click"))
    clicks = next((s for s in skills if s and s.on_zone and not any(p.required for p in s.parameters)), None)
    there = [(zone.role, zone.label) for zone in scene.before.zones]
    opened = [zone for zone in scene.now.zones if (zone.role, zone.label) not in there]
    found = sorted(
        (CLOSERS.index(label), zone.id) for zone in opened if (label := zone.label.strip().lower()) in CLOSERS
    )
    if found and clicks is not None:
        yield WayBack(strategy="close", draft=_draft(clicks, found[0][1]))


def _opposite_key(scene: ActContext) -> Iterator[WayBack]:
    """Press the opposite of the key that was pressed; Escape after any other act."""
    press = find_key_skill(scene.catalogue)
    if press is None:
        return
    skill, name = press
    pressed = next((str(value) for key, value in scene.step.arguments if key in KEYS), "")
    key = OPPOSITES.get(pressed.lower().replace(" ", ""), ESCAPE)
    yield WayBack(strategy="key", draft=replace(_draft(skill, scene.step.zone), arguments=((name, key),)))


def find_key_skill(catalogue: Catalogue) -> tuple[Skill, str] | None:
    """The skill that presses a key without a zone, and the name of its argument."""
    for skill in catalogue.skills:
        names = [parameter.name for parameter in skill.parameters if parameter.required]
        if not skill.on_zone and len(names) == 1 and names[0] in KEYS:
            return skill, names[0]
    return None


def _repeat_step(scene: ActContext, arguments: Arguments) -> Draft:
    return Draft(zone=scene.step.zone, skill=scene.step.skill, arguments=arguments)


def _draft(skill: Skill, zone: str) -> Draft:
    return Draft(zone=zone if skill.on_zone else GLOBAL, skill=skill.name)


def _with_argument(arguments: Arguments, name: str, value: Scalar) -> Arguments:
    return tuple((key, value if key == name else old) for key, old in arguments)
