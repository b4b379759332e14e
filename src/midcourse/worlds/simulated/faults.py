"""Trouble to order, as data: which fault, at which act or look of the session.

Fault(kind="stored_but_error", skill="place_order")
{"kind": "slow_load", "skill": "go", "nth": 2, "seconds": 1.5}
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias, get_args

from pydantic import ValidationError

from midcourse.codec import decode
from midcourse.errors import SkillInvalid
from midcourse.ports.world import Catalogue

ActKind: TypeAlias = Literal[
    "popup",  # a dialog takes the focus before the act, until its button is clicked
    "zone_moves",  # the target has another id and other bounds before the act; role and label stay
    "slow_load",  # after the act there is only a loading screen for `seconds`
    "no_effect",  # reported ok, and nothing was done
    "done_but_timeout",  # done, and reported unknown after `seconds`
    "transient",  # refused as busy
    "structural",  # refused as unreachable
]
StoreKind: TypeAlias = Literal[
    "stored_but_error",  # the effect is there, the screen shows an error
    "error_not_stored",  # no effect, and the screen shows an error
    "success_not_stored",  # no effect, and the screen shows success
    "stored_late",  # the screen shows an error; the effect is there `seconds` later
]
LookKind: TypeAlias = Literal[
    "look_fails",
    "look_empty",  # a look that shows no zones
]
FaultKind: TypeAlias = ActKind | StoreKind | LookKind

ACT_KINDS: tuple[ActKind, ...] = get_args(ActKind)
STORE_KINDS: tuple[StoreKind, ...] = get_args(StoreKind)
LOOK_KINDS: tuple[LookKind, ...] = get_args(LookKind)
_NEED_SECONDS = ("slow_load", "stored_late")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Happens at the `nth` matching act of a session, and at the `times - 1` after it.

    A fault of storing counts only acts that would leave an effect; a fault of looking counts looks.
    """

    kind: FaultKind
    skill: str = ""
    """Empty: any."""
    nth: int = 1
    times: int = 1
    seconds: float = 0.0
    detail: str = ""


def faults_from(values: Iterable[Fault | Mapping[str, object]]) -> tuple[Fault, ...]:
    """From faults or from what a task file holds. Raises `SkillInvalid`, because a typo must not mean 'no fault'."""
    return tuple(value if isinstance(value, Fault) else _fault_from(value) for value in values)


def _fault_from(value: Mapping[str, object]) -> Fault:
    known = [field.name for field in fields(Fault)]
    if wrong := [name for name in value if name not in known]:
        raise SkillInvalid(f"a fault has no {', '.join(map(repr, wrong))}; it has {', '.join(known)}")
    try:
        return decode(Fault, json.dumps(dict(value)))
    except ValidationError as error:
        first = error.errors()[0]
        raise SkillInvalid(f"fault {dict(value)!r}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def check_faults(world: str, faults: Iterable[Fault], catalogue: Catalogue, stores: tuple[str, ...]) -> None:
    """Refuse a fault that could never happen in this world. `stores` are the skills that leave effects."""
    for fault in faults:
        if why := _senseless(world, fault, catalogue, stores):
            raise SkillInvalid(f"fault '{fault.kind}' makes no sense here: {why}")


def _senseless(world: str, fault: Fault, catalogue: Catalogue, stores: tuple[str, ...]) -> str:
    skill = catalogue.skill(fault.skill) if fault.skill else None
    if fault.nth < 1 or fault.times < 1:
        return "nth and times count from 1"
    if fault.kind in _NEED_SECONDS and fault.seconds <= 0:
        return "it needs seconds"
    if fault.kind in LOOK_KINDS:
        return f"a look is no use of '{fault.skill}'" if fault.skill else ""
    if fault.skill and skill is None:
        return f"{world} has no skill called '{fault.skill}'"
    if fault.kind == "zone_moves" and skill is not None and not skill.on_zone:
        return f"{skill.name} acts on no zone"
    if fault.kind in STORE_KINDS and fault.skill and fault.skill not in stores:
        return f"{fault.skill} leaves no effect in {world}"
    return ""


class Schedule:
    """Counts acts and looks, and says which faults are due."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        self._faults = faults
        self._counts = [0] * len(faults)

    def due(self, kinds: tuple[FaultKind, ...], skill: str = "") -> dict[FaultKind, Fault]:
        """Count one more act or look for every fault of these kinds, and return those it is time for."""
        now: dict[FaultKind, Fault] = {}
        for index, fault in enumerate(self._faults):
            if fault.kind in kinds and fault.skill in ("", skill):
                self._counts[index] += 1
                if fault.nth <= self._counts[index] < fault.nth + fault.times:
                    now[fault.kind] = fault
        return now
