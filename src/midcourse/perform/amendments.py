"""Amendments: the current plan with arguments that a person changed, without asking the planner."""

from midcourse.domain.argument import Arguments, Pairs, Reference
from midcourse.domain.budget import FREE
from midcourse.domain.plan import REPLAN, Amendment, PlanVersion, Step
from midcourse.domain.replace import replace
from midcourse.perform.proposal import Planning, Proposal
from midcourse.policy.approval.rules import planned_consequence, provisional_ruling
from midcourse.policy.arguments import find_argument_problem, find_unvouched
from midcourse.policy.identity import call_digest
from midcourse.policy.plan.horizon import Resolved, Scope
from midcourse.ports.planner import PlanDraft


async def amend(planning: Planning) -> Proposal | None:
    """Propose the amended plan. It keeps the observation of the plan that it changes, since no new one was made."""
    ports, command, amendment = planning.ports, planning.command, planning.command.amends
    if amendment is None:
        return None
    plan = await ports.store.plan(ports.run_id, amendment.version, amendment.made_by)
    assert plan is not None, f"plan version {amendment.version} was adopted and must be stored"
    steps = _amend_steps(plan, amendment, command.version, planning.scope)
    if isinstance(steps, str):
        return Proposal(draft=PlanDraft(verdict="refused", detail=steps, cost=FREE))
    return Proposal(
        draft=PlanDraft(detail=command.why, cost=FREE),
        resolved=Resolved(steps=steps, final=plan.final, repairs=()),
        observation=plan.observation,
    )


def _amend_steps(plan: PlanVersion, amendment: Amendment, version: int, view: Scope) -> tuple[Step, ...] | str:
    """The remaining steps, changed; or why the change cannot be made."""
    changes = {changed.index: changed.arguments for changed in amendment.changes}
    steps: list[Step] = []
    for step in plan.steps[amendment.cursor :]:
        changed = _change_step(step, changes.get(step.index, ()), view)
        if isinstance(changed, str):
            return f"{step.skill} cannot be changed like that: {changed}"
        steps.append(replace(changed, version=version, index=len(steps)))
    return tuple(steps)


def _change_step(step: Step, changes: Pairs, view: Scope) -> Step | str:
    skill = view.catalogue.skill(step.skill)
    if step.zone == REPLAN or not changes or skill is None:
        return step
    merged = dict(step.arguments)
    for name, _ in changes:
        before = merged.get(name)
        if isinstance(before, Reference) and before.source == "secret":
            return f"'{name}' is a secret"
    arguments: Arguments = tuple((merged | dict(changes)).items())
    problem = find_argument_problem(arguments, skill.parameters, view.task)
    if problem:
        return problem
    step = replace(
        step,
        arguments=arguments,
        call=call_digest(step.skill, step.target, arguments),
        asks=bool(find_unvouched(arguments, skill.parameters, view.task)),
    )
    return replace(
        step, ruled=provisional_ruling(view.task, planned_consequence(step, view.observation.surface.origin), skill)
    )
