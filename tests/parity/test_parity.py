"""Every story through both runtimes: the same events, the same commands, the same result, the same effects."""

import secrets
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from midcourse.runtimes.temporal.client import connect
from midcourse.runtimes.temporal.wire import Pace
from midcourse.store.postgres import PostgresStore
from tests.parity.playing import play_locally, play_on_temporal
from tests.parity.stories import STORIES
from tests.runtimes.fleet import Fleet

PATIENT = Pace(session_seconds=10.0)
"""However slow the machine is, nobody is taken for lost."""

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def fleet(temporal: str, postgres: str) -> AsyncGenerator[Fleet]:
    tenant = f"parity-{secrets.token_hex(4)}"
    async with PostgresStore(postgres, tenant=tenant) as store:
        fleet = Fleet(client=await connect(temporal), store=store, tenant=tenant, pace=PATIENT)
        async with fleet.worker():
            yield fleet


@pytest.mark.parametrize("name", STORIES)
async def test_both_runtimes_tell_the_same_story(fleet: Fleet, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCOURSE_SECRET_PASSWORD", "lovelace")
    story, run_id = STORIES[name], name.replace(" ", "-")
    there, here = await play_on_temporal(fleet, story, run_id), await play_locally(story, run_id)
    assert there.turns == here.turns
    assert there == here
