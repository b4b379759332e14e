"""Plans: a planner's drafts, resolved steps, and the short form that a run carries."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from midcourse.domain.agreement import Ruling
from midcourse.domain.argument import Argument, Arguments, Pairs
from midcourse.domain.expectation import Expectation, Probe
from midcourse.domain.fields import NONE, Named, Several, keep_named, keep_several, stored_if_set
from midcourse.domain.records.ledger import Alike
from midcourse.domain.reflection import ReplanningContext
from midcourse.domain.skill import Effect

REPLAN = "__replan__"
"""The target of the step at which the world is observed and the rest is planned."""
GLOBAL = "__global__"
"""The target of a step that has no zone, such as a keyboard shortcut."""
REACH = "__reach__"
"""The target of a step that says only what must be true after it; a detour finds a way."""

UNDONE = "not done: "
"""How the reason for a plan begins if the last one has steps for a screen that did not come."""
LED_ELSEWHERE = "led elsewhere: "
"""The same if a step was carried out and something else is shown than it expected."""
NOT_SENT = "not sent: "
"""The same if a step was carried out and what it would have sent waits, because the plan does not say that it sends something."""

Cause: TypeAlias = Literal["initial", "adaptive", "error", "guided", "reopened", "detour", "amended", "taken_over"]
"""Why a plan version was made: the first; at a transition; after a failure; because of guidance; the world was lost; as one try
of a detour, which does not replace the segment; a person changed what a step does, or has acted in the world."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """One step as a planner writes it: a skill, the zone it acts on, and what shows that it worked.

    It is checked before it becomes a step of a plan: the zone must be visible, the skill known, the arguments valid.
    """

    zone: str = GLOBAL
    """The id of a visible zone, or `__global__` for a skill without one. In rules, a pattern: `role:label`."""
    skill: str = ""
    """The name of a skill in the world's catalogue."""
    arguments: Named[Argument] = NONE
    """The skill's arguments by name: `{"text": "Hello"}`. A value may be a `Reference` to an input, secret, file or result."""
    expect: Expectation | None = None
    """What must be seen afterwards. Until it is seen, an irreversible step does not count as done."""
    absent_when: Expectation | None = None
    """What is seen only if nothing happened, such as a message that a field is missing."""
    probe: Probe | None = None
    """What is asked where it is unknown whether the step happened; by default the probe that the skill names."""
    transition: bool | None = None
    """Whether the step may change the screen, so that the rest is planned after another look. None: as the skill says."""
    needs: Several[str] = NONE
    """Results of earlier steps that it requires, in addition to those that its arguments refer to."""
    gives: Several[str] = NONE
    """Results that it must return, for other steps or for the task."""
    says: str = ""
    """The step in words, for people."""
    result_name: str = ""
    """The name under which its result is kept, for a `Reference` to it in a later step; without it, the skill's own names."""
    on: str = ""
    """The title or address of the screen that it is to be done on, if that is not the present one. Then its zone is `role:label`."""

    def __post_init__(self) -> None:
        keep_named(self, "arguments")
        keep_several(self, "needs", "gives")


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a step acts on, in terms that survive a reload, unlike a zone's id."""

    surface: str
    role: str
    label: str


@dataclass(frozen=True, kw_only=True)
class Step:
    """A resolved draft: its zone was visible, its skill is known, its arguments are valid. Kept in the plan store."""

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
    result_name: str = ""
    on: str = ""
    call: str = ""
    """Digest of (skill, target, arguments), by which attempts are recognised."""
    unsaid: Annotated[bool, stored_if_set()] = False
    """Whether the planner gave no `says`, by which it states that the step sends something. Then they were made up for people."""
    asks: bool = False
    """Whether it needs approval although it is not irreversible, because only the plan names its destination."""
    ruled: Ruling = ""
    """The ruling of the task's agreement, as far as known when it was planned."""


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
    covers: Annotated[str, stored_if_set()] = ""
    """What an approval of it for the whole run covers besides; empty if nothing."""
    likeness: str = ""
    """Digest of what an irreversible step sends, without values that its form changes by itself."""
    alike: tuple[Alike, ...] = ()
    """Earlier effects that resemble what it would send."""
    asks: bool = False
    found: str = ""
    """The zone where its target was found: by a detour, or under another id than planned. Or `__reach__` if its condition holds already."""
    ruled: Ruling = ""
    on: Annotated[str, stored_if_set()] = ""
    """The title or address of the screen that it waits for."""
    reads: bool = False
    """Whether the verifier must judge its result, because its expectation has only words."""


@dataclass(frozen=True, kw_only=True)
class Segment:
    """The current plan version."""

    version: int
    cause: Cause
    made_under: str
    """Fingerprint of the observation it was made from."""
    view: str = ""
    """Digest of the scroll position of that observation."""
    final: bool
    steps: tuple[PlannedStep, ...]
    cursor: int = 0
    tries: int = 0
    made_by: int = 0
    """The command that made it: a version may be drafted more than once before it is adopted."""


@dataclass(frozen=True, kw_only=True)
class Changed:
    """New arguments for one step of a plan."""

    index: int
    arguments: Pairs


@dataclass(frozen=True, kw_only=True)
class Amendment:
    """A person's changes to the current plan, made without asking the planner."""

    version: int
    made_by: int
    cursor: int
    """The first step that is not done."""
    changes: tuple[Changed, ...]


@dataclass(frozen=True, kw_only=True)
class RememberedPlan:
    """A plan together with its screen, as a digest of both, and how often it was completed."""

    plan: str
    times: int = 0


@dataclass(frozen=True, kw_only=True)
class Reused:
    """A segment that worked before, and the run and plan that it comes from."""

    segment: str
    run: str
    version: int


@dataclass(frozen=True, kw_only=True)
class PlanVersion:
    """One plan as stored: full steps, why it was made, from what, and what was repaired in the draft."""

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
    """The segment that was reused instead of asking the planner."""
    context: ReplanningContext | None = None
    """For a plan after a failure: the failure, and what was known about it."""
