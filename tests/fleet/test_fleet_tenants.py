"""A worker that serves several tenants over the same connections."""

import asyncio
import json
from pathlib import Path

import pytest

from midcourse.agent.wiring import load_job
from midcourse.config.fleet_settings import FleetSettings
from midcourse.fleet.connection import connect_tenants, start_durable_run
from midcourse.fleet.worker import run_workers


@pytest.mark.slow
async def test_tenants_share_a_worker_and_nothing_else(
    postgres: str, temporal: str, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both call their run the same, and order under the same key."""
    monkeypatch.chdir(tmp_path)
    given = {"database_url": postgres, "temporal_address": temporal, "max_connections": "2"}
    settings = FleetSettings.load(tmp_path, given)
    tenants = (f"{tenant}.a", f"{tenant}.b")
    job = load_job("order", {"approvals": "never"})
    async with connect_tenants(settings, tenants) as fleets, run_workers(fleets, tmp_path):
        for fleet in fleets:
            await start_durable_run(fleet, job, "lamp")
        async with asyncio.timeout(300):
            results = await asyncio.gather(*(fleet.runs.handle("lamp").result() for fleet in fleets))
        assert [(result.run, result.success) for result in results] == [("lamp", True)] * 2
        assert [len(await fleet.store.runs()) for fleet in fleets] == [1, 1]
        assert not await fleets[0].store.unread({"lamp": 1000})
    for one in tenants:
        (log,) = (tmp_path / "tenants" / one / "runs" / "lamp").glob("effects.jsonl")
        assert [json.loads(line)["effect"] for line in log.read_text().splitlines()] == ["order"]
