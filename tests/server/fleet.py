"""A small fleet for tests of the server: a world host and a worker for each of two tenants, on real Temporal and PostgreSQL."""

import asyncio
import threading
from collections.abc import Generator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from midcourse.config.fleet_settings import FleetSettings
from midcourse.fleet.connection import connect_fleet
from midcourse.fleet.worker import build_worker
from midcourse.worlds.host import HostConfig, WorldRegistry, serve_host
from tests.server.serving import PATIENCE

WORLDS = ("midcourse.worlds.simulated.shop:Shop", "midcourse.worlds.simulated.desktop:Desktop")


@dataclass(frozen=True, kw_only=True)
class SmallFleet:
    settings: FleetSettings
    """The settings of the first tenant."""
    tenants: tuple[str, str]
    folder: Path

    def read_effects(self, run_id: str) -> list[str]:
        """The log of the world of this run of the first tenant."""
        path = self.folder / "host" / "tenants" / self.tenants[0] / "runs" / run_id / "effects.jsonl"
        return path.read_text().splitlines() if path.exists() else []

    def make_options(self) -> list[str]:
        """The options of a command that uses this fleet."""
        options = {"database_url": self.settings.database_url.get_secret_value(), "tenant": self.tenants[0]}
        options["temporal_address"] = self.settings.temporal_address
        return [word for name, value in options.items() for word in ("--set", f"{name}={value}")]


@contextmanager
def run_small_fleet(folder: Path, postgres: str, temporal: str) -> Generator[SmallFleet]:
    """Run the fleet in a thread with its own event loop. Its tenants have new names, because all tests share one Temporal."""
    tenants = (f"acme-{uuid4().hex[:8]}", f"umbrella-{uuid4().hex[:8]}")
    ready = folder / "host.json"
    common = {"database_url": postgres, "temporal_address": temporal, "host_file": str(ready)}
    settings = FleetSettings.load(folder, {**common, "tenant": tenants[0]})
    up = threading.Event()
    stop: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def serve() -> None:
        stopped = asyncio.Event()
        stop.append((asyncio.get_running_loop(), stopped))
        async with AsyncExitStack() as parts:
            host = HostConfig(worlds=WorldRegistry(WORLDS, home=folder / "host"), ready=ready)
            await parts.enter_async_context(serve_host(host))
            for tenant in tenants:
                fleet = await parts.enter_async_context(connect_fleet(settings.model_copy(update={"tenant": tenant})))
                await parts.enter_async_context(build_worker(fleet, folder / "worker"))
            up.set()
            await stopped.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert up.wait(PATIENCE)
    try:
        yield SmallFleet(settings=settings, tenants=tenants, folder=folder)
    finally:
        loop, stopped = stop[0]
        loop.call_soon_threadsafe(stopped.set)
        thread.join(PATIENCE)
