"""Random faults: the probability of each fault, at every act or look that it can happen to.

The same seed and the same acts always produce the same faults. Each kind is drawn separately, so two
drifts that differ in one rate differ in that kind of fault only.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from hashlib import blake2b

from midcourse.errors import SkillInvalid
from midcourse.worlds.simulated.faults import FAULT_KINDS, SPECIAL_KINDS, Fault, FaultKind, Premises

_LARGEST = 1 << 64


@dataclass(frozen=True, kw_only=True)
class Drift:
    """A rate for each kind of fault, from 0 to 1: the share of the acts, storing acts or looks that it can happen to."""

    # acts
    popup: float = 0.0
    zone_moves: float = 0.0
    renamed: float = 0.0
    dismissed: float = 0.0
    expired: float = 0.0
    slow_load: float = 0.0
    no_effect: float = 0.0
    done_but_timeout: float = 0.0
    transient: float = 0.0
    structural: float = 0.0
    grasp_slipped: float = 0.0
    object_moved: float = 0.0
    # acts that would leave an effect
    stored_but_error: float = 0.0
    error_not_stored: float = 0.0
    success_not_stored: float = 0.0
    stored_late: float = 0.0
    # looks
    look_fails: float = 0.0
    look_empty: float = 0.0
    flip: float = 0.0
    misnamed: float = 0.0
    unseen: float = 0.0
    # how long it takes
    load_seconds: float = 2.0
    timeout_seconds: float = 1.0
    late_seconds: float = 0.8

    def __post_init__(self) -> None:
        for kind in FAULT_KINDS:
            if not 0.0 <= self.rate(kind) <= 1.0:
                raise SkillInvalid(f"the rate of '{kind}' is a share of 1, not {self.rate(kind)!r}")
        if min(self.load_seconds, self.timeout_seconds, self.late_seconds) <= 0:
            raise SkillInvalid("what takes seconds takes more than none")

    def rate(self, kind: FaultKind) -> float:
        return getattr(self, kind)

    def fault(self, kind: FaultKind) -> Fault:
        """The fault to inject when this kind is drawn."""
        seconds = {
            "slow_load": self.load_seconds,
            "done_but_timeout": self.timeout_seconds,
            "stored_late": self.late_seconds,
        }
        return Fault(kind=kind, seconds=seconds.get(kind, 0.0))

    def times(self, factor: float) -> "Drift":
        """The same drift with all rates multiplied by `factor`."""
        return replace(self, **{kind: round(self.rate(kind) * factor, 6) for kind in FAULT_KINDS})

    @property
    def digest(self) -> str:
        """A digest of all parameters, to record which drift a figure was measured under."""
        return blake2b(json.dumps(asdict(self), sort_keys=True).encode(), digest_size=8).hexdigest()


NO_DRIFT = Drift()

MODERATE = Drift(
    popup=0.015,
    zone_moves=0.010,
    renamed=0.005,
    dismissed=0.010,
    expired=0.005,
    slow_load=0.015,
    no_effect=0.008,
    done_but_timeout=0.006,
    transient=0.015,
    grasp_slipped=0.040,
    object_moved=0.020,
    stored_but_error=0.020,
    error_not_stored=0.020,
    success_not_stored=0.005,
    stored_late=0.010,
    look_fails=0.006,
    look_empty=0.004,
    flip=0.006,
    misnamed=0.010,
    unseen=0.010,
)
"""About one act in ten has a fault. The rate of `structural` is 0, since a structural failure is never random."""

PROFILES: Mapping[str, Drift] = {"calm": MODERATE.times(0.2), "moderate": MODERATE, "stormy": MODERATE.times(2.5)}


def parse_drift(value: Drift | str | Mapping[str, object], premises: Premises) -> Drift:
    """Read a drift from a profile's name or a table of rates. Kinds that the world cannot have are ignored in a profile and refused in a table."""
    if isinstance(value, Drift):
        return value
    if isinstance(value, str):
        if value not in PROFILES:
            raise SkillInvalid(f"there is no drift called '{value}'; there are {', '.join(PROFILES)}")
        return PROFILES[value]
    known = [field.name for field in fields(Drift)]
    rates: dict[str, float] = {}
    for name, rate in value.items():
        if name not in known:
            raise SkillInvalid(f"a drift has no '{name}'; it has {', '.join(known)}")
        if isinstance(rate, bool) or not isinstance(rate, int | float):
            raise SkillInvalid(f"drift: '{name}' is a number, not {rate!r}")
        if name in SPECIAL_KINDS and name not in premises.special:
            raise SkillInvalid(f"drift '{name}' makes no sense here: nothing in {premises.world} can have it")
        rates[name] = rate
    return Drift(**rates)


class Chance:
    """Draws at every act or look which random faults are due."""

    def __init__(self, drift: Drift, seed: int) -> None:
        self._drift = drift
        self._seed = seed
        self._counts: dict[FaultKind, int] = {}

    def due(self, kinds: tuple[FaultKind, ...]) -> dict[FaultKind, Fault]:
        """Draw once for each of these kinds, and return the faults that are due."""
        return {kind: self._drift.fault(kind) for kind in kinds if self._draw(kind) < self._drift.rate(kind)}

    def _draw(self, kind: FaultKind) -> float:
        if not self._drift.rate(kind):
            return 1.0
        count = self._counts[kind] = self._counts.get(kind, 0) + 1
        digest = blake2b(f"{self._seed} {kind} {count}".encode(), digest_size=8).digest()
        return int.from_bytes(digest) / _LARGEST
