"""Repairs of a step that need no guess: another spelling of the same thing, if it is unambiguous.

A zone by its label, a skill in other letters, a number for a text. Any other mistake is left: such a step is
dropped when the draft is resolved, and the model is informed.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from midcourse.domain.argument import Argument, Arguments, Reference, Scalar
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.plan import GLOBAL, REPLAN
from midcourse.domain.skill import Catalogue, Parameter, Skill
from midcourse.llm.roles.named_values import Written, read_arguments

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Repaired:
    zone: str
    skill: str
    arguments: Arguments
    repairs: tuple[str, ...]


def repair_step(
    zone: str,
    skill: str,
    given: Iterable[tuple[str, Written | Reference]],
    seen: Observation,
    catalogue: Catalogue,
) -> Repaired:
    """Repair the step. Raises `Misfit` for a list or an object that no argument of the skill can be."""
    if zone == REPLAN or (skill == REPLAN and catalogue.skill(skill) is None):
        return Repaired(zone=REPLAN, skill="", arguments=(), repairs=())
    found = _find_skill(skill, catalogue)
    arguments = read_arguments(given, found.parameters if found else ())
    if found is None:
        return Repaired(zone=zone, skill=skill, arguments=arguments, repairs=())
    zone_id = _find_zone(zone, found, seen)
    repaired = _repair_arguments(arguments, found)
    repairs = [
        *([f"skill '{skill}' is {found.name}"] if found.name != skill else []),
        *([f"zone '{zone}' is {zone_id}"] if zone and zone_id != zone else []),
        *(
            [f"arguments of {found.name} were written in another way"] if repr(repaired) != repr(arguments) else []
        ),  # compared as text, because 3 == 3.0
    ]
    return Repaired(zone=zone_id, skill=found.name, arguments=repaired, repairs=tuple(repairs))


def _find_skill(name: str, catalogue: Catalogue) -> Skill | None:
    return catalogue.skill(name) or _find_only(
        catalogue.skills, lambda skill: _normalize(skill.name) == _normalize(name)
    )


def _normalize(name: str) -> str:
    return name.strip().casefold().replace("-", "_").replace(" ", "_")


def _find_zone(name: str, skill: Skill, seen: Observation) -> str:
    if not skill.on_zone:
        return name or GLOBAL
    if not name or seen.zone(name) is not None:
        return name
    labelled = _find_only(seen.zones, lambda zone: name in _list_names(zone))
    return labelled.id if labelled else name


def _list_names(zone: Zone) -> tuple[str, ...]:
    return (
        zone.label,
        f"{zone.role}:{zone.label}",
        f'{zone.role} "{zone.label}"',
        f'{zone.id} {zone.role} "{zone.label}"',
    )


def _repair_arguments(arguments: Arguments, skill: Skill) -> Arguments:
    known = {parameter.name: parameter for parameter in skill.parameters}
    kept: list[tuple[str, Argument]] = []
    for name, value in arguments:
        parameter = known.get(name)
        if value is None and (parameter is None or not parameter.required):
            continue  # null for a parameter that may be left out
        kept.append((name, value if parameter is None else _repair_value(value, parameter)))
    return tuple(kept)


def _repair_value(value: Argument, parameter: Parameter) -> Argument:
    if isinstance(value, bool) or value is None:
        return value
    if parameter.type == "string" and isinstance(value, str | int):
        return _match_choice(str(value), parameter)
    if parameter.type == "integer" and isinstance(value, float) and float.is_integer(value) and abs(value) < 2**53:
        return int(value)
    return value


def _match_choice(text: str, parameter: Parameter) -> Scalar:
    if not parameter.choices or text in parameter.choices:
        return text
    fitting = _find_only(
        parameter.choices, lambda choice: isinstance(choice, str) and _normalize(choice) == _normalize(text)
    )
    return text if fitting is None else fitting


def _find_only(items: Iterable[T], fits: Callable[[T], bool]) -> T | None:
    """Return the item that fits, if there is exactly one."""
    found = [item for item in items if fits(item)]
    return found[0] if len(found) == 1 else None
