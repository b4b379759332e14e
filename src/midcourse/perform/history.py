"""What has been done and tried so far, from the plan store and the ledger: what planners and results are told."""

from dataclasses import dataclass

from midcourse.domain.approval import Told
from midcourse.domain.argument import Pairs, Scalar
from midcourse.domain.failure import FailedStep
from midcourse.domain.ledger import LedgerEntry
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import Step
from midcourse.domain.result import CompletedStep
from midcourse.ports.store import Store

NO_ANSWER = Outcome(status="unknown", reason="lost", detail="nobody knows what came of it")


@dataclass(frozen=True, kw_only=True)
class History:
    completed: tuple[CompletedStep, ...]
    """Steps that were done, and irreversible ones that may have been."""
    attempts: tuple[FailedStep, ...]
    data: Pairs


async def history_of(store: Store, run_id: str, told: tuple[Told, ...]) -> History:
    """`told` is what people said of steps that nothing else could decide; it counts more than the ledger."""
    plans = {plan.version: plan for plan in await store.plans(run_id)}
    words = {(word.version, word.index): word.happened for word in told}
    completed: list[CompletedStep] = []
    attempts: list[FailedStep] = []
    data: dict[str, Scalar] = {}
    for entry in await store.ledger(run_id):
        step = plans[entry.version].steps[entry.index]
        outcome = _final_outcome(entry, words.get((entry.version, entry.index)))
        if outcome.status == "ok":
            data.update(outcome.data)
            completed.append(_completed(step, doubtful=False))
        elif outcome.status == "unknown" and step.effect == "irreversible":
            completed.append(_completed(step, doubtful=True))
        else:
            attempts.append(_failed(step, outcome))
    return History(completed=tuple(completed), attempts=tuple(attempts), data=tuple(data.items()))


def _final_outcome(entry: LedgerEntry, happened: bool | None) -> Outcome:
    outcome = entry.outcome or NO_ANSWER
    if outcome.status != "unknown" or happened is None:
        return outcome
    return Outcome(status="ok", evidence="person") if happened else Outcome(status="no_effect", reason="no_effect")


def _completed(step: Step, *, doubtful: bool) -> CompletedStep:
    return CompletedStep(
        version=step.version,
        index=step.index,
        skill=step.skill,
        target=step.target.label,
        says=step.says,
        irreversible=step.effect == "irreversible",
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
