"""Follows a fixed plan, recorded from one successful run: controls by name, with the expectations of the steps. Never plans again."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from benchmarks.harness.baseline_loop import Tally
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import GLOBAL, Step, Target
from midcourse.perform.ports import Ports
from midcourse.policy.evidence.verification import holds
from midcourse.ports.world import Call

PAUSE = 0.5
"""Seconds before a step is repeated."""


async def follow_script(ports: Ports, script: Sequence[Step], *, retries: int) -> Tally:
    """Execute the script until a step fails more than `retries` times."""
    tally = Tally(planner_calls=1)
    await ports.world.open()
    for step in script:
        outcome = await _execute(ports, step)
        tally.executions += 1
        for _ in range(retries):
            if outcome.status == "ok":
                break
            await ports.clock.sleep(PAUSE)
            outcome = await _execute(ports, step, again=True)
            tally.executions += 1
        if outcome.status != "ok":
            return tally.end(outcome.reason)
    return tally.end("plan", success=True)


async def _execute(ports: Ports, step: Step, *, again: bool = False) -> Outcome:
    """Execute a step. If it is a repetition and its control has disappeared, go back to its page first."""
    observation = await ports.world.observe()
    zone = _find_zone(step, observation)
    if zone is None and again:
        await _act(ports, replace(step, skill="go_back", zone=GLOBAL, arguments=()), GLOBAL)
        observation = await ports.world.observe()
        zone = _find_zone(step, observation)
    if zone is None:
        return Outcome(status="unreachable", reason="target_not_visible")
    outcome = await _act(ports, step, zone)
    if outcome.status != "ok" or step.expect is None:
        return outcome
    after = await ports.world.observe()
    before = observation.fingerprint if isinstance(observation, Observation) else None
    if isinstance(after, Observation) and holds(step.expect, after, before):
        return outcome
    return Outcome(status="failed", reason="expectation_unmet")


def _find_zone(step: Step, observation: object) -> str | None:
    """Return the id of the first zone with the role and label of the step's target."""
    if step.zone == GLOBAL:
        return GLOBAL
    zones: Iterable[Zone] = observation.zones if isinstance(observation, Observation) else ()
    return next((zone.id for zone in zones if (zone.role, zone.label) == (step.target.role, step.target.label)), None)


async def _act(ports: Ports, step: Step, zone: str) -> Outcome:
    arguments = ports.fill_in(step.arguments)
    assert not isinstance(arguments, str), arguments
    target = Target(surface="", role=step.target.role, label=step.target.label)
    return await ports.world.act(Call(command=0, skill=step.skill, zone=zone, target=target, arguments=arguments))
