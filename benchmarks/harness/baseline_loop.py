"""The baseline: a plain replan loop as in tutorials of agent frameworks. Plan, execute, on failure plan again.

It is given the same world and the same planner as Midcourse. It trusts what the world reports, remembers failed attempts and
not what it finished, has no idea of an unknown outcome, and refuses no plan.
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

    def ended(self, reason: str, *, success: bool = False) -> "Tally":
        self.reason, self.success = reason, success
        return self


async def plain_replan_loop(ports: Ports, *, max_replans: int, max_calls: int) -> Tally:
    """`max_replans` bounds replans after failures; `max_calls` the planner's calls and looks at transitions."""
    tally = Tally()
    attempts: list[FailedStep] = []
    failures = 0
    await ports.world.open()
    while failures <= max_replans:
        seen = await ports.world.observe()
        if not isinstance(seen, Observation):
            return tally.ended("unseen")
        if tally.planner_calls + tally.looks >= max_calls:
            return tally.ended("calls")
        tally.planner_calls += 1
        try:
            draft = await ports.planner.plan(_context(ports.task, seen, ports, attempts))
        except ConnectionError:
            failures += 1
            continue
        if not draft.steps:
            return tally.ended(draft.verdict, success=draft.verdict == "done")
        failed, tried, ended = await _execute(ports, draft, seen)
        tally.executions += tried
        if failed is not None:
            attempts.append(failed)
            failures += 1
        elif ended:
            return tally.ended("plan", success=True)
        else:
            tally.looks += 1
    return tally.ended("replans")


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


def _target(step: Draft, seen: Observation) -> Target:
    zone = None if step.zone == GLOBAL else seen.zone(step.zone)
    return Target(surface=seen.surface.title, role=zone.role if zone else "", label=zone.label if zone else "")
