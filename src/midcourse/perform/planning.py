"""The `MakePlan` command: load the context, get steps proposed, resolve them against the screen, save the plan."""

from collections.abc import Iterator
from typing import Any, cast

from midcourse.codec import replace_surrogates
from midcourse.domain.argument import Arguments, OutputValue, Pairs, Reference, Scalar
from midcourse.domain.budget import FREE, bill
from midcourse.domain.commands import MakePlan
from midcourse.domain.events import Planned
from midcourse.domain.failure import Failure
from midcourse.domain.observation import Observation
from midcourse.domain.plan import REPLAN, Amendment, Draft, PlannedStep, PlanVersion, Step
from midcourse.domain.reflection import MOST_KEPT, ReplanningContext
from midcourse.domain.replace import replace
from midcourse.domain.skill import READ_MORE, Catalogue
from midcourse.perform.advising import load_proposed
from midcourse.perform.answering import NoAnswer, request_answer
from midcourse.perform.consequence import read_consequence
from midcourse.perform.history import History, drop_settled, find_failed_step
from midcourse.perform.learning import learn, recall_lessons
from midcourse.perform.looking import as_png, read_stored
from midcourse.perform.ports import Deadline, Ports
from midcourse.perform.proposal import Planning, Proposal
from midcourse.perform.reuse import reuse
from midcourse.policy.approval.rules import binds, planned_consequence, provisional_ruling
from midcourse.policy.arguments import SHORTEST_TELLING, find_argument_problem, find_unvouched, list_links
from midcourse.policy.failure.reflection import explain_failure
from midcourse.policy.identity import call_digest
from midcourse.policy.output import LONGEST_ANSWER, find_output_problem
from midcourse.policy.plan.horizon import Resolved, Scope, build_planned_step, find_group, resolve
from midcourse.policy.spending import worst_plan
from midcourse.ports.abilities import offers
from midcourse.ports.planner import Given, PlanDraft, PlanningContext, Remembering, Seeing
from midcourse.redact import Redactor

LONGEST_RESULT = 300
"""Characters of a result that are stored with a plan after a failure."""


async def make_plan(ports: Ports, command: MakePlan) -> Planned:
    planning = await _load_planning(ports, command)
    if planning is None:
        return Planned(answers=command.id, verdict="transport", detail="the observation to plan from is gone")
    proposal = await _propose(planning)
    planning = replace(planning, scope=await _recall_links(planning, proposal.draft))
    resolved = _resolve(planning, proposal)
    planned = await _build_planned(planning, proposal, resolved)
    if isinstance(resolved, Resolved):
        await ports.store.save_plan(ports.run_id, _build_version(planning, proposal, resolved))
    return planned


# --- context


async def _load_planning(ports: Ports, command: MakePlan) -> Planning | None:
    time = Deadline(ports.clock, command.timeout)
    observation = await ports.store.observation(ports.run_id, command.seen)
    if observation is None:
        return None
    history = await ports.load_history(command.outcome_answers)
    scope = Scope(
        task=ports.task,
        observation=replace(observation, stale=command.stale),
        catalogue=_add_own_skills(ports.world.catalogue(), history),
        beyond=command.beyond,
        detours=ports.detours,
    )
    planning = Planning(ports=ports, command=command, time=time, scope=scope, history=history)
    if command.failure is None:
        return planning
    return replace(planning, recovery=await _build_recovery_context(planning, command.failure))


def _add_own_skills(catalogue: Catalogue, history: History) -> Catalogue:
    """The world's skills, and `read_more` where there is something to read."""
    if not history.readings or catalogue.skill(READ_MORE.name):
        return catalogue
    return replace(catalogue, skills=(*catalogue.skills, READ_MORE))


async def _build_recovery_context(planning: Planning, failure: Failure) -> ReplanningContext:
    """Build the context of a failure: its explanation by an adviser or else by rules, and lessons of earlier runs.

    What this failure teaches is stored.
    """
    ports, history = planning.ports, planning.history
    failed = find_failed_step(failure, history)
    reminded = await recall_lessons(ports, failure.found.error_type)
    reflection = planning.command.reflection or explain_failure(failure, failed, history.attempts)
    cause = reflection.analysis.root_cause
    await learn(
        ports,
        point=reminded.point,
        category=failure.found.category,
        error_type=failure.found.error_type,
        root_cause=cause,
        cause_by=reflection.by,
    )
    return ReplanningContext(
        failure=failure,
        analysis=reflection.analysis,
        fix=reflection.fix,
        by=reflection.by,
        similar=reminded.similar,
        failed=failed,
        results=tuple((name, _abridge(value)) for name, value in history.data),
        completed=history.completed[-MOST_KEPT:],
        attempts=history.attempts[-MOST_KEPT:],
    )


def _abridge(value: Scalar) -> Scalar:
    """A result as it is stored with each plan after a failure. The ledger has it whole, once."""
    long = isinstance(value, str) and len(value) > LONGEST_RESULT
    return f"{value[:LONGEST_RESULT]}… ({len(value)} characters)" if long else value


# --- proposal


async def _propose(planning: Planning) -> Proposal:
    # A person's changes come before anything else, and what worked before costs no model call.
    return await _amend(planning) or await reuse(planning) or await _ask_planner(planning)


async def _amend(planning: Planning) -> Proposal | None:
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
        call=call_digest(step.skill, step.target, arguments, within=find_group(view.observation.zone(step.zone))),
        asks=bool(find_unvouched(arguments, skill.parameters, view.task, view.observation)),
    )
    return replace(
        step, ruled=provisional_ruling(view.task, planned_consequence(step, view.observation.surface.origin), skill)
    )


async def _ask_planner(planning: Planning) -> Proposal:
    """The planner's draft. A late answer counts as transport, and one that is not a draft as garbage."""
    ports, command, history = planning.ports, planning.command, planning.history
    observation = planning.scope.observation
    worst = worst_plan(ports.task.limits)
    earlier = await _load_earlier_screens(ports, observation, history.plans)
    picture = b""
    if offers(ports.planner, Seeing) and ports.planner.sees and observation.screenshot:
        picture = await as_png(await read_stored(ports, observation.screenshot))
    context = PlanningContext(
        task=ports.public_task,
        observation=observation,
        catalogue=planning.scope.catalogue,
        completed=history.completed,
        attempts=drop_settled(history, observation),
        results=tuple((dict(history.data) | dict(history.results)).items()),
        readings=history.readings,
        version=command.version,
        cause=command.cause,
        why=ports.mask_text(command.why),
        now=ports.clock.now(),
        refused=ports.mask_text(command.refused),
        recovery=planning.recovery,
        guidance=ports.mask_all(command.guidance),
        repairs=history.plans[-1].repairs if history.plans else (),
        earlier=tuple(seen for _, seen in earlier),
        planned=tuple(version for version, _ in earlier),
        left=command.left,
        worst=worst,
        turn=command.turn,
        wrap_up=command.wrap_up,
        beyond=command.beyond,
        picture=picture,
        detours=planning.scope.detours,
        outline=command.outline,
        advice=command.advice,
        note=ports.mask_text(command.note),
        objected=await load_proposed(ports, command.parent or command.version - 1, command.objected)
        if command.objected
        else (),
    )
    answer = await request_answer(ports.planner.plan, context, PlanDraft, planning.time.left())
    if isinstance(answer, NoAnswer):
        answer = PlanDraft(verdict=answer.verdict, detail=answer.detail, cost=answer.cost(worst))
    return Proposal(draft=answer)


async def _load_earlier_screens(
    ports: Ports, now: Observation, plans: tuple[PlanVersion, ...]
) -> tuple[tuple[int, Observation], ...]:
    """The screens that earlier plans on this surface were made from, oldest first, each with its first plan."""
    if not offers(ports.planner, Remembering) or not ports.planner.remembers:
        return ()
    first: dict[str, int] = {}
    for plan in plans:
        if plan.steps and plan.steps[0].target.surface == now.surface.title and plan.observation != now.id:
            first.setdefault(plan.observation, plan.version)
    found = [(version, await ports.store.observation(ports.run_id, seen)) for seen, version in first.items()]
    return tuple((version, seen) for version, seen in found if seen is not None)


# --- resolution and storage


async def _recall_links(planning: Planning, draft: PlanDraft) -> Scope:
    """The scope with the links that earlier plans of this run were shown, if a step names an address that would be asked about.

    A link that holds what the run has entered does not count: its page may have put it there. What the run navigated to is no such
    value, since the server of that address knows it.
    """
    ports, scope, history = planning.ports, planning.scope, planning.history

    def asks(each: Draft) -> bool:
        skill = scope.catalogue.skill(each.skill)
        return skill is not None and bool(
            find_unvouched(each.arguments, skill.parameters, scope.task, scope.observation)
        )

    if draft.verdict != "steps" or not any(map(asks, draft.steps)):
        return scope
    ids = dict.fromkeys(plan.observation for plan in history.plans)
    screens = [await ports.store.observation(ports.run_id, seen) for seen in ids]
    links = list_links([seen for seen in screens if seen], scope.observation.surface.origin)
    longest = max(map(len, links), default=0)
    entered = {text for text in _list_entered(planning) if SHORTEST_TELLING <= len(text) <= longest}
    holds_entered = Redactor(((text, text) for text in entered), on_screen=True)
    return replace(scope, listed=frozenset(url for url in links if holds_entered(url) == url))


def _list_entered(planning: Planning) -> Iterator[str]:
    """The values that the run's plans have given to the world, without secrets, which observations do not show."""
    scope, history = planning.scope, planning.history
    known = {"input": dict(scope.task.inputs), "result": dict(history.data) | dict(history.results)}
    for step in (step for plan in history.plans for step in plan.steps if step.effect != "read"):
        skill = scope.catalogue.skill(step.skill)
        destinations = {parameter.name for parameter in skill.parameters if parameter.destination} if skill else ()
        for name, value in step.arguments:
            if isinstance(value, Reference):
                value = known.get(value.source, {}).get(value.name)
            if name not in destinations and value is not None and not isinstance(value, bool):
                yield str(value)


def _resolve(planning: Planning, proposal: Proposal) -> Resolved | str | None:
    """The resolved plan, or why the steps are not one; None if the answer has no steps."""
    draft = proposal.draft
    if draft.verdict != "steps":
        return None
    if proposal.resolved is not None:
        return proposal.resolved
    resolved = resolve(draft.steps, draft.final, planning.command.version, planning.scope)
    resolved = replace(resolved, repairs=draft.repairs + resolved.repairs)
    if draft.steps and not resolved.steps:
        why = "; ".join(resolved.repairs)[:1000]
        return f"none of its steps can be carried out: {why}" if why else "nothing is to be done before __replan__"
    if resolved.unproven and _may_ask_again(planning):
        return f"{resolved.unproven}. Expect what is visible only if it worked, or give none"
    return resolved


def _may_ask_again(planning: Planning) -> bool:
    """Whether a plan without evidence for a step that cannot be undone is worth a call: once, and not at the end of the budget."""
    ports, command = planning.ports, planning.command
    given = offers(ports.planner, Given) and ports.planner.given
    after_garbage = command.failure is not None and command.failure.reason == "planner_garbage"
    worst = worst_plan(ports.task.limits)
    affordable = worst.plus(worst).plus(worst).within(command.left)  # this plan, the next, and one after it
    return affordable and not (given or command.refused or command.wrap_up or after_garbage)


def _build_version(planning: Planning, proposal: Proposal, resolved: Resolved) -> PlanVersion:
    command = planning.command
    return PlanVersion(
        version=command.version,
        parent=command.parent or command.version - 1 or None,
        cause=command.cause,
        why=command.why,
        observation=proposal.observation or command.seen,
        final=resolved.final,
        steps=resolved.steps,
        repairs=resolved.repairs,
        made_by=command.id,
        reused=proposal.reused,
        context=planning.recovery,
    )


async def _build_planned(planning: Planning, proposal: Proposal, resolved: Resolved | str | None) -> Planned:
    ports, command, draft = planning.ports, planning.command, proposal.draft
    answer = Planned(
        answers=command.id,
        detail=draft.detail,
        cost=draft.cost,
        spent=bill("planner", draft.cost, command.version, draft.model),
        reused=proposal.reused is not None,
        answer=ports.mask_text(replace_surrogates(draft.answer))[:LONGEST_ANSWER],
        data=tuple(
            _cite(ports, each, planning.scope.observation) for each in cast(tuple[OutputValue, ...], draft.data)
        ),
        note=ports.mask_text(draft.note),
    )
    if resolved is None:
        mismatch = await _check_output(planning, answer.data, draft) if draft.verdict == "done" else ""
        return replace(answer, verdict=draft.verdict, wait=draft.wait, **_drop_misfits(planning, answer.data, mismatch))
    if isinstance(resolved, str):
        return replace(answer, verdict="garbage", detail=resolved)
    steps = await _shorten_steps(planning.ports, resolved.steps, planning.scope, planning.time)
    answer = replace(answer, steps=steps, final=resolved.final, repairs=len(resolved.repairs))
    if not resolved.final:
        answer = replace(answer, answer="")  # what these steps do not finish is answered later
    return replace(answer, **_drop_misfits(planning, answer.data, await _check_output(planning, answer.data, draft)))


def _cite(ports: Ports, given: OutputValue, seen: Observation) -> OutputValue:
    """The value with its source in words that are still understood when the zone's id is not."""
    zone = seen.zone(given.source)
    source = f'{zone.role} "{zone.label[:80]}" on "{seen.surface.title}"' if zone else given.source[:200]
    ((name, value),) = ports.mask(((given.name, given.value),))
    return OutputValue(name=name, value=value, source=ports.mask_text(replace_surrogates(source)))


async def _check_output(planning: Planning, data: tuple[OutputValue, ...], draft: PlanDraft) -> str:
    """Say how the answer does not fit the task's output. What is missing matters only at the end, and where the planner gives data."""
    fields = planning.ports.task.output
    if not fields or not (data or draft.answer):
        return ""
    run, _ = await planning.ports.store.load(planning.ports.run_id)
    have = {name for name, _ in planning.history.data} | {each.name for each in run.given}
    return find_output_problem(data, fields, have, complete=draft.verdict == "done")


def _drop_misfits(planning: Planning, data: tuple[OutputValue, ...], mismatch: str) -> dict[str, Any]:
    fields = planning.ports.task.output
    fitting = tuple(each for each in data if not (fields and find_output_problem((each,), fields, (), complete=False)))
    return {"data": fitting, "mismatch": mismatch[:2000]}


async def _shorten_steps(ports: Ports, steps: tuple[Step, ...], view: Scope, time: Deadline) -> tuple[PlannedStep, ...]:
    """Short forms of the steps, with identity and consequence where no earlier step can change them."""
    short: list[PlannedStep] = []
    untouched = True
    for step in steps:
        skill = view.catalogue.skill(step.skill)
        found = None
        if binds(step) and skill and not step.needs and (untouched or skill.commits == "call"):
            found = await read_consequence(ports, step, skill, view.observation, time)
        short.append(build_planned_step(replace(step, ruled=found.ruled)) if found else build_planned_step(step))
        if found:
            short[-1] = replace(
                short[-1],
                identity=found.identity,
                consequence=found.digest,
                covers=found.covers,
                likeness=found.likeness.digest if found.likeness else "",
                alike=found.alike,
            )
        untouched = untouched and step.effect == "read"
    return tuple(short)
