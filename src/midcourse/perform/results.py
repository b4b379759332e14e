"""What earlier steps brought back, for the steps that need it; and whether a step brought back what it was to."""

from midcourse.domain.argument import Reference
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import Step
from midcourse.domain.replace import replace
from midcourse.perform.history import history_of
from midcourse.perform.ports import Ports


async def with_results(ports: Ports, step: Step) -> Step | Outcome:
    """The step with the results it refers to in their place, or the failure that one of them is missing."""
    if not step.needs:
        return step
    found = dict((await history_of(ports, ())).data)
    if missing := [name for name in step.needs if name not in found]:
        detail = f"it needs {', '.join(map(repr, missing))}, which no step has brought back"
        return Outcome(status="failed", reason="missing_dependency", detail=detail)
    arguments = tuple(
        (name, found[value.name] if isinstance(value, Reference) and value.source == "result" else value)
        for name, value in step.arguments
    )
    return replace(step, arguments=arguments)


def as_promised(step: Step, outcome: Outcome) -> Outcome:
    """A step that was to bring something back and did not has failed, unless it cannot be undone: that it was done counts more."""
    brought = {name for name, _ in outcome.data}
    missing = [name for name in step.gives if name not in brought]
    if outcome.status != "ok" or not missing or step.effect == "irreversible":
        return outcome
    detail = f"it was to bring back {', '.join(map(repr, missing))}, and did not"
    return replace(outcome, status="failed", reason="missing_result", detail=detail)
