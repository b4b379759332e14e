"""The baseline: a plain replan loop as in tutorials of agent frameworks. Plan, execute, on failure plan again.

It has the same world and the same planner as Midcourse. It trusts what the world reports, remembers failed attempts but not finished
steps, does not know unknown outcomes, and refuses no plan.
"""

from dataclasses import dataclass

from midcourse.domain.failure import FailedStep
from midcourse.domain.observation import Observation
from midcourse.domain.plan import GLOBAL, REPLAN, Draft, Target
from midcourse.domain.task import Task
from midcourse.perform.ports import Ports
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.ports.world import Call


@dataclass
class Tally:
    success: bool = False
    reason: str = ""
    planner_calls: int = 0
    looks: int = 0
    executions: int = 0

    def end(self, reason: str, *, success: bool = False) -> "Tally":
        self.reason, self.success = reason, success
        return self


async def run_plain_replan_loop(ports: Ports, *, max_replans: int, max_calls: int) -> Tally:
    """Run the loop. `max_replans` limits replans after failures; `max_calls` limits planner calls plus looks at transitions."""
    tally = Tally()
    attempts: list[FailedStep] = []
    failures = 0
    await ports.world.open()
    while failures <= max_replans:
        observation = await ports.world.observe()
        if not isinstance(observation, Observation):
            return tally.end("unseen")
        if tally.planner_calls + tally.looks >= max_calls:
            return tally.end("calls")
        tally.planner_calls += 1
        try:
            draft = await ports.planner.plan(_make_context(ports.task, observation, ports, attempts))
        except ConnectionError:
            failures += 1
            continue
        if not draft.steps:
            return tally.end(draft.verdict, success=draft.verdict == "done")
        failed, tried, is_last = await _execute(ports, draft, observation)
        tally.executions += tried
        if failed is not None:
            attempts.append(failed)
            failures += 1
        elif is_last:
            return tally.end("plan", success=True)
        else:
            tally.looks += 1
    return tally.end("replans")


def _make_context(task: Task, observation: Observation, ports: Ports, attempts: list[FailedStep]) -> PlanningContext:
    catalogue = ports.world.catalogue()
    return PlanningContext(task=task, observation=observation, catalogue=catalogue, attempts=tuple(attempts))


async def _execute(ports: Ports, draft: PlanDraft, observation: Observation) -> tuple[FailedStep | None, int, bool]:
    """Execute a plan. Return the first failure if any, the number of tried steps, and whether the plan was the last."""
    for number, step in enumerate(draft.steps):
        if step.zone == REPLAN:
            return None, number, False
        arguments = ports.fill_in(step.arguments)
        assert not isinstance(arguments, str)
        target = _find_target(step, observation)
        call = Call(command=0, skill=step.skill, zone=step.zone, target=target, arguments=arguments)
        outcome = await ports.world.act(call)
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


def _find_target(step: Draft, observation: Observation) -> Target:
    zone = None if step.zone == GLOBAL else observation.zone(step.zone)
    return Target(surface=observation.surface.title, role=zone.role if zone else "", label=zone.label if zone else "")
