"""Events: what happened. Past tense. An answer names the command it answers; a control event comes from outside.

The time `at` is set by the runtime when it takes an event from the mailbox. The core has no other clock.
"""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Discriminator

from midcourse.domain.agreement import Ruling
from midcourse.domain.approval import Change, Verdict
from midcourse.domain.argument import OutputValue, Pairs
from midcourse.domain.budget import FREE, Cost, Spent
from midcourse.domain.detour import Option, Strategy
from midcourse.domain.failure import Track
from midcourse.domain.fields import stored_if_set
from midcourse.domain.monitor import Advice
from midcourse.domain.moves import Adviser
from midcourse.domain.observation import ObservationRef
from midcourse.domain.outcome import Evidence, Status
from midcourse.domain.plan import PlannedStep
from midcourse.domain.records.ledger import Alike
from midcourse.domain.reflection import Reflection
from midcourse.domain.skill import Effect

# --- answers to commands


@dataclass(frozen=True, kw_only=True)
class WorldOpened:
    """The world was opened, or could not be."""

    answers: int
    at: float = 0.0
    opened: bool
    invalid: bool = False
    """Whether the configuration is invalid, so that retrying would not help."""
    away: bool = False
    """Whether its host cannot be reached or has no capacity: an outage, not a failed attempt."""
    full: bool = False
    """Whether its host can be reached but has no capacity. The run waits until it has."""
    detail: str = ""
    cost: Cost = FREE
    kind: Literal["world_opened"] = "world_opened"


@dataclass(frozen=True, kw_only=True)
class Observed:
    """An observation. Without `seen` it failed or showed nothing; `reason` says which."""

    answers: int
    at: float = 0.0
    seen: ObservationRef | None = None
    reason: str = ""
    detail: str = ""
    wait: float | None = None
    """Seconds until the reader's model should be asked again, if it could not be reached."""
    cost: Cost = FREE
    spent: tuple[Spent, ...] = ()
    """`cost` by role, as far as known."""
    kind: Literal["observed"] = "observed"


PlanVerdict: TypeAlias = Literal[
    "steps", "done", "impossible", "gave_up", "ask", "refused", "rejected", "garbage", "transport"
]
"""`rejected`: the provider refuses the request, for example for a wrong key. Retrying would not help."""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """The planner's draft, resolved against what is visible."""

    answers: int
    at: float = 0.0
    verdict: PlanVerdict = "steps"
    steps: tuple[PlannedStep, ...] = ()
    final: bool = False
    repairs: int = 0
    detail: str = ""
    cost: Cost = FREE
    wait: float | None = None
    """With `transport`: seconds until the planner should be asked again, if known."""
    reused: bool = False
    """Whether the plan was reused, without asking the planner."""
    answer: str = ""
    """What the planner tells the user."""
    data: tuple[OutputValue, ...] = ()
    """The values that it gives for the task's output."""
    mismatch: str = ""
    """How these values do not fit the output."""
    note: str = ""
    """What it notes for the next plan."""
    spent: tuple[Spent, ...] = ()
    kind: Literal["planned"] = "planned"


AdviceVerdict: TypeAlias = Literal["answered", "gave_up", "refused", "rejected", "garbage", "transport"]


@dataclass(frozen=True, kw_only=True)
class Advised:
    """An adviser's answer. Unless `verdict` is `answered` there is no advice, and the planner is asked without it."""

    answers: int
    at: float = 0.0
    role: Adviser
    verdict: AdviceVerdict = "answered"
    reflection: Reflection | None = None
    """From a reflector: why the last step failed."""
    advice: Advice | None = None
    """From a monitor: a fundamental problem. Usually None."""
    goals: tuple[str, ...] = ()
    """From an outliner: the coarse goals."""
    current: int = 0
    """From a judge: the number of the current goal."""
    evidence: str = ""
    """From a judge: what on the screen shows it. Without evidence the judgement has no effect."""
    detail: str = ""
    cost: Cost = FREE
    spent: tuple[Spent, ...] = ()
    kind: Literal["advised"] = "advised"


@dataclass(frozen=True, kw_only=True)
class Acted:
    """The outcome of an act and the observation after it.

    If `reason` is `held`, nothing was sent, because the consequence differed from the allowed one. Then the event has the
    actual consequence, its identity and its effect.
    """

    answers: int
    at: float = 0.0
    status: Status = "ok"
    reason: str = ""
    detail: str = ""
    evidence: Evidence = ""
    dropped: tuple[str, ...] = ()
    """What the application wanted to send by itself and was not allowed to, a sentence for each."""
    claimed: bool = False
    """Whether only the world itself says that nothing was sent."""
    unmet: str = ""
    """If it was carried out and led elsewhere than expected: what was expected, and what is shown. Or what was not sent."""
    unsent: Annotated[tuple[str, ...], stored_if_set()] = ()
    """If held: the kinds of requests that may be left waiting, so that no person need be asked about them."""
    dispatched: bool = True
    identity: str = ""
    consequence: str = ""
    effect: Effect | None = None
    zone: str = ""
    """If held: the zone that the step acted on, if that is not the planned one."""
    ruled: Ruling = ""
    """If held: the ruling on the consequence."""
    likeness: str = ""
    """If held or sent: the digest of the values, without those that the form changes by itself."""
    alike: tuple[Alike, ...] = ()
    """If held: earlier effects that it resembles."""
    covers: str = ""
    """If held: what an approval for the whole run covers besides exactly this."""
    results: str = ""
    """Digest of the step's results, if it had any."""
    looked: bool = True
    seen: ObservationRef | None = None
    track: Track | None = None
    """For a failure: how such failures ended in other runs, if known."""
    cost: Cost = FREE
    spent: tuple[Spent, ...] = ()
    kind: Literal["acted"] = "acted"


VerificationVerdict: TypeAlias = Literal["happened", "did_not_happen", "undecided", "too_early"]


@dataclass(frozen=True, kw_only=True)
class Verified:
    """Whether an act with an unknown outcome happened. `too_early`: check again after `seconds`, since absence proves nothing yet.

    Reasons: `elsewhere`, the probe was redirected to another page, and may reach its own after other steps such as a sign-in;
    `no_probe`, there is no probe.
    """

    answers: int
    at: float = 0.0
    verdict: VerificationVerdict = "undecided"
    evidence: Evidence = ""
    reason: str = ""
    detail: str = ""
    seconds: float = 0.0
    sent_at: float = 0.0
    """The time at which the act was sent, if it was."""
    seen: ObservationRef | None = None
    cost: Cost = FREE
    spent: tuple[Spent, ...] = ()
    kind: Literal["verified"] = "verified"


@dataclass(frozen=True, kw_only=True)
class DoneChecked:
    """Whether `done_when` holds. `too_early`: check again after `seconds`. `world_lost`: the probe could not be run."""

    answers: int
    at: float = 0.0
    verdict: Literal["met", "unmet", "undecided", "too_early", "world_lost"] = "undecided"
    detail: str = ""
    seconds: float = 0.0
    seen: ObservationRef | None = None
    data: Pairs = ()
    """The values that were read for the output of the task."""
    wait: float | None = None
    """Seconds until the reading model should be asked again, if it could not be reached; 0 if unknown."""
    cost: Cost = FREE
    spent: tuple[Spent, ...] = ()
    kind: Literal["done_checked"] = "done_checked"


TryVerdict: TypeAlias = Literal["try", "gave_up", "refused", "rejected", "garbage", "transport"]


@dataclass(frozen=True, kw_only=True)
class TryPlanned:
    """The planner's draft of the next try in a detour. If it has no step, `verdict` says why."""

    answers: int
    at: float = 0.0
    verdict: TryVerdict = "try"
    step: PlannedStep | None = None
    options: tuple[Option, ...] = ()
    detail: str = ""
    wait: float | None = None
    cost: Cost = FREE
    spent: tuple[Spent, ...] = ()
    kind: Literal["try_planned"] = "try_planned"


@dataclass(frozen=True, kw_only=True)
class ClosenessJudged:
    """How close a detour is to its goal. `found`: the goal is reached; the zone of its target, or `__reach__` if its condition holds."""

    answers: int
    at: float = 0.0
    verdict: Literal["judged", "garbage", "transport"] = "judged"
    closeness: float = 0.0
    found: str = ""
    detail: str = ""
    wait: float | None = None
    cost: Cost = FREE
    spent: tuple[Spent, ...] = ()
    kind: Literal["closeness_judged"] = "closeness_judged"


@dataclass(frozen=True, kw_only=True)
class RevertPlanned:
    """The next way to revert a try of a detour. Without a step no way is left."""

    answers: int
    at: float = 0.0
    strategy: Strategy | None = None
    step: PlannedStep | None = None
    detail: str = ""
    cost: Cost = FREE
    kind: Literal["revert_planned"] = "revert_planned"


@dataclass(frozen=True, kw_only=True)
class PersonAsked:
    """The question was sent. The answer will arrive as a separate event."""

    answers: int
    at: float = 0.0
    cost: Cost = FREE
    kind: Literal["person_asked"] = "person_asked"


@dataclass(frozen=True, kw_only=True)
class TimerFired:
    """The time that the run waited for has passed."""

    answers: int
    at: float = 0.0
    cost: Cost = FREE
    kind: Literal["timer_fired"] = "timer_fired"


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """The events so far were saved, before a long wait."""

    answers: int
    at: float = 0.0
    cost: Cost = FREE
    kind: Literal["recorded"] = "recorded"


@dataclass(frozen=True, kw_only=True)
class Postponed:
    """The command was not started because the database could not be reached. Nothing was spent or sent.

    Only fleets of version 0.1 wrote it: a driver waits for the database itself.
    """

    answers: int
    at: float = 0.0
    detail: str = ""
    cost: Cost = FREE
    kind: Literal["postponed"] = "postponed"


@dataclass(frozen=True, kw_only=True)
class Finished:
    """The result was stored and the world closed."""

    answers: int
    at: float = 0.0
    verified: bool = False
    """Whether the result is verified."""
    contradiction: str = ""
    """What contradicts that the task is done, if anything does; the run ends as `contradicted`."""
    cost: Cost = FREE
    kind: Literal["finished"] = "finished"


Answer: TypeAlias = (
    WorldOpened
    | Observed
    | Planned
    | Advised
    | Acted
    | Verified
    | TryPlanned
    | ClosenessJudged
    | RevertPlanned
    | DoneChecked
    | PersonAsked
    | TimerFired
    | Recorded
    | Postponed
    | Finished
)

Accounted: TypeAlias = Observed | Planned | Advised | Acted | Verified | TryPlanned | ClosenessJudged | DoneChecked
"""Answers that report their cost by role."""

# --- control: arrives from outside, at any time


@dataclass(frozen=True, kw_only=True)
class Started:
    """The run was started."""

    at: float = 0.0
    kind: Literal["started"] = "started"


@dataclass(frozen=True, kw_only=True)
class Resumed:
    """A process drives the run again after a crash or stop. `world` says whether the session was kept or opened again."""

    at: float = 0.0
    world: Literal["kept", "reopened"] = "kept"
    kind: Literal["resumed"] = "resumed"


@dataclass(frozen=True, kw_only=True)
class ApprovalDecided:
    """A person's answer to a question."""

    question: int
    at: float = 0.0
    verdict: Verdict
    once: bool = True
    guidance: str = ""
    by: str = ""
    by_id: str = ""
    shown: tuple[str, ...] = ()
    """The digests of what the person saw. An approval covers exactly that; without digests nothing is approved."""
    changes: tuple[Change, ...] = ()
    more: Annotated[Cost | None, stored_if_set()] = None
    """What the person saw that the run would spend beyond its ceiling. A yes allows exactly that."""
    kind: Literal["approval_decided"] = "approval_decided"


@dataclass(frozen=True, kw_only=True)
class PauseAsked:
    """A user asked to pause the run."""

    at: float = 0.0
    kind: Literal["pause_asked"] = "pause_asked"


@dataclass(frozen=True, kw_only=True)
class ResumeAsked:
    """A user asked to resume the run."""

    at: float = 0.0
    kind: Literal["resume_asked"] = "resume_asked"


@dataclass(frozen=True, kw_only=True)
class CancelAsked:
    """A user asked to cancel the run."""

    at: float = 0.0
    kind: Literal["cancel_asked"] = "cancel_asked"


@dataclass(frozen=True, kw_only=True)
class Guided:
    """Guidance from a person for the next plan. It does not trigger one."""

    text: str
    at: float = 0.0
    kind: Literal["guided"] = "guided"


@dataclass(frozen=True, kw_only=True)
class TakenOver:
    """A person has taken over the world of the paused run. The run does not change; it observes the world when it is resumed."""

    by: str
    did: tuple[str, ...] = ()
    """What the person did and sent since the last such event, in words, without the text that was typed."""
    by_id: str = ""
    at: float = 0.0
    kind: Literal["taken_over"] = "taken_over"


Control: TypeAlias = Started | Resumed | ApprovalDecided | PauseAsked | ResumeAsked | CancelAsked | Guided | TakenOver

Event: TypeAlias = Annotated[Answer | Control, Discriminator("kind")]
