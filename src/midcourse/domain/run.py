"""The serialisable state of a run. Small on purpose: plans and observations are kept in the store."""

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

from midcourse.domain.approval import Grant, OutcomeAnswer, Raise, Withdrawn
from midcourse.domain.argument import OutputValue, Pairs
from midcourse.domain.budget import FREE, Budget, Cost, Limits, Spent
from midcourse.domain.commands import Command
from midcourse.domain.detour import Detour
from midcourse.domain.failure import Attempt
from midcourse.domain.fields import stored_as, stored_if_set
from midcourse.domain.monitor import Watch
from midcourse.domain.moves import CheckOutcome
from midcourse.domain.observation import ObservationRef
from midcourse.domain.outline import Outline
from midcourse.domain.phases import New, Phase
from midcourse.domain.plan import RememberedPlan, Segment
from midcourse.domain.records.ledger import Absence

FORMAT = 4
"""Version of the format below, stored with every run. A change that older code cannot read needs a new one."""

READABLE = (1, 2, 3, 4)
"""Formats that this version reads; `codec.py` converts format 1. A run keeps its format, since its journal was decided by it.

From format 3, an open question whether something happened is checked again (`Run.rechecks`). From format 4, a model looks at the
screen before that question is asked (`Run.reads_before_asking`), a retry waits until the screen has settled, a structural failure
bars its step instead of ending the run (`Run.bars_structural`), a run at a ceiling asks for more (`Run.asks_for_more`), and advisers and limits go by what is new to the run (`Run.progress`).
"""

Requested: TypeAlias = Literal["go", "pause", "cancel"]


@dataclass(frozen=True, kw_only=True)
class Issued:
    """A command under way, its reserved cost, and when it was issued."""

    command: Command
    reserved: Cost = FREE
    at: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Counters of a run, for its limits and its result."""

    versions: int = 0
    """Plan versions made."""
    asides: int = 0
    """Plan versions made for tries and reverts of detours."""
    extensions: int = 0
    """Replans after a verified transition."""
    replans: int = 0
    """All other replans, including those after errors."""
    error_replans: int = 0
    refusals: int = 0
    """Refused plans since a plan was completed or failed in a new way."""
    planner_calls: int = 0
    reused: int = 0
    """Plans that were reused without asking the planner."""
    steps: int = 0
    executions: int = 0
    completed: int = 0
    skipped: int = 0
    """Steps that failed and were skipped, because the failure was unimportant."""
    helped: int = 0
    """Replans after errors up to a person's last decision to continue."""
    reopenings: int = 0
    late: int = 0
    detours: int = 0
    tries: int = 0
    reverts: int = 0
    explorations: int = 0
    """Tries of a detour that followed an option of an earlier one."""
    cancels: int = 0
    """Detours that were given up."""
    global_steps: int = 0
    """Steps without a zone, such as keyboard shortcuts."""

    @property
    def segments(self) -> int:
        return self.versions - self.asides


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What is known to a run, to tell progress from repetition."""

    known: tuple[str, ...] = ()
    """Digests of the screens it saw, its effects and results, and what people told it; where nothing is shown, of its steps, too."""
    fresh: bool = False
    """Whether any of this is new since the last plan was asked for."""
    idle: int = 0
    """Plans in a row that were asked for although nothing was new."""


@dataclass(frozen=True, kw_only=True)
class Outage:
    """An outage of something that the run needs: since when, and the number of tries since."""

    since: float
    tries: int = 0


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The run that a fork was made from, and the event after which it branched off."""

    run: str
    event: int


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run: everything that `decide` depends on."""

    id: str
    format: int = FORMAT
    limits: Limits = field(default_factory=Limits)
    has_done_when: bool = False
    has_detours: bool = False
    """Whether there is a detour planner."""
    done_in_words: bool = False
    """Whether only a verifier can tell that the task is done."""
    wants_data: bool = False
    """Whether the task has an output."""
    has_outliner: bool = False
    """Whether there is an outliner."""
    has_reflector: bool = False
    """Whether there is a reflector in addition to the rules."""
    phase: Phase = field(default_factory=New)
    requested: Annotated[Requested, stored_as("wish")] = "go"
    """What a user asked the run to do next."""
    pending: tuple[Issued, ...] = ()
    budget: Budget = field(default_factory=Budget)
    counts: Counts = field(default_factory=Counts)
    now: float = 0.0
    started_at: float = 0.0
    seq: int = 0
    next_id: int = 1
    seen: ObservationRef | None = None
    segment: Segment | None = None
    detour: Detour | None = None
    outline: Outline | None = None
    watch: Watch = field(default_factory=Watch)
    progress: Progress = field(default_factory=Progress)
    """From format 4."""
    met_at_start: bool = False
    """Whether the first screen already met `done_when`, so that a later one that does says nothing. From format 4."""
    outage: Outage | None = None
    look_first: bool = False
    """Whether to observe first, because time has passed unobserved (a restart, a pause, a question)."""
    reopened: bool = False
    """Whether the world's session was lost since the last plan, so that finished steps may be undone."""
    verified: bool = False
    finished_irreversible: tuple[str, ...] = ()
    """Identities of irreversible steps that happened, or may have."""
    absences: tuple[Absence, ...] = ()
    """Irreversible acts that a probe reported as absent, one per likeness."""
    claimed: tuple[str, ...] = ()
    """Identities of irreversible steps that were not sent according to the world alone."""
    disbelieved: bool = False
    """Whether the world was wrong when it said so. Then its later claims are unknown outcomes, and its earlier ones count as sent."""
    deferred: CheckOutcome | None = None
    """An irreversible step with an unknown outcome, which is checked again before the next plan."""
    attempts: tuple[Attempt, ...] = ()
    replanned_at: float | None = None
    """When the last plan after a failure was requested."""
    remembered_plans: Annotated[tuple[RememberedPlan, ...], stored_as("walked")] = ()
    grants: tuple[Grant, ...] = ()
    guidance: tuple[str, ...] = ()
    answer: str = ""
    """What the planner tells the user, in its last plan."""
    given: tuple[OutputValue, ...] = ()
    """The values of the task's output that it has given."""
    note: str = ""
    """What the last plan noted for the next one."""
    outcome_answers: Annotated[tuple[OutcomeAnswer, ...], stored_as("told")] = ()
    withdrawn: Withdrawn | None = None
    """The last question that was withdrawn, for approvers who answer it later."""
    data: Pairs = ()
    """Values that were read for the task's output."""
    spent: tuple[Spent, ...] = ()
    """Everything that was spent, by role, plan and model."""
    overrun: Cost = FREE
    """Costs that answers reported above their reservations; any overrun ends the run."""
    raises: Annotated[tuple[Raise, ...], stored_if_set()] = ()
    """What people allowed it to spend beyond its limits, in order. Nothing else raises a ceiling."""
    forked_from: Origin | None = None
    not_by: str = ""
    """The name of the user who started the run and must not decide its questions, if the policy requires a second person."""
    not_by_id: str = ""
    """What identifies that user; empty if only the name is known."""

    @property
    def rechecks(self) -> bool:
        """Whether what a person is asked is checked again while the question is open, and before a denial is believed."""
        return self.format >= 3

    @property
    def reads_before_asking(self) -> bool:
        """Whether a model looks for the effect of an act in doubt before a person is asked about it."""
        return self.format >= 4 and bool(self.limits.reads_words)

    @property
    def bars_structural(self) -> bool:
        """Whether a structural failure bars only its step: the planner is asked once for a way without it."""
        return self.format >= 4

    @property
    def asks_for_more(self) -> bool:
        """Whether a person is asked at a ceiling on calls, tokens or money. Without one who may be asked, the run ends there."""
        return self.format >= 4 and self.limits.ask_for_more and self.limits.approvals != "never"
