"""MakePlan without a planner: the plan under way, with what a person wants otherwise in it."""

from midcourse.domain.argument import Arguments, Pairs, Reference
from midcourse.domain.plan import REPLAN, Amendment, PlanVersion, Step
from midcourse.domain.replace import replace
from midcourse.policy.approval.destination import find_unvouched
from midcourse.policy.approval.rules import planned_consequence, provisional_ruling
from midcourse.policy.identity import call_digest
from midcourse.policy.plan.horizon import Scope, arguments_problem


def amended(plan: PlanVersion, amendment: Amendment, version: int, view: Scope) -> tuple[Step, ...] | str:
    """The steps that are left of it, changed; or why the change cannot be made."""
    changes = {changed.index: changed.arguments for changed in amendment.changes}
    steps: list[Step] = []
    for step in plan.steps[amendment.cursor :]:
        changed = _changed(step, changes.get(step.index, ()), view)
        if isinstance(changed, str):
            return f"{step.skill} cannot be changed like that: {changed}"
        steps.append(replace(changed, version=version, index=len(steps)))
    return tuple(steps)


def _changed(step: Step, changes: Pairs, view: Scope) -> Step | str:
    skill = view.catalogue.skill(step.skill)
    if step.zone == REPLAN or not changes or skill is None:
        return step
    given = dict(step.arguments)
    for name, _ in changes:
        before = given.get(name)
        if isinstance(before, Reference) and before.source == "secret":
            return f"'{name}' is a secret"
    arguments: Arguments = tuple((given | dict(changes)).items())
    problem = arguments_problem(arguments, skill.parameters, view.task)
    if problem:
        return problem
    step = replace(
        step,
        arguments=arguments,
        call=call_digest(step.skill, step.target, arguments),
        asks=bool(find_unvouched(arguments, skill.parameters, view.task)),
    )
    return replace(
        step, ruled=provisional_ruling(view.task, planned_consequence(step, view.observation.surface.origin))
    )
