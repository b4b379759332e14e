"""The history of a run, from its plans and ledger: completed steps, failed attempts and results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from midcourse.domain.approval import Told
from midcourse.domain.argument import Pairs, Scalar
from midcourse.domain.failure import FailedStep, Failure
from midcourse.domain.outcome import CompletedStep, Outcome
from midcourse.domain.plan import PlanVersion, Step
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.ports.store import Store

if TYPE_CHECKING:
    from midcourse.perform.ports import Ports

NO_ANSWER = Outcome(status="unknown", reason="lost", detail="the answer was lost")

Tried: TypeAlias = CompletedStep | FailedStep


@dataclass(frozen=True, kw_only=True)
class History:
    completed: tuple[CompletedStep, ...]
    """Steps that were done, and irreversible ones that may have been."""
    attempts: tuple[FailedStep, ...]
    data: Pairs
    plans: tuple[PlanVersion, ...] = ()


class Past:
    """The plans and the ledger of one run, as far as this process has read them.

    A run of thousands of steps reads and decodes each record once: only the latest plan and the latest ledger entry can still
    change, so everything from these on is read again, and nothing before. A process that takes a run over starts with an
    empty one and reads everything once.
    """

    def __init__(self) -> None:
        self._plans: dict[int, PlanVersion] = {}
        self._entries: list[LedgerEntry] = []
        self._tried: dict[int, Tried | None] = {}
        self._folded = _Folded()

    @property
    def plans(self) -> Mapping[int, PlanVersion]:
        """By version, in order."""
        return self._plans

    @property
    def entries(self) -> Sequence[LedgerEntry]:
        """Oldest command first."""
        return self._entries

    async def refresh(self, store: Store, run_id: str) -> "Past":
        latest = next(reversed(self._plans), 0)
        last = self._entries[-1].command if self._entries else 0
        plans = await store.plans(run_id, latest)
        entries = await store.ledger(run_id, last)
        self._forget(latest, last)
        self._plans.update((plan.version, plan) for plan in plans)
        self._entries += entries
        return self

    def history(self, told: tuple[Told, ...]) -> History:
        """`told` is what people said of tries that nothing else could decide, in the order of these tries."""
        folded, words = self._fold_settled(), list(told)
        for entry in self._entries[folded.count :]:
            outcome = _final_outcome(entry, words)
            folded.add(self._tried_by(entry, outcome), outcome.data)
        return History(
            completed=tuple(folded.completed),
            attempts=tuple(folded.attempts),
            data=tuple(folded.data.items()),
            plans=tuple(self._plans.values()),
        )

    def _fold_settled(self) -> "_Folded":
        """A copy of what the entries up to the first open one come to, which no later word can change."""
        folded = self._folded
        for entry in self._entries[folded.count : -1]:
            if entry.outcome is None or entry.outcome.status == "unknown":
                break
            folded.add(self._tried_by(entry, entry.outcome), entry.outcome.data)
        return folded.copy()

    def _tried_by(self, entry: LedgerEntry, outcome: Outcome) -> Tried | None:
        """Made once for each entry, unless a person's word decides it."""
        if outcome is not (entry.outcome or NO_ANSWER):
            return _tried(self._plans[entry.version], entry, outcome)
        if entry.command not in self._tried:
            self._tried[entry.command] = _tried(self._plans[entry.version], entry, outcome)
        return self._tried[entry.command]

    def _forget(self, version: int, command: int) -> None:
        """Drop what is about to be read again, including what another task in this process has read meanwhile."""
        while self._plans and next(reversed(self._plans)) >= version:
            self._plans.popitem()
        while self._entries and self._entries[-1].command >= command:
            self._tried.pop(self._entries.pop().command, None)
        if self._folded.count > len(self._entries):
            self._folded = _Folded()


async def past_of(ports: "Ports") -> Past:
    """All plans and ledger entries of the run, up to date."""
    return await ports.past.refresh(ports.store, ports.run_id)


async def history_of(ports: "Ports", told: tuple[Told, ...]) -> History:
    """`told` is what people said of tries that nothing else could decide, in the order of these tries."""
    return (await past_of(ports)).history(told)


def failed_step(failure: Failure, history: History) -> FailedStep | None:
    """The latest try of the step that failed, if it was a step."""
    tries = (one for one in reversed(history.attempts) if (one.version, one.index) == (failure.version, failure.index))
    return next(tries, None)


class _Folded:
    """The history up to some ledger entry."""

    def __init__(self) -> None:
        self.count = 0
        self.completed: list[CompletedStep] = []
        self.attempts: list[FailedStep] = []
        self.data: dict[str, Scalar] = {}

    def copy(self) -> "_Folded":
        copied = _Folded()
        copied.count = self.count
        copied.completed, copied.attempts, copied.data = [*self.completed], [*self.attempts], {**self.data}
        return copied

    def add(self, tried: Tried | None, data: Pairs) -> None:
        self.count += 1
        match tried:
            case CompletedStep():
                self.completed.append(tried)
                self.data.update(() if tried.doubtful else data)
            case FailedStep():
                self.attempts.append(tried)
            case None:
                pass


def _tried(plan: PlanVersion, entry: LedgerEntry, outcome: Outcome) -> Tried | None:
    """What a ledger entry says of its step. Nothing of a step of a detour: what of it counts is to be seen."""
    if plan.cause == "detour":
        return None
    step = plan.steps[entry.index]
    if outcome.status == "ok":
        return _completed(step, entry, doubtful=False)
    if outcome.status == "unknown" and _irreversible(step, entry):
        return _completed(step, entry, doubtful=True)
    return _failed(step, outcome)


def _final_outcome(entry: LedgerEntry, words: list[Told]) -> Outcome:
    """What the ledger has, or else the first word on this step that no earlier try has taken."""
    outcome = entry.outcome or NO_ANSWER
    word = next((word for word in words if (word.version, word.index) == (entry.version, entry.index)), None)
    if outcome.status != "unknown" or word is None:
        return outcome
    words.remove(word)
    if word.happened:
        return Outcome(status="ok", evidence="person")
    return Outcome(status="no_effect", reason="no_effect", detail="a person says that it did not happen")


def _irreversible(step: Step, entry: LedgerEntry) -> bool:
    """By its skill, or because that showed when it was tried: only such an act has an identity."""
    return step.effect == "irreversible" or bool(entry.identity)


def _completed(step: Step, entry: LedgerEntry, *, doubtful: bool) -> CompletedStep:
    return CompletedStep(
        version=step.version,
        index=step.index,
        skill=step.skill,
        target=step.target.label,
        says=step.says,
        arguments=step.arguments,
        irreversible=_irreversible(step, entry),
        doubtful=doubtful,
    )


def _failed(step: Step, outcome: Outcome) -> FailedStep:
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
