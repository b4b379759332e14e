"""A fixed plan, as recorded from one successful run: controls by their names, and what is
expected after the steps that matter. Nothing is planned again.
"""

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


async def follow(ports: Ports, script: Sequence[Step], *, retries: int) -> Tally:
    """To the first step that fails, `retries` repetitions included."""
    tally = Tally(planner_calls=1)
    await ports.world.open()
    for step in script:
        outcome = await _carry_out(ports, step)
        tally.executions += 1
        for _ in range(retries):
            if outcome.status == "ok":
                break
            await ports.clock.sleep(PAUSE)
            outcome = await _carry_out(ports, step, again=True)
            tally.executions += 1
        if outcome.status != "ok":
            return tally.end(outcome.reason)
    return tally.end("plan", success=True)


async def _carry_out(ports: Ports, step: Step, *, again: bool = False) -> Outcome:
    """If it is repeated and its control has disappeared, go back to its page."""
    seen = await ports.world.observe()
    zone = _zone(step, seen)
    if zone is None and again:
        await _act(ports, replace(step, skill="go_back", zone=GLOBAL, arguments=()), GLOBAL)
        seen = await ports.world.observe()
        zone = _zone(step, seen)
    if zone is None:
        return Outcome(status="unreachable", reason="target_not_visible")
    outcome = await _act(ports, step, zone)
    if outcome.status != "ok" or step.expect is None:
        return outcome
    after = await ports.world.observe()
    before = seen.fingerprint if isinstance(seen, Observation) else None
    if isinstance(after, Observation) and holds(step.expect, after, before):
        return outcome
    return Outcome(status="failed", reason="expectation_unmet")


def _zone(step: Step, seen: object) -> str | None:
    """The id of what is called so now. Several may be: the one in the same place is the first."""
    if step.zone == GLOBAL:
        return GLOBAL
    zones: Iterable[Zone] = seen.zones if isinstance(seen, Observation) else ()
    return next((zone.id for zone in zones if (zone.role, zone.label) == (step.target.role, step.target.label)), None)


async def _act(ports: Ports, step: Step, zone: str) -> Outcome:
    arguments = ports.fill_in(step.arguments)
    assert not isinstance(arguments, str), arguments
    target = Target(surface="", role=step.target.role, label=step.target.label)
    return await ports.world.act(Call(command=0, skill=step.skill, zone=zone, target=target, arguments=arguments))
