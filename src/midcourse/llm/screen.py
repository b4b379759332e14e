"""What is on the screen, as a model reads it: one zone a line."""

import re

from midcourse.domain.argument import Scalar
from midcourse.domain.observation import Observation, Zone
from midcourse.llm.fence import fenced, quoted

_PLAIN = re.compile(r"[\w.:/@#-]{1,80}", re.ASCII)


def screen_lines(seen: Observation) -> str:
    return fenced("SCREEN", (_surface(seen), *(zone_line(zone) for zone in seen.zones)))


def _surface(seen: Observation) -> str:
    address = f" at {quoted(seen.surface.address)}" if seen.surface.address else ""
    return f"surface {quoted(seen.surface.title)}{address}"


def zone_line(zone: Zone) -> str:
    """Id, role, label and state. Where it is does not matter to a plan, and changes with every scroll."""
    state = "".join(f" {named(name)}={value_text(value)}" for name, value in zone.state)
    return f"{named(zone.id)} {named(zone.role)} {quoted(zone.label)}{state}"


def named(text: str) -> str:
    """A name without quotes if nobody can mistake it for anything else."""
    return text if _PLAIN.fullmatch(text) else quoted(text)


def value_text(value: Scalar) -> str:
    return quoted(value) if isinstance(value, str) else str(value).lower()
