"""Capture the histories that the tests replay: `python -m tests.runtimes.capture`.

Once for each release, and never again for an old one: what was captured then must replay forever.
"""

import asyncio
import json
import secrets
import socket
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from midcourse.domain.approval import Decision
from midcourse.runtimes.temporal.client import connect
from midcourse.runtimes.temporal.development import start_server
from midcourse.store.postgres import PostgresStore, development
from midcourse.store.postgres.migrate import migrate
from midcourse.testing import Posts
from tests.runtimes.fleet import Fleet, order

HISTORIES = Path(__file__).parents[1] / "fixtures" / "histories"


async def at_once(fleet: Fleet) -> str:
    async with fleet.worker():
        handle = await fleet.begin(order())
        await handle.result()
    return handle.run_id


async def approved(fleet: Fleet) -> str:
    approver = Posts()
    async with fleet.worker():
        handle = await fleet.begin(replace(order(approvals="always"), approver=approver))
        await fleet.wait_for_status(handle, "asking")
        await handle.pause()
        await handle.answer(approver.questions[-1], Decision(verdict="approved"))
        await fleet.wait_for_status(handle, "paused")
        await handle.resume()
        await handle.result()
    return handle.run_id


async def in_slices(fleet: Fleet) -> str:
    fleet.placement = replace(fleet.placement, slice_seconds=0.0)
    async with fleet.worker(drivers=1):
        handle = await fleet.begin(order())
        await handle.result()
    return handle.run_id


async def expired(fleet: Fleet) -> str:
    async with fleet.worker():
        handle = await fleet.begin(replace(order(approvals="always", approval_seconds=4.0), approver=Posts()))
        await handle.result()
    return handle.run_id


async def cancelled(fleet: Fleet) -> str:
    async with fleet.worker():
        handle = await fleet.begin(replace(order(approvals="always"), approver=Posts()))
        await fleet.wait_for_status(handle, "asking")
        await fleet.execution(handle.run_id).cancel()
        await handle.result()
    return handle.run_id


CAPTURED: dict[str, Callable[[Fleet], Awaitable[str]]] = {
    "at-once": at_once,
    "approved-while-paused": approved,
    "in-slices": in_slices,
    "expired": expired,
    "cancelled": cancelled,
}


async def main(address: str, database: str) -> None:
    for name, play in CAPTURED.items():
        tenant = f"capture-{secrets.token_hex(4)}"
        async with PostgresStore(database, tenant=tenant) as store:
            fleet = Fleet(client=await connect(address), store=store, tenant=tenant)
            history = json.loads((await fleet.history(await play(fleet))).to_json())
        text = json.dumps(history, separators=(",", ":")).replace(socket.gethostname(), "machine")
        (HISTORIES / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    HISTORIES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        server, postgres = start_server(Path(folder) / "temporal"), Path(folder) / "postgres"
        try:
            url = development.start(postgres)
            migrate(url)
            asyncio.run(main(server.address, url))
        finally:
            server.stop()
            development.remove(postgres)
