"""The plain replan loop, as an agent framework's tutorial would have it: plan, execute, on failure plan again.

It is given the same world and the same planner as Midcourse. It trusts what the world reports, remembers failed attempts and
not what it finished, has no idea of an unknown outcome, and refuses no plan.
"""

from dataclasses import dataclass, replace

from midcourse.domain.failure import FailedStep
from midcourse.domain.observation import Observation
from midcourse.domain.plan import GLOBAL, REPLAN, Draft, Target
from midcourse.domain.task import Task
from midcourse.perform.ports import Ports
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.ports.world import Call


@dataclass(frozen=True, kw_only=True)
class LoopResult:
    success: bool
    reason: str
    planner_calls: int
    looks: int
    executions: int


async def plain_replan_loop(ports: Ports, *, max_replans: int, max_calls: int) -> LoopResult:
    """`max_replans` bounds replans after failures; `max_calls` the planner's calls and looks at transitions."""
    task = ports.task
    attempts: list[FailedStep] = []
    calls = looks = executions = replans = 0
    await ports.world.open()
    while True:
        seen = await ports.world.observe()
        if not isinstance(seen, Observation):
            return LoopResult(success=False, reason="unseen", planner_calls=calls, looks=looks, executions=executions)
        if calls + looks >= max_calls:
            return LoopResult(success=False, reason="calls", planner_calls=calls, looks=looks, executions=executions)
        calls += 1
        draft = await ports.planner.plan(_context(task, seen, ports, attempts))
        if draft.verdict == "done":
            return LoopResult(success=True, reason="done", planner_calls=calls, looks=looks, executions=executions)
        if not draft.steps:
            return LoopResult(
                success=False, reason=draft.verdict, planner_calls=calls, looks=looks, executions=executions
            )
        failed, done, ended = await _execute(ports, draft, seen)
        executions += done
        if failed is None and not ended:
            looks += 1
            continue
        if failed is None:
            return LoopResult(success=True, reason="plan", planner_calls=calls, looks=looks, executions=executions)
        attempts.append(failed)
        if replans >= max_replans:
            return LoopResult(success=False, reason="replans", planner_calls=calls, looks=looks, executions=executions)
        replans += 1


def _context(task: Task, seen: Observation, ports: Ports, attempts: list[FailedStep]) -> PlanningContext:
    catalogue = ports.world.catalogue()
    return PlanningContext(task=task, observation=seen, catalogue=catalogue, attempts=tuple(attempts))


async def _execute(ports: Ports, draft: PlanDraft, seen: Observation) -> tuple[FailedStep | None, int, bool]:
    """The first failure if any, how many steps were tried, and whether the plan was the last."""
    for number, step in enumerate(draft.steps):
        if step.zone == REPLAN:
            return None, number, False
        arguments = ports.fill_in(step.arguments)
        assert not isinstance(arguments, str)
        target = _target(step, seen)
        call = Call(command=1_000_000 + id(step) % 1_000_000, skill=step.skill, zone=step.zone, target=target)
        outcome = await ports.world.act(replace(call, arguments=arguments))
        if outcome.status != "ok":
            failed = FailedStep(
                version=0,
                index=number,
                skill=step.skill,
                target=target.label,
                arguments=step.arguments,
                reason=outcome.reason,
                detail=outcome.detail,
                says=step.says,
            )
            return failed, number + 1, False
    return None, len(draft.steps), True


def _target(step: Draft, seen: Observation) -> Target:
    zone = None if step.zone == GLOBAL else seen.zone(step.zone)
    return Target(surface=seen.surface.title, role=zone.role if zone else "", label=zone.label if zone else "")
