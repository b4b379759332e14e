"""MakePlan: tell the planner all that is known, take its draft apart, keep what can be carried out."""

from midcourse.domain.budget import bill
from midcourse.domain.command import MakePlan
from midcourse.domain.event import Planned
from midcourse.domain.observation import Observation
from midcourse.domain.plan import Amendment, PlannedStep, PlanVersion, Reused, Step
from midcourse.domain.reflection import ReplanningContext
from midcourse.domain.replace import replace
from midcourse.perform.amendments import amended
from midcourse.perform.answering import NoAnswer, answer_of
from midcourse.perform.consequence import Foreseen, consequence_of
from midcourse.perform.history import History, history_of
from midcourse.perform.ports import Allowance, Ports
from midcourse.perform.reflecting import replanning_context
from midcourse.perform.reuse import offered
from midcourse.policy.approval.check import binds
from midcourse.policy.plan.horizon import Resolved, Scope, resolve, short_form
from midcourse.policy.spending import worst_plan
from midcourse.ports.planner import PlanDraft, PlanningContext, Remembering


async def make_plan(ports: Ports, command: MakePlan) -> Planned:
    time = Allowance(ports.clock, command.timeout)
    view = await _view(ports, command)
    if view is None:
        return Planned(answers=command.id, verdict="transport", detail="the observation to plan from is gone")
    if command.amends:
        return await _amend(ports, command, command.amends, view, time)
    history = await history_of(ports, command.told)
    recovery = (
        await replanning_context(ports, command.failure, history, command.reflection) if command.failure else None
    )
    offer = await offered(ports, command, view, history)
    draft = offer.draft if offer else await _ask(ports, command, view, history, recovery, time)
    planned, resolved = await _planned(ports, command, draft, view, time)
    if resolved is not None:
        version = _version(command, resolved, offer.reused if offer else None, recovery)
        await ports.store.save_plan(ports.run_id, version)
    spent = bill("planner", draft.cost, command.version, draft.model)
    return replace(planned, cost=draft.cost, spent=spent, reused=offer is not None)


async def _amend(ports: Ports, command: MakePlan, amendment: Amendment, view: Scope, time: Allowance) -> Planned:
    """What a person changed in the plan under way. It was made from what that was made from."""
    plan = await ports.store.plan(ports.run_id, amendment.version, amendment.made_by)
    assert plan is not None, f"plan version {amendment.version} was adopted and must be stored"
    steps = amended(plan, amendment, command.version, view)
    if isinstance(steps, str):
        return Planned(answers=command.id, verdict="refused", detail=steps)
    resolved = Resolved(steps=steps, final=plan.final, repairs=())
    version = replace(_version(command, resolved, None, None), observation=plan.observation)
    await ports.store.save_plan(ports.run_id, version)
    return Planned(
        answers=command.id, steps=await _short_forms(ports, steps, view, time), final=plan.final, detail=command.why
    )


async def _planned(
    ports: Ports, command: MakePlan, draft: PlanDraft, view: Scope, time: Allowance
) -> tuple[Planned, Resolved | None]:
    """What the draft comes to, and the plan if it is one. What it cost is not in it."""
    if draft.verdict != "steps":
        return Planned(answers=command.id, verdict=draft.verdict, detail=draft.detail, wait=draft.wait), None
    resolved = resolve(draft.steps, draft.final, command.version, view)
    resolved = replace(resolved, repairs=draft.repairs + resolved.repairs)
    if draft.steps and not resolved.steps:
        detail = "; ".join(resolved.repairs) or "nothing is to be done before __replan__"
        return Planned(answers=command.id, verdict="garbage", detail=detail[:1000]), None
    planned = Planned(
        answers=command.id,
        steps=await _short_forms(ports, resolved.steps, view, time),
        final=resolved.final,
        repairs=len(resolved.repairs),
        detail=draft.detail,
    )
    return planned, resolved


async def _view(ports: Ports, command: MakePlan) -> Scope | None:
    observation = await ports.store.observation(ports.run_id, command.seen)
    if observation is None:
        return None
    seen = replace(observation, stale=command.stale)
    return Scope(
        task=ports.task,
        observation=seen,
        catalogue=ports.world.catalogue(),
        beyond=command.beyond,
        detours=ports.detours,
    )


async def _ask(
    ports: Ports,
    command: MakePlan,
    view: Scope,
    history: History,
    recovery: ReplanningContext | None,
    time: Allowance,
) -> PlanDraft:
    """The planner's answer, whatever it does: late is transport, and what is no draft is garbage."""
    worst = worst_plan(ports.task.limits)
    earlier = await _earlier(ports, view.observation, history.plans)
    context = PlanningContext(
        task=ports.public_task,
        observation=view.observation,
        catalogue=view.catalogue,
        completed=history.completed,
        attempts=history.attempts,
        results=history.data,
        version=command.version,
        cause=command.cause,
        why=ports.mask_text(command.why),
        refused=ports.mask_text(command.refused),
        recovery=recovery,
        guidance=ports.mask_all(command.guidance),
        mended=history.plans[-1].repairs if history.plans else (),
        earlier=tuple(seen for _, seen in earlier),
        planned=tuple(version for version, _ in earlier),
        left=command.left,
        worst=worst,
        turn=command.turn,
        wrap_up=command.wrap_up,
        beyond=command.beyond,
        detours=view.detours,
        outline=command.outline,
        advice=command.advice,
    )
    answer = await answer_of(ports.planner.plan, context, PlanDraft, time.left())
    if isinstance(answer, NoAnswer):
        return PlanDraft(verdict=answer.verdict, detail=answer.detail, cost=answer.cost(worst))
    return answer


async def _earlier(
    ports: Ports, now: Observation, plans: tuple[PlanVersion, ...]
) -> tuple[tuple[int, Observation], ...]:
    """What plans were made from on this surface, oldest first, each once and with the first of these plans."""
    if not isinstance(ports.planner, Remembering) or not ports.planner.remembers:
        return ()
    first: dict[str, int] = {}
    for plan in plans:
        if plan.steps and plan.steps[0].target.surface == now.surface.title and plan.observation != now.id:
            first.setdefault(plan.observation, plan.version)
    found = [(version, await ports.store.observation(ports.run_id, seen)) for seen, version in first.items()]
    return tuple((version, seen) for version, seen in found if seen is not None)


def _version(
    command: MakePlan, resolved: Resolved, reused: Reused | None, recovery: ReplanningContext | None
) -> PlanVersion:
    return PlanVersion(
        version=command.version,
        parent=command.parent or command.version - 1 or None,
        cause=command.cause,
        why=command.why,
        observation=command.seen,
        final=resolved.final,
        steps=resolved.steps,
        repairs=resolved.repairs,
        made_by=command.id,
        reused=reused,
        context=recovery,
    )


async def _short_forms(ports: Ports, steps: tuple[Step, ...], view: Scope, time: Allowance) -> tuple[PlannedStep, ...]:
    """With identity and consequence where they are known already: nothing before the step can change them."""
    short: list[PlannedStep] = []
    untouched = True
    for step in steps:
        skill = view.catalogue.skill(step.skill)
        found = None
        if binds(step) and skill and not step.needs and (untouched or skill.commits == "call"):
            found = await consequence_of(ports, step, skill, view.observation.surface.origin, time)
        known = replace(step, ruled=found.ruled) if found else step
        short.append(_with_consequence(short_form(known), found) if found else short_form(known))
        untouched = untouched and step.effect == "read"
    return tuple(short)


def _with_consequence(short: PlannedStep, found: Foreseen) -> PlannedStep:
    return replace(
        short,
        identity=found.identity,
        consequence=found.digest,
        likeness=found.likeness.digest if found.likeness else "",
        alike=found.alike,
    )
