"""A planner that undoes one act of an earlier run, if its effect is still there."""

from midcourse.containment import Contained
from midcourse.domain.argument import Pairs, Reference, Scalar
from midcourse.domain.expectation import Probe
from midcourse.domain.observation import Observation
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.domain.task import Task
from midcourse.policy.inverse import Inverse
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.ports.world import REVERSED, Finding, World

GONE = "its effect is not there any more: nothing is left to undo"


class InversePlanner:
    """Plans the inverse as one step, unless a probe finds nothing to undo, or it was carried out before.

    Probes are asked when the step is planned, not earlier: acts that came later, and are undone first, may hide the effect.
    """

    given = True

    def __init__(self, inverse: Inverse, world: World) -> None:
        self._inverse = inverse
        self._world = world

    async def plan(self, context: PlanningContext) -> PlanDraft:
        if context.completed:
            return _conclude(context)
        finding = await self._ask(self._inverse.effect, context.task)
        if finding == "absent" or await self._ask(self._inverse.undone, context.task) == "present":
            return PlanDraft(verdict="done", detail=GONE)
        if finding != "present" and self._inverse.act.happened == "perhaps":
            return PlanDraft(verdict="impossible", detail="it may have happened, and its probe cannot tell")
        zone = self._find_zone(context.observation)
        if not zone:
            target = self._inverse.act.step.target
            return PlanDraft(verdict="impossible", detail=f"{target.role} '{target.label}' is not on the screen")
        return PlanDraft(steps=[self._draft(zone)])

    def _draft(self, zone: str) -> Draft:
        inverse = self._inverse
        return Draft(
            zone=zone,
            skill=inverse.skill.name,
            arguments=inverse.arguments,
            probe=inverse.undone,
            says=f"{inverse.skill.name}, to undo '{inverse.act.step.says or inverse.act.step.skill}'",
        )

    async def _ask(self, probe: Probe | None, task: Task) -> Finding:
        arguments = _without_references(probe, task) if probe else None
        if probe is None or arguments is None:
            return "unclear"
        try:
            async with Contained():
                finding = await self._world.probe(probe.name, arguments)
        except Exception:  # worlds may raise anything; without a finding, the ledger says whether the act happened
            return "unclear"
        return REVERSED.get(finding, finding) if probe.negated else finding

    def _find_zone(self, seen: Observation) -> str:
        """The zone to act on: the one with the role and label that the act had. Empty if it is not visible."""
        if not self._inverse.skill.on_zone:
            return GLOBAL
        target = self._inverse.act.step.target
        same = (zone.id for zone in seen.zones if (zone.role, zone.label) == (target.role, target.label))
        return next(same, "")


def _conclude(context: PlanningContext) -> PlanDraft:
    """End the run after the only step was carried out, as done or, if that step failed, as impossible."""
    if any(step.doubtful for step in context.completed):
        return PlanDraft(verdict="impossible", detail="it may have been undone, and nothing can decide it")
    if context.cause == "error":
        return PlanDraft(verdict="impossible", detail=context.why)
    return PlanDraft(verdict="done")


def _without_references(probe: Probe, task: Task) -> Pairs | None:
    """Fill the task's inputs into the arguments. None if one is a secret or a file, which a planner does not have."""
    inputs, filled = dict(task.inputs), dict[str, Scalar]()
    for name, value in probe.arguments:
        if not isinstance(value, Reference):
            filled[name] = value
        elif value.source == "input" and value.name in inputs:
            filled[name] = inputs[value.name]
        else:
            return None
    return tuple(filled.items())
