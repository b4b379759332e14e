"""Drivers, speakers, deaths, clocks and lost notifications in any order: the invariants (see `invariants`) hold after every commit."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from benchmarks.fleet.directors import hesitate
from midcourse.director.decide import ENTER
from midcourse.director.segment import ask_planner
from midcourse.domain.events import Event
from midcourse.domain.moves import AskPlanner
from midcourse.store.postgres.connections import ConnectionPool, Connections
from tests.properties.drivers.fleet import BUILD, Fleet
from tests.properties.drivers.invariants import Auditor
from tests.properties.drivers.stores import InMemory, OnPostgres


def seeded(*sizes: int) -> st.SearchStrategy[bytes]:
    """Not `st.binary`, which mostly makes few bytes, so that little would happen."""
    return st.builds(lambda seed, size: Random(seed).randbytes(size), st.integers(0, 2**32), st.sampled_from(sizes))


SEEDED = seeded(0, 100, 400, 1500)


PROFILE = settings()


def share(of: int, **more: Any) -> settings:
    """One example where others have so many: each is a whole run. A seed cannot be shrunk."""
    examples = max(1, PROFILE.max_examples // of)
    return settings(max_examples=examples, phases=[Phase.explicit, Phase.reuse, Phase.generate], **more)


@pytest.fixture(scope="module", autouse=True)
def _every_refresh_equals_a_full_read() -> None:
    """Not here: another driver may write between the two reads."""


@pytest.fixture(scope="module", autouse=True)
def _builds_have_directors_of_their_own() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ENTER, AskPlanner, lambda run, move: (hesitate if BUILD.get() else ask_planner)(run, move))
        yield


def play(fleet: Fleet) -> Auditor:
    asyncio.run(fleet.play())
    return fleet.auditor


@share(6)
@given(SEEDED)
def test_invariants_1_2_3_5_7_in_every_order(data: bytes) -> None:
    play(Fleet(InMemory(), data))


@share(12)
@given(SEEDED)
def test_invariant_4_without_sweeps_no_run_rests_with_messages_if_every_signal_arrives(data: bytes) -> None:
    play(Fleet(InMemory(), data, sweeps=False, drops=False))


@share(12)
@given(st.binary(min_size=20, max_size=60))
def test_invariant_6_a_clean_rest_leaves_no_trace(data: bytes) -> None:
    def journal(fleet: Fleet) -> tuple[list[Event], object]:
        stored = play(fleet).stored
        assert stored.state is not None
        return [replace(row.event, at=0.0) for row in stored.journal], stored.state.budget.spent

    rested = Fleet(InMemory(), data, calm=True, drops=False)
    unrested = Fleet(InMemory(), b"", calm=True, drops=False, rests=False)
    assert journal(rested) == journal(unrested)
    assert len(unrested.auditor.claims) == 1


@share(12)
@given(SEEDED)
def test_invariant_7_no_claim_is_given_twice_by_a_database_that_lost_commits(data: bytes) -> None:
    backend = InMemory()
    fleet = Fleet(backend, data)
    fleet.auditor.unchecked = (3, 5, 6)  # what was accepted, sent or rested may be forgotten
    saved = [backend.save()]

    def save() -> None:
        saved[0] = backend.save()

    async def lose() -> None:
        if saved[0][0]:
            backend.restore(saved[0])
            fleet.auditor.forget(await backend.read("run"))

    fleet.extra, fleet.asks_operator = [save, lose], True
    play(fleet)


@share(12)
@given(SEEDED)
def test_invariant_8_builds_with_other_directors_load_what_the_others_wrote(data: bytes) -> None:
    play(Fleet(InMemory(), data, builds=2))


@share(30)
@given(SEEDED)
def test_invariant_9_runs_end_although_drivers_are_replaced_all_the_time(data: bytes) -> None:
    play(Fleet(InMemory(), data, alarms=True))


@share(50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seeded(100, 400), st.booleans())
def test_the_invariants_hold_on_postgresql(postgres: str, data: bytes, signals: bool) -> None:
    async def run() -> None:
        tenant = f"t{uuid4().hex[:12]}"
        connections = Connections(ConnectionPool(postgres, size=4), tenant)
        try:
            backend = OnPostgres(postgres, tenant, connections)
            await Fleet(backend, data, builds=2, sweeps=not signals, drops=not signals).play()
        finally:
            await connections.pool.close()

    asyncio.run(run())
