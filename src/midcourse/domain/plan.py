"""Plans: what a planner drafts, what becomes of a draft, and the short form that a run carries."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.agreement import Ruling
from midcourse.domain.argument import Argument, Arguments, Pairs
from midcourse.domain.expectation import Expectation, Probe
from midcourse.domain.fields import NONE, Named, Several, keep_named, keep_several
from midcourse.domain.records.ledger import Alike
from midcourse.domain.reflection import ReplanningContext
from midcourse.domain.skill import Effect

REPLAN = "__replan__"
"""The sentinel: a transition is due here; look again and plan the rest."""
GLOBAL = "__global__"
"""The target of a step that has no zone, such as a keyboard shortcut."""
REACH = "__reach__"
"""The target of a step that says only what must be true after it: a detour finds the way there."""

Cause: TypeAlias = Literal["initial", "adaptive", "error", "guided", "reopened", "detour", "amended", "taken_over"]
"""Why a plan version was made: the first; at a transition; after a failure; a person said so; the world was lost; as one try
of a detour, which is beside the segment and does not take its place; a person changed what a step does, or has acted in the
world."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """One step as a planner writes it. Nothing in it is trusted."""

    zone: str = GLOBAL
    skill: str = ""
    arguments: Named[Argument] = NONE
    expect: Expectation | None = None
    absent_when: Expectation | None = None
    probe: Probe | None = None
    transition: bool | None = None
    needs: Several[str] = NONE
    """Results of earlier steps without which it must not be done. Those that its arguments refer to are needed anyway."""
    gives: Several[str] = NONE
    """Results that it is to bring back, for other steps or for the task."""
    says: str = ""

    def __post_init__(self) -> None:
        keep_named(self, "arguments")
        keep_several(self, "needs", "gives")


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a step acts on, in words that survive a reload. The zone's id is not among them."""

    surface: str
    role: str
    label: str


@dataclass(frozen=True, kw_only=True)
class Step:
    """A draft that passed: its zone was visible, its skill is known, its arguments fit. Kept in the plan store."""

    version: int
    index: int
    zone: str
    skill: str = ""
    arguments: Arguments = ()
    target: Target
    effect: Effect = "read"
    transition: bool = False
    expect: Expectation | None = None
    absent_when: Expectation | None = None
    probe: Probe | None = None
    needs: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    says: str = ""
    call: str = ""
    """Digest of (skill, target, arguments): what an attempt is remembered by."""
    asks: bool = False
    """Whether a person must agree although it is not irreversible: only the plan names its destination."""
    ruled: Ruling = ""
    """What the task's agreement says of it, as far as that was known when it was planned."""


Place: TypeAlias = Literal["zone", "global", "reach", "replan"]


@dataclass(frozen=True, kw_only=True)
class PlannedStep:
    """The short form of a step: all that the director needs to decide. The rest is found by (version, index)."""

    version: int
    index: int
    place: Place
    skill: str = ""
    effect: Effect = "read"
    transition: bool = False
    call: str = ""
    identity: str = ""
    """Digest of (skill, target, commit set) of an irreversible step; empty until the commit set is known."""
    consequence: str = ""
    """What an approval binds; empty until the commit set is known."""
    likeness: str = ""
    """Digest of what an irreversible step sends, without what its form changes by itself."""
    alike: tuple[Alike, ...] = ()
    """Earlier effects that look like what it would send."""
    asks: bool = False
    found: str = ""
    """Where a detour found its target, or `__reach__` if what the step was for is there already."""
    ruled: Ruling = ""
    reads: bool = False
    """Whether a reader must judge its result: its expectation has only words."""


@dataclass(frozen=True, kw_only=True)
class Segment:
    """The plan version under way."""

    version: int
    cause: Cause
    made_under: str
    """Fingerprint of the observation it was made from."""
    view: str = ""
    """How far that was scrolled."""
    final: bool
    steps: tuple[PlannedStep, ...]
    cursor: int = 0
    tries: int = 0
    made_by: int = 0
    """The command that made it: a version may be drafted more than once before it is adopted."""


@dataclass(frozen=True, kw_only=True)
class Changed:
    """Other arguments for one step of a plan."""

    index: int
    arguments: Pairs


@dataclass(frozen=True, kw_only=True)
class Amendment:
    """What a person wants otherwise in a plan that is under way: no planner is asked."""

    version: int
    made_by: int
    cursor: int
    """Its steps before this one are done."""
    changes: tuple[Changed, ...]


@dataclass(frozen=True, kw_only=True)
class Walked:
    """A plan under the screen it was made for, as a digest of both, and how often it was walked to its end."""

    plan: str
    times: int = 0


@dataclass(frozen=True, kw_only=True)
class Reused:
    """A segment that had worked before, and the run and plan it was made of."""

    segment: str
    run: str
    version: int


@dataclass(frozen=True, kw_only=True)
class PlanVersion:
    """One plan as stored: whole steps, why it was made, from what, and what was repaired in the draft."""

    version: int
    parent: int | None
    cause: Cause
    why: str
    observation: str
    final: bool
    steps: tuple[Step, ...]
    repairs: tuple[str, ...] = ()
    made_by: int = 0
    reused: Reused | None = None
    """What it was made from without asking the planner."""
    context: ReplanningContext | None = None
    """Of a plan after a failure: the failure that it is for, and what was known about it."""
