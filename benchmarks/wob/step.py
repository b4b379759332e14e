"""The steps that planners write. A click is taken to leave the screen as it is, unless `LOOK` follows."""

from midcourse.domain.observation import Zone
from midcourse.domain.plan import REPLAN, Draft

LOOK = Draft(zone=REPLAN)
"""What comes next has to be seen first."""


def click(zone: Zone) -> Draft:
    return _step(zone, "click")


def fill(zone: Zone, text: str) -> Draft:
    """Whatever was in it is replaced."""
    return _step(zone, "type", text=text)


def check(zone: Zone) -> Draft:
    return _step(zone, "check")


def choose(zone: Zone, option: str) -> Draft:
    return _step(zone, "select", option=option)


def hover(zone: Zone) -> Draft:
    return _step(zone, "hover")


def press(zone: Zone, keys: str) -> Draft:
    return _step(zone, "press", keys=keys)


def scroll(zone: Zone, direction: str) -> Draft:
    return _step(zone, "scroll", direction=direction)


def _step(zone: Zone, skill: str, **arguments: str) -> Draft:
    says = " ".join((skill, *arguments.values(), "on", zone.role, zone.label))
    return Draft(zone=zone.id, skill=skill, arguments=tuple(arguments.items()), transition=False, says=says)
