"""Scheduled faults: which fault happens at which act or look of a session.

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
    "renamed",  # the target has another label, and so another id, before the act; the old label is gone
    "dismissed",  # a dialog or menu that was open has closed by itself before the act
    "expired",  # before the act the session is back at the login, and what was not sent is lost
    "slow_load",  # after the act there is only a loading screen for `seconds`
    "no_effect",  # reported ok, and nothing was done
    "done_but_timeout",  # done, and reported unknown after `seconds`
    "transient",  # refused as busy
    "structural",  # refused as unreachable
    "grasp_slipped",  # the gripper closes on nothing
    "object_moved",  # the thing is no longer where it was last seen; the next look finds it
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
SightKind: TypeAlias = Literal[
    "flip",  # every other look finds the screen behind another one
    "misnamed",  # two things are taken for each other, until the next look
    "unseen",  # one thing is overlooked, until the next look
]
FaultKind: TypeAlias = ActKind | StoreKind | LookKind | SightKind

ACT_KINDS: tuple[ActKind, ...] = get_args(ActKind)
STORE_KINDS: tuple[StoreKind, ...] = get_args(StoreKind)
LOOK_KINDS: tuple[LookKind, ...] = get_args(LookKind)
SIGHT_KINDS: tuple[SightKind, ...] = get_args(SightKind)
FAULT_KINDS: tuple[FaultKind, ...] = (*ACT_KINDS, *STORE_KINDS, *LOOK_KINDS, *SIGHT_KINDS)
ZONE_KINDS = ("zone_moves", "renamed")
"""Faults that can happen only to skills on a zone."""
SPECIAL_KINDS = ("expired", "grasp_slipped", "object_moved", "misnamed", "unseen")
"""Faults that can happen only in worlds that declare them in `special`."""
Special: TypeAlias = Mapping[FaultKind, tuple[str, ...]]
"""Special kinds that can happen in a world, each with the skills that they can happen to; empty: all skills."""
_NEED_SECONDS = ("slow_load", "stored_late")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault at the `nth` matching act of a session, and at the `times - 1` matching acts after it.

    Only acts that it can happen to are counted: for a fault of storing those that would leave an effect, for `dismissed`
    those while something is open, for `expired` those while a user is logged in. A fault of looking counts looks.
    """

    kind: FaultKind
    skill: str = ""
    """Empty: any."""
    nth: int = 1
    times: int = 1
    seconds: float = 0.0
    detail: str = ""
    """The message on the screen or in the outcome; for `renamed`, the new label."""


@dataclass(frozen=True, kw_only=True)
class Premises:
    """The properties of a world that decide which faults can happen in it."""

    world: str
    catalogue: Catalogue
    stores: tuple[str, ...]
    """Skills that leave effects."""
    special: Special


def parse_faults(values: Iterable[Fault | Mapping[str, object]]) -> tuple[Fault, ...]:
    """Read faults from objects or from the tables of a task file. Raises `SkillInvalid`, so that a typo is not ignored."""
    return tuple(value if isinstance(value, Fault) else _parse_fault(value) for value in values)


def _parse_fault(value: Mapping[str, object]) -> Fault:
    known = [field.name for field in fields(Fault)]
    if wrong := [name for name in value if name not in known]:
        raise SkillInvalid(f"a fault has no {', '.join(map(repr, wrong))}; it has {', '.join(known)}")
    try:
        return decode(Fault, json.dumps(dict(value)))
    except ValidationError as error:
        first = error.errors()[0]
        raise SkillInvalid(f"fault {dict(value)!r}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def check_faults(faults: Iterable[Fault], premises: Premises) -> None:
    """Raise `SkillInvalid` for a fault that can never happen in this world."""
    for fault in faults:
        if why := _why_impossible(fault, premises):
            raise SkillInvalid(f"fault '{fault.kind}' makes no sense here: {why}")


def _why_impossible(fault: Fault, premises: Premises) -> str:
    skill = premises.catalogue.skill(fault.skill) if fault.skill else None
    if fault.nth < 1 or fault.times < 1:
        return "nth and times count from 1"
    if fault.kind in _NEED_SECONDS and fault.seconds <= 0:
        return "it needs seconds"
    if fault.kind in SPECIAL_KINDS and fault.kind not in premises.special:
        return f"nothing in {premises.world} can have it"
    if fault.kind in (*LOOK_KINDS, *SIGHT_KINDS):
        return f"it happens while the world is observed, not in '{fault.skill}'" if fault.skill else ""
    if fault.skill and skill is None:
        return f"{premises.world} has no skill called '{fault.skill}'"
    if fault.kind in ZONE_KINDS and skill is not None and not skill.on_zone:
        return f"{skill.name} acts on no zone"
    if fault.kind in STORE_KINDS and fault.skill and fault.skill not in premises.stores:
        return f"{fault.skill} leaves no effect in {premises.world}"
    if fault.skill and fault.skill not in (premises.special.get(fault.kind) or (fault.skill,)):
        return f"{fault.skill} cannot meet it in {premises.world}"
    return ""


class Schedule:
    """Counts acts and looks, and returns the scheduled faults that are due."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        self._faults = faults
        self._counts = [0] * len(faults)

    def due(self, kinds: tuple[FaultKind, ...], skill: str = "") -> dict[FaultKind, Fault]:
        """Count one more act or look for every fault of these kinds, and return the faults that are due now."""
        now: dict[FaultKind, Fault] = {}
        for index, fault in enumerate(self._faults):
            if fault.kind in kinds and fault.skill in ("", skill):
                self._counts[index] += 1
                if fault.nth <= self._counts[index] < fault.nth + fault.times:
                    now[fault.kind] = fault
        return now
