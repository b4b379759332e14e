"""What has been done and tried so far, from the plan store and the ledger: what planners and results are told."""

from dataclasses import dataclass

from midcourse.domain.approval import Told
from midcourse.domain.argument import Pairs, Scalar
from midcourse.domain.completed import CompletedStep
from midcourse.domain.failure import FailedStep
from midcourse.domain.ledger import LedgerEntry
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import PlanVersion, Step
from midcourse.ports.store import Store

NO_ANSWER = Outcome(status="unknown", reason="lost", detail="nobody knows what came of it")


@dataclass(frozen=True, kw_only=True)
class History:
    completed: tuple[CompletedStep, ...]
    """Steps that were done, and irreversible ones that may have been."""
    attempts: tuple[FailedStep, ...]
    data: Pairs
    plans: tuple[PlanVersion, ...] = ()


async def history_of(store: Store, run_id: str, told: tuple[Told, ...]) -> History:
    """`told` is what people said of tries that nothing else could decide, in the order of these tries."""
    versions = await store.plans(run_id)
    plans = {plan.version: plan for plan in versions}
    asides = {plan.version for plan in versions if plan.cause == "detour"}
    words = list(told)
    completed: list[CompletedStep] = []
    attempts: list[FailedStep] = []
    data: dict[str, Scalar] = {}
    for entry in await store.ledger(run_id):
        if entry.version in asides:
            continue  # tried out on the way: what of it counts is to be seen
        step = plans[entry.version].steps[entry.index]
        outcome = _final_outcome(entry, words)
        if outcome.status == "ok":
            data.update(outcome.data)
            completed.append(_completed(step, entry, doubtful=False))
        elif outcome.status == "unknown" and _irreversible(step, entry):
            completed.append(_completed(step, entry, doubtful=True))
        else:
            attempts.append(_failed(step, outcome))
    return History(completed=tuple(completed), attempts=tuple(attempts), data=tuple(data.items()), plans=versions)


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
