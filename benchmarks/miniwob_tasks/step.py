"""The steps that planners write. A click is taken to leave the screen as it is, unless `LOOK` follows."""

from typing import Literal

from midcourse.domain.argument import Scalar
from midcourse.domain.observation import Zone
from midcourse.domain.plan import GLOBAL, REPLAN, Draft

LOOK = Draft(zone=REPLAN)
"""Observe before the next step."""


def click(zone: Zone, times: int = 1) -> Draft:
    return _step(zone, "click", times=times)


def fill(zone: Zone, text: str) -> Draft:
    """Its content is replaced."""
    return _step(zone, "type", text=text)


def check(zone: Zone) -> Draft:
    return _step(zone, "check")


def choose(zone: Zone, option: str) -> Draft:
    return _step(zone, "select", option=option)


def press(zone: Zone, keys: str) -> Draft:
    return _step(zone, "press", keys=keys)


def hover(zone: Zone) -> Draft:
    return _step(zone, "hover")


def scroll_to_end(zone: Zone, direction: Literal["down", "up"]) -> Draft:
    return _step(zone, "scroll", direction=direction, amount=1000.0)


def drag(zone: Zone, *, onto: Zone, down: float = 0.0) -> Draft:
    """To the middle of another, or so many pixels below it."""
    return _step(zone, "drag", to=onto.id, down=down)


def push(zone: Zone, *, right: float = 0.0, down: float = 0.0) -> Draft:
    """Drag it by so many pixels."""
    return _step(zone, "drag", right=right, down=down)


def wait_for(text: str) -> Draft:
    return Draft(zone=GLOBAL, skill="wait_for", arguments=(("text", text),), transition=False, says=f"wait for {text}")


def _step(zone: Zone, skill: str, **arguments: Scalar) -> Draft:
    says = " ".join((skill, *map(str, arguments.values()), "on", zone.role, zone.label))
    return Draft(zone=zone.id, skill=skill, arguments=tuple(arguments.items()), transition=False, says=says)
