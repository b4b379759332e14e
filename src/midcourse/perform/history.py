"""The history of a run, from its plans and ledger: completed steps, failed attempts and results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from midcourse.domain.approval import OutcomeAnswer
from midcourse.domain.argument import Pairs, Scalar
from midcourse.domain.failure import FailedStep, Failure
from midcourse.domain.outcome import UNASKED, CompletedStep, Outcome
from midcourse.domain.plan import PlanVersion, Step
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.ports.store import Store

NO_ANSWER = Outcome(status="unknown", reason="lost", detail="the answer was lost")

TriedStep: TypeAlias = CompletedStep | FailedStep


@dataclass(frozen=True, kw_only=True)
class History:
    completed: tuple[CompletedStep, ...]
    """Steps that were done, and irreversible steps that may have been done."""
    attempts: tuple[FailedStep, ...]
    data: Pairs
    plans: tuple[PlanVersion, ...] = ()


class HistoryCache:
    """The plans and the ledger of one run, as far as this process has read them.

    A run of thousands of steps reads and decodes each record once: only the latest plan and the latest ledger entry can still
    change, so everything from these on is read again, and nothing before. A deferred check decides an earlier entry, and has
    it read again (`forget_entries`). A process that takes a run over starts with an empty one and reads everything once.
    """

    def __init__(self) -> None:
        self._plans: dict[int, PlanVersion] = {}
        self._entries: list[LedgerEntry] = []
        self._tried: dict[int, TriedStep | None] = {}
        self._partial = _PartialHistory()

    @property
    def plans(self) -> Mapping[int, PlanVersion]:
        """Plans by version, in order."""
        return self._plans

    @property
    def entries(self) -> Sequence[LedgerEntry]:
        """Ledger entries, oldest command first."""
        return self._entries

    async def refresh(self, store: Store, run_id: str) -> "HistoryCache":
        latest = next(reversed(self._plans), 0)
        last = self._entries[-1].command if self._entries else 0
        plans = await store.plans(run_id, latest)
        entries = await store.ledger(run_id, last)
        # What is about to be read again goes, including what another asyncio task has read in the meantime.
        while self._plans and next(reversed(self._plans)) >= latest:
            self._plans.popitem()
        self.forget_entries(last)
        self._plans.update((plan.version, plan) for plan in plans)
        self._entries += entries
        return self

    def forget_entries(self, command: int) -> None:
        """Drop the ledger entries from this command on, so that the next refresh reads them again."""
        while self._entries and self._entries[-1].command >= command:
            self._tried.pop(self._entries.pop().command, None)
        if self._partial.count > len(self._entries):
            self._partial = _PartialHistory()

    def history(self, outcome_answers: tuple[OutcomeAnswer, ...]) -> History:
        """The history, where `outcome_answers` holds people's answers about tries, in the order of the tries."""
        answers = list(outcome_answers)
        partial = self._fold_settled({answer.command for answer in outcome_answers if answer.command})
        for entry in self._entries[partial.count :]:
            outcome = _final_outcome(entry, answers)
            partial.add(self._find_tried_step(entry, outcome), outcome.data)
        return History(
            completed=tuple(partial.completed),
            attempts=tuple(partial.attempts),
            data=tuple(partial.data.items()),
            plans=tuple(self._plans.values()),
        )

    def outcomes(self, outcome_answers: tuple[OutcomeAnswer, ...]) -> list[tuple[LedgerEntry, Outcome]]:
        """Every entry with its outcome, where `outcome_answers` is as for `history`."""
        answers = list(outcome_answers)
        return [(entry, _final_outcome(entry, answers)) for entry in self._entries]

    def _fold_settled(self, answered: set[int]) -> "_PartialHistory":
        """A copy of the history up to the first entry that is undecided or that a person has answered about (`answered`)."""
        if any(entry.command in answered for entry in self._entries[: self._partial.count]):
            self._partial = _PartialHistory()
        partial = self._partial
        for entry in self._entries[partial.count : -1]:
            if entry.outcome is None or entry.outcome.status == "unknown" or entry.command in answered:
                break
            partial.add(self._find_tried_step(entry, entry.outcome), entry.outcome.data)
        return partial.copy()

    def _find_tried_step(self, entry: LedgerEntry, outcome: Outcome) -> TriedStep | None:
        """The step of this entry, cached unless a person's answer decided its outcome."""
        if outcome is not (entry.outcome or NO_ANSWER):
            return _build_tried_step(self._plans[entry.version], entry, outcome)
        if entry.command not in self._tried:
            self._tried[entry.command] = _build_tried_step(self._plans[entry.version], entry, outcome)
        return self._tried[entry.command]


def find_failed_step(failure: Failure, history: History) -> FailedStep | None:
    """The latest try of the step that failed, if it was a step."""
    tries = (
        attempt
        for attempt in reversed(history.attempts)
        if (attempt.version, attempt.index) == (failure.version, failure.index)
    )
    return next(tries, None)


class _PartialHistory:
    """The history up to some ledger entry."""

    def __init__(self) -> None:
        self.count = 0
        self.completed: list[CompletedStep] = []
        self.attempts: list[FailedStep] = []
        self.data: dict[str, Scalar] = {}

    def copy(self) -> "_PartialHistory":
        copied = _PartialHistory()
        copied.count = self.count
        copied.completed, copied.attempts, copied.data = [*self.completed], [*self.attempts], {**self.data}
        return copied

    def add(self, tried: TriedStep | None, data: Pairs) -> None:
        self.count += 1
        match tried:
            case CompletedStep():
                self.completed.append(tried)
                self.data.update(() if tried.doubtful else data)
            case FailedStep():
                self.attempts.append(tried)
            case None:
                pass


def _build_tried_step(plan: PlanVersion, entry: LedgerEntry, outcome: Outcome) -> TriedStep | None:
    """The step of a ledger entry. None for a step of a detour: its effect shows on the screen."""
    if plan.cause == "detour":
        return None
    step = plan.steps[entry.index]
    if outcome.status == "ok":
        return _build_completed_step(step, entry, doubtful=False)
    if outcome.status == "unknown" and outcome.reason not in UNASKED and _is_irreversible(step, entry):
        return _build_completed_step(step, entry, doubtful=True)
    return FailedStep(
        version=step.version,
        index=step.index,
        skill=step.skill,
        target=step.target.label,
        arguments=step.arguments,
        reason=outcome.reason,
        detail=outcome.detail,
        says=step.says,
    )


def _final_outcome(entry: LedgerEntry, answers: list[OutcomeAnswer]) -> Outcome:
    """What a person answered about this try, otherwise the outcome in the ledger.

    An answer that names no command is about the first unknown try of its step that no other answer is about.
    """
    outcome = entry.outcome or NO_ANSWER
    known = (entry.version, entry.index, 0) if outcome.status == "unknown" else None
    answer = next(
        (a for a in answers if a.command == entry.command or (a.version, a.index, a.command) == known),
        None,
    )
    if answer is None:
        return outcome
    answers.remove(answer)
    if answer.happened:
        return Outcome(status="ok", evidence="person")
    return Outcome(status="no_effect", reason="no_effect", detail="a person says that it did not happen")


def _is_irreversible(step: Step, entry: LedgerEntry) -> bool:
    """Whether it is irreversible by its skill, or was found to be when tried: only such an act has an identity."""
    return step.effect == "irreversible" or bool(entry.identity)


def _build_completed_step(step: Step, entry: LedgerEntry, *, doubtful: bool) -> CompletedStep:
    return CompletedStep(
        version=step.version,
        index=step.index,
        skill=step.skill,
        target=step.target.label,
        says=step.says,
        arguments=step.arguments,
        irreversible=_is_irreversible(step, entry),
        doubtful=doubtful,
    )
