"""A worker that was given up and goes on after all: what it writes is on record before anybody looks, or never."""

from dataclasses import replace
from datetime import timedelta
from typing import cast as cast_to

import pytest
from temporalio.testing import ActivityEnvironment

from midcourse.domain.command import Verify
from midcourse.domain.event import Acted
from midcourse.domain.outcome import Outcome
from midcourse.errors import RunBusy
from midcourse.perform import Ports
from midcourse.ports.store import Happened
from midcourse.ports.world import World
from midcourse.runtimes.temporal.activities import Activities
from midcourse.runtimes.temporal.wire import Work, workflow_id
from midcourse.testing.conformance.store_samples import ENTRY, PLAN
from tests.runtimes.fleet import Fleet, order

HARMLESS = replace(PLAN, steps=(replace(PLAN.steps[0], effect="set_state"),))
DONE = replace(ENTRY, command=4, outcome=Outcome())
LOST = Happened(seq=5, event=Acted(answers=4, at=1.0, status="unknown", reason="lost"))


class Barring:
    """A world in which the act in doubt ends at the very moment at which it is barred."""

    def __init__(self, world: World, fleet: Fleet, run_id: str) -> None:
        self._world = world
        self._fleet = fleet
        self._run_id = run_id

    def __getattr__(self, name: str) -> object:
        return getattr(self._world, name)

    async def bar(self, command: int) -> None:
        with pytest.raises(RunBusy):
            await record(self._fleet, self._run_id)


async def record(fleet: Fleet, run_id: str) -> None:
    """As the worker does that performed the act."""
    batch = fleet.store.batch(run_id, 5, 1)
    await batch.write_ledger(run_id, DONE)
    await batch.flush()


async def verified(fleet: Fleet, run_id: str, world: World) -> str:
    async def ports_for(run_id: str) -> Ports:
        return replace(await fleet.ports_for(run_id), world=world)

    activities = Activities(store=fleet.store, ports_for=ports_for, name="this", most_sessions=1)
    environment = ActivityEnvironment()
    environment.info = replace(
        environment.info,
        workflow_id=workflow_id(fleet.tenant, run_id),
        heartbeat_timeout=timedelta(seconds=60),
    )
    command = Verify(id=5, timeout=10.0, version=1, index=0, doubted=4)
    done = await environment.run(activities.perform, Work(command=command, seq=6, rows=(LOST,)))
    return getattr(done.event, "verdict", "")


@pytest.mark.parametrize("in_time", [True, False])
async def test_what_an_act_came_to_is_known_or_never_recorded(fleet: Fleet, in_time: bool) -> None:
    cast = order()
    run = fleet.enter(cast)
    await fleet.store.begin(run, cast.task)
    await fleet.store.save_plan(run.id, HARMLESS)
    await fleet.store.save_session(run.id, await cast.world.open())
    if in_time:
        await record(fleet, run.id)
    barring = cast_to(World, Barring(cast.world, fleet, run.id))
    assert await verified(fleet, run.id, barring) == ("happened" if in_time else "undecided")
    assert (await fleet.store.ledger_entry(run.id, 4) is not None) == in_time
