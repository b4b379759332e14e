"""On Temporal, too, a run reuses the segments of an earlier one with its own inputs."""

import pytest

from midcourse.agent.wiring import build_planner, load_job, with_inputs
from midcourse.domain.argument import Pairs
from midcourse.store.postgres import PostgresStore
from midcourse.worlds.simulated import Erp
from tests.harness import Safe
from tests.runtimes.fleet import Cast, Fleet, effects
from tests.scenarios.stage import keep_session

pytestmark = pytest.mark.slow

OTHER: Pairs = (
    ("supplier", "Quay Tools"),
    ("number", "INV-2002"),
    ("amount", 99.25),
    ("date", "2026-05-01"),
    ("cost_centre", "4711"),
    ("username", "ada"),
)


def invoice(store: PostgresStore, inputs: Pairs = ()) -> Cast:
    job = with_inputs(load_job("invoice", {}), inputs)
    world = keep_session(Erp, **job.file.world.options)
    vault = Safe(password="lovelace")
    return Cast(
        world=world, planner=build_planner(job.file.planner), task=job.task, vault=vault, segments=store.segments
    )


async def test_a_second_run_needs_no_planner_and_books_its_own_invoice(fleet: Fleet):
    store = fleet.store
    assert isinstance(store, PostgresStore)
    first, second = invoice(store), invoice(store, OTHER)
    async with fleet.worker():
        taught = await (await fleet.begin(first)).result()
        result = await (await fleet.begin(second)).result()
    assert (taught.verified, taught.reused, taught.planner_calls) == (True, 0, 6)
    assert (result.verified, result.reused, result.planner_calls, result.budget.calls) == (True, 6, 0, 0)
    (booked,) = effects(second)
    assert {name: booked.values[name] for name, _ in OTHER if name != "username"} == dict(OTHER[:-1])
    plans = await store.plans(result.run)
    assert {plan.reused.run for plan in plans if plan.reused} == {taught.run}
