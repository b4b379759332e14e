"""Digests of tasks and screens that do not depend on the values of inputs.

The digest of a screen covers everything visible on it except what the run itself has entered. Until a step has passed an
input on, its value on the screen is the application's own, such as one of many options, and counts.
"""

import json
import re
from collections.abc import Iterable
from hashlib import blake2b

from midcourse.domain.argument import Pairs
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.task import Task
from midcourse.policy.reuse.conditions import insert_placeholders
from midcourse.policy.reuse.placeholders import Placeholders

PASSING = ("focused", "seen")
"""States that do not make a screen a different one."""

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_TIMES = re.compile(
    "|".join(
        (
            r"\b\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\b\.?)?",
            r"\b\d{4}-\d{2}-\d{2}\b",
            r"\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b",
            r"\b\d+\s+(?:second|minute|hour|day|week|month|year)s?\s+ago\b",
            rf"\b{_MONTH}\s+\d{{1,2}},?\s+\d{{4}}\b",
            rf"\b\d{{1,2}}\s+{_MONTH}\s+\d{{4}}\b",
        )
    ),
    re.IGNORECASE,
)
"""Clocks and dates, which worlds leave out of their fingerprints as well."""

_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")


def task_digest(task: Task, placeholders: Placeholders) -> str:
    """Identifies a task: goal, world, `done_when` and the names of its inputs. Raises `Unclear`."""
    done_when = None if task.done_when is None else repr(insert_placeholders(task.done_when, placeholders))
    return _digest(
        "task",
        placeholders.insert(task.goal),
        task.world,
        sorted(name for name, _ in task.inputs),
        sorted(field.name for field in task.output),
        done_when,
        sorted(task.secrets),
        sorted(task.files),
    )


def surface_digest(seen: Observation, passed_on: Pairs) -> str:
    """Identifies a screen, regardless of the values of the inputs that have been passed on so far. Raises `Unclear`."""
    placeholders = Placeholders(passed_on)
    surface = seen.surface
    zones = sorted(_zone(zone, placeholders) for zone in seen.zones)
    return _digest(
        "surface", _text(surface.title, placeholders), _text(_decode_address(surface.address), placeholders), zones
    )


def values_digest(inputs: Pairs, names: Iterable[str]) -> str:
    given = dict(inputs)
    return _digest("values", [[name, repr(given.get(name))] for name in sorted(names)])


def segment_digest(*found_by: object) -> str:
    return _digest("segment", *found_by)


def _zone(zone: Zone, placeholders: Placeholders) -> list[str]:
    states = sorted(
        f"{name}={_text(value, placeholders) if isinstance(value, str) else placeholders.insert_in_value(value)!r}"
        for name, value in zone.state
        if name not in PASSING
    )
    return [zone.role, _text(zone.label, placeholders), *states]


def _text(text: str, placeholders: Placeholders) -> str:
    """The text with placeholders. Inputs come first: a date that is the value of an input is not a clock."""
    return _TIMES.sub("#", placeholders.insert(text))


def _decode_address(address: str) -> str:
    raw = _PERCENT.sub(_decode_byte, address.replace("+", " ").encode())
    return raw.decode(errors="replace")


def _decode_byte(found: re.Match[bytes]) -> bytes:
    return bytes.fromhex(found[1].decode())


def _digest(*parts: object) -> str:
    return blake2b(json.dumps(parts, separators=(",", ":")).encode(), digest_size=8).hexdigest()
