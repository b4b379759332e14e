"""Repairs of a step that need no guess: another spelling of the same thing, if it is unambiguous.

A zone by its label, a skill in other letters, a number in quotes. What is wrong beyond that stays wrong: it is dropped
where drafts are resolved, and the model is informed.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from midcourse.domain.argument import Argument, Arguments, Scalar
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.plan import GLOBAL, REPLAN
from midcourse.domain.skill import Catalogue, Parameter, Skill

_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?", re.ASCII)
_BOOLEANS = {"true": True, "false": False}

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Repaired:
    zone: str
    skill: str
    arguments: Arguments
    repairs: tuple[str, ...]


def repair_step(zone: str, skill: str, arguments: Arguments, seen: Observation, catalogue: Catalogue) -> Repaired:
    if zone == REPLAN or (skill == REPLAN and catalogue.skill(skill) is None):
        return Repaired(zone=REPLAN, skill="", arguments=(), repairs=())
    found = _skill(skill, catalogue)
    if found is None:
        return Repaired(zone=zone, skill=skill, arguments=arguments, repairs=())
    there = _zone(zone, found, seen)
    given = _arguments(arguments, found)
    repairs = [
        *([f"skill '{skill}' is {found.name}"] if found.name != skill else []),
        *([f"zone '{zone}' is {there}"] if zone and there != zone else []),
        *(
            [f"arguments of {found.name} were written in another way"] if repr(given) != repr(arguments) else []
        ),  # 3 == 3.0
    ]
    return Repaired(zone=there, skill=found.name, arguments=given, repairs=tuple(repairs))


def _skill(name: str, catalogue: Catalogue) -> Skill | None:
    return catalogue.skill(name) or _only(catalogue.skills, lambda skill: _plain(skill.name) == _plain(name))


def _plain(name: str) -> str:
    return name.strip().casefold().replace("-", "_").replace(" ", "_")


def _zone(name: str, skill: Skill, seen: Observation) -> str:
    if not skill.on_zone:
        return name or GLOBAL
    if not name or seen.zone(name) is not None:
        return name
    labelled = _only(seen.zones, lambda zone: name in _names(zone))
    return labelled.id if labelled else name


def _names(zone: Zone) -> tuple[str, ...]:
    return (
        zone.label,
        f"{zone.role}:{zone.label}",
        f'{zone.role} "{zone.label}"',
        f'{zone.id} {zone.role} "{zone.label}"',
    )


def _arguments(arguments: Arguments, skill: Skill) -> Arguments:
    known = {parameter.name: parameter for parameter in skill.parameters}
    kept: list[tuple[str, Argument]] = []
    for name, value in arguments:
        parameter = known.get(name)
        if value is None and (parameter is None or not parameter.required):
            continue  # said to be nothing
        kept.append((name, value if parameter is None else _value(value, parameter)))
    return tuple(kept)


def _value(value: Argument, parameter: Parameter) -> Argument:
    if isinstance(value, str):
        return _from_text(value, parameter)
    if isinstance(value, bool) or value is None:
        return value
    if parameter.type == "string" and isinstance(value, int):
        return _choice(str(value), parameter)
    if parameter.type == "integer" and isinstance(value, float) and float.is_integer(value) and abs(value) < 2**53:
        return int(value)
    return value


def _from_text(text: str, parameter: Parameter) -> Scalar:
    match parameter.type:
        case "string":
            return _choice(text, parameter)
        case "integer":
            return int(text) if _INTEGER.fullmatch(text) else text
        case "number":
            return float(text) if _NUMBER.fullmatch(text) else text
        case "boolean":
            return _BOOLEANS.get(text.lower(), text)
        case "json":
            return text


def _choice(text: str, parameter: Parameter) -> Scalar:
    if not parameter.choices or text in parameter.choices:
        return text
    alike = _only(parameter.choices, lambda choice: isinstance(choice, str) and _plain(choice) == _plain(text))
    return text if alike is None else alike


def _only(items: Iterable[T], fits: Callable[[T], bool]) -> T | None:
    """The one that fits, if there is exactly one."""
    found = [item for item in items if fits(item)]
    return found[0] if len(found) == 1 else None
