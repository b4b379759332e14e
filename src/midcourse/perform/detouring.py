"""The commands of a detour, except acting: `PlanTry`, `JudgeCloseness` and `PlanRevert`."""

from midcourse.domain.budget import bill
from midcourse.domain.commands import JudgeCloseness, PlanRevert, PlanTry
from midcourse.domain.detour import REACHED_CLOSENESS, Goal, Option, Tried
from midcourse.domain.events import ClosenessJudged, RevertPlanned, TryPlanned
from midcourse.domain.observation import Observation
from midcourse.domain.plan import REACH, REPLAN, Draft, PlannedStep, PlanVersion, Step
from midcourse.domain.replace import replace
from midcourse.perform.acting import load_step
from midcourse.perform.answering import NoAnswer, request_answer
from midcourse.perform.ports import Deadline, Ports
from midcourse.policy.approval.rules import binds
from midcourse.policy.detour.choice import find_arrival, goal_of, is_checkable
from midcourse.policy.detour.closeness import clamp_closeness
from midcourse.policy.detour.undo import ActContext, find_ways_back
from midcourse.policy.plan.horizon import Scope, build_planned_step, resolve
from midcourse.policy.spending import worst_plan
from midcourse.ports.closeness import Closeness, JudgingContext
from midcourse.ports.detour import DetourContext, PastTry, TryDraft

MOST_OPTIONS = 5
LONGEST_NAME, LONGEST_HINT = 60, 200
"""The number of characters that are kept of a model's text, since it becomes part of the run's state."""


# --- a try


async def plan_try(ports: Ports, command: PlanTry) -> TryPlanned:
    time = Deadline(ports.clock, command.timeout)
    seen = await ports.store.observation(ports.run_id, command.seen)
    if seen is None:
        return TryPlanned(answers=command.id, verdict="transport", detail="the observation to plan from is gone")
    draft = await _ask_detour_planner(ports, command, seen, time)
    answer = TryPlanned(
        answers=command.id,
        verdict=draft.verdict,
        detail=draft.detail,
        wait=draft.wait,
        cost=draft.cost,
        spent=bill("detour_planner", draft.cost, command.version, draft.model),
    )
    if draft.verdict != "try" or draft.step is None:
        return replace(answer, verdict="garbage") if draft.verdict == "try" else answer
    step = _resolve_draft(ports, draft.step, command.version, seen)
    if isinstance(step, str):
        return replace(answer, verdict="refused", detail=step)
    options = tuple(
        Option(name=option.name[:LONGEST_NAME], says=option.says[:LONGEST_HINT])
        for option in draft.options[:MOST_OPTIONS]
    )
    short = await _save_step(ports, step, command, f"{command.label}: {'back' if command.undo else 'a try'}")
    return replace(answer, step=short, options=options)


async def _ask_detour_planner(ports: Ports, command: PlanTry, seen: Observation, time: Deadline) -> TryDraft:
    """The detour planner's draft. A late answer counts as transport, and one that is not a draft as garbage."""
    worst = worst_plan(ports.task.limits)
    if ports.detour_planner is None:
        return TryDraft(verdict="gave_up", detail="there is no detour planner")
    context = await _build_context(ports, command, seen)
    answer = await request_answer(ports.detour_planner.plan_try, context, TryDraft, time.left())
    if isinstance(answer, NoAnswer):
        return TryDraft(verdict=answer.verdict, detail=answer.detail, cost=answer.cost(worst))
    return answer


async def _build_context(ports: Ports, command: PlanTry, seen: Observation) -> DetourContext:
    tries = [await _load_past_try(ports, tried) for tried in command.tries]
    undo = next((past for past, tried in zip(tries, command.tries, strict=True) if tried.version == command.undo), None)
    return DetourContext(
        task=ports.public_task,
        goal=await _load_goal(ports, command.goal),
        observation=seen,
        catalogue=ports.world.catalogue(),
        label=command.label,
        closeness=command.closeness,
        tries=tuple(tries),
        hint=command.hint,
        undo=undo if command.undo else None,
        refused=ports.mask_text(command.refused),
        guidance=ports.mask_all(command.guidance),
        left=command.left,
        worst=worst_plan(ports.task.limits),
        turn=command.turn,
    )


async def _load_past_try(ports: Ports, tried: Tried) -> PastTry:
    return PastTry(
        label=tried.label,
        step=await load_step(ports, tried.version, 0) if tried.version else None,
        before=tried.before,
        after=tried.after,
        closeness_before=tried.closeness_before,
        closeness_after=tried.closeness_after,
        failed=tried.failed,
        choice=tried.choice,
        reverted=tried.reverted,
    )


async def _load_goal(ports: Ports, step: tuple[int, int]) -> Goal:
    return goal_of(await load_step(ports, *step))


def _resolve_draft(ports: Ports, draft: Draft, version: int, seen: Observation) -> Step | str:
    """Resolve the draft to a step, or say why it must not be tried."""
    view = Scope(task=ports.task, observation=seen, catalogue=ports.world.catalogue())
    resolved = resolve((draft,), True, version, view)
    if not resolved.steps:
        return "; ".join(resolved.repairs) or f"{draft.zone} cannot be acted on"
    step = resolved.steps[0]
    if binds(step):
        return f"{step.skill} may leave something behind: nothing of the kind is tried out"
    return step


async def _save_step(ports: Ports, step: Step, command: PlanTry | PlanRevert, why: str) -> PlannedStep:
    """Save the step as a plan of two steps: the act and the observation after it."""
    look = Step(version=step.version, index=1, zone=REPLAN, target=step.target, says="Look at the result")
    await ports.store.save_plan(
        ports.run_id,
        PlanVersion(
            version=command.version,
            parent=command.goal[0] if isinstance(command, PlanTry) else command.undo,
            cause="detour",
            why=why,
            observation=command.seen,
            final=False,
            steps=(step, look),
            made_by=command.id,
        ),
    )
    return build_planned_step(step)


# --- closeness


async def judge_closeness(ports: Ports, command: JudgeCloseness) -> ClosenessJudged:
    """Judge how close the screen is to the goal. The judge is asked only if it cannot be looked up."""
    time = Deadline(ports.clock, command.timeout)
    seen = await ports.store.observation(ports.run_id, command.seen)
    if seen is None:
        return ClosenessJudged(answers=command.id, verdict="transport", detail="the observation to judge is gone")
    goal = await _load_goal(ports, command.goal)
    if found := find_arrival(goal, seen):
        return ClosenessJudged(answers=command.id, closeness=REACHED_CLOSENESS, found=found, detail=goal.says)
    worst = worst_plan(ports.task.limits)
    context = JudgingContext(task=ports.public_task, goal=goal, observation=seen, worst=worst, turn=command.turn)
    judged = await request_answer(ports.closeness_judge.judge, context, Closeness, time.left())
    if isinstance(judged, NoAnswer):
        return ClosenessJudged(
            answers=command.id, verdict=judged.verdict, detail=judged.detail, cost=judged.cost(worst)
        )
    answer = ClosenessJudged(
        answers=command.id,
        detail=judged.detail,
        cost=judged.cost,
        spent=bill("closeness_judge", judged.cost, command.goal[0], judged.model),
    )
    if judged.value is None:
        return replace(answer, verdict="garbage" if judged.wait is None else "transport", wait=judged.wait)
    value = clamp_closeness(judged.value, checkable=is_checkable(goal))
    return replace(answer, closeness=value, found=REACH if value >= REACHED_CLOSENESS else "")


# --- reverting


async def plan_revert(ports: Ports, command: PlanRevert) -> RevertPlanned:
    """Plan the first way back that has not been tried and is possible on this screen."""
    step = await load_step(ports, command.undo, 0)
    before = await ports.store.observation(ports.run_id, command.before)
    now = await ports.store.observation(ports.run_id, command.seen)
    if before is None or now is None:
        return RevertPlanned(answers=command.id, detail="what was seen is gone")
    for way in find_ways_back(ActContext(step=step, before=before, now=now, catalogue=ports.world.catalogue())):
        back = _resolve_draft(ports, way.draft, command.version, now)
        if way.strategy not in command.tried and isinstance(back, Step):
            short = await _save_step(ports, back, command, f"{command.label}: back, {way.strategy}")
            return RevertPlanned(answers=command.id, strategy=way.strategy, step=short)
    return RevertPlanned(answers=command.id, detail="there is no other way back")
