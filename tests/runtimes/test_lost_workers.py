"""Workers that are killed or frozen around dispatch. Another goes on, and the shop's own log has exactly one order."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from midcourse.agent.wiring import load_job
from midcourse.config.fleet_settings import FleetSettings
from midcourse.domain.result import Result
from midcourse.fleet.connection import Fleet, connect_fleet, start_durable_run
from tests.runtimes.doomed_worker import MOMENTS, worker

pytestmark = pytest.mark.slow

RUN = "victim"
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A fleet in which one worker is doomed."""

    fleet: Fleet
    home: Path

    def orders(self) -> list[object]:
        log = self.home / "runs" / RUN / "effects.jsonl"
        effects = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return [effect for effect in effects if effect["effect"] == "order"]

    @asynccontextmanager
    async def doomed(self, how: str, moment: str) -> AsyncGenerator[asyncio.subprocess.Process]:
        settings = self.fleet.settings
        environment = {
            **os.environ,
            "MIDCOURSE_HOME": str(self.home),
            "MIDCOURSE_DATABASE_URL": settings.database_url.get_secret_value(),
            "MIDCOURSE_TEMPORAL_ADDRESS": settings.temporal_address,
            "MIDCOURSE_TENANT": settings.tenant,
            "MIDCOURSE_HEARTBEAT_SECONDS": str(settings.heartbeat_seconds),
        }
        arguments = ("-m", "tests.runtimes.doomed_worker", how, moment)
        process = await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=ROOT, env=environment)
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def finished(self) -> Result:
        return await asyncio.wait_for(self.fleet.runs.handle(RUN).result(), 120)


@pytest.fixture
async def scene(temporal: str, postgres: str, tenant: str, tmp_path: Path) -> AsyncGenerator[Scene]:
    said = {
        "database_url": postgres,
        "temporal_address": temporal,
        "tenant": tenant,
        "heartbeat_seconds": "2",
    }
    async with connect_fleet(FleetSettings.load(tmp_path, said)) as fleet:
        yield Scene(fleet=fleet, home=tmp_path)


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_worker_is_killed_and_another_goes_on(scene: Scene, moment: str) -> None:
    await start_durable_run(scene.fleet, load_job("order", {}), RUN)
    async with scene.doomed("kill", moment) as victim:
        assert await asyncio.wait_for(victim.wait(), 120) == -signal.SIGKILL
        assert len(scene.orders()) <= 1
        async with worker(scene.fleet, scene.home):
            result = await scene.finished()
    assert (result.success, result.verified, result.final_reason) == (True, True, "goal_reached")
    assert len(scene.orders()) == 1
    assert [step.says for step in result.completed].count("Place the order") == 1


async def stopped(process: asyncio.subprocess.Process) -> None:
    """Until it has stopped itself."""
    state = Path(f"/proc/{process.pid}/stat")
    while state.read_text().rpartition(")")[2].split()[0] != "T":
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("moment", ["before it is on record", "before it is sent"])
async def test_a_frozen_worker_can_neither_act_nor_write_when_it_comes_back(scene: Scene, moment: str) -> None:
    await start_durable_run(scene.fleet, load_job("order", {}), RUN)
    async with scene.doomed("freeze", moment) as victim:
        await asyncio.wait_for(stopped(victim), 120)
        async with worker(scene.fleet, scene.home):
            result = await scene.finished()
        store = scene.fleet.store
        before = await store.journal(RUN), await store.ledger(RUN)
        victim.send_signal(signal.SIGTERM)
        victim.send_signal(signal.SIGCONT)
        assert await asyncio.wait_for(victim.wait(), 120) == 0, "it brings what it was doing to its end, and goes"
        assert (await store.journal(RUN), await store.ledger(RUN)) == before
    assert result.final_reason == "goal_reached"
    assert len(scene.orders()) == 1
