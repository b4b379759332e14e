"""Capture the histories that the tests replay: `python -m tests.runtimes.capture`.

Once for each release, and never again for an old one: what was captured then has to replay for ever.
"""

import asyncio
import json
import os
import re
import secrets
import socket
import tempfile
from dataclasses import replace
from pathlib import Path

from midcourse.ports.memory import Memory
from midcourse.runtimes.temporal.client import connect
from midcourse.runtimes.temporal.development import start_server
from midcourse.store.postgres import PostgresStore, development
from midcourse.store.postgres.migrate import migrate
from tests.parity.playing import play_on_temporal
from tests.parity.stories import STORIES
from tests.runtimes.fleet import Fleet

HISTORIES = Path(__file__).parents[1] / "fixtures" / "histories"
CAPTURED = ("several letters", "paused while asked", "cancelled while planning", "the same failure again")
CONTINUED = "approved later"
"""Goes on in a new execution before it waits; the last one is captured."""


async def main(address: str, database: str) -> None:
    tenant = f"capture-{secrets.token_hex(4)}"
    async with PostgresStore(database, tenant=tenant) as store:
        fleet = Fleet(client=await connect(address), store=store, tenant=tenant)
        async with fleet.worker():
            for name in CAPTURED:
                await capture(fleet, name, store.memory(name))
            fleet.pace = replace(fleet.pace, rest_after=1)
            await capture(fleet, CONTINUED, store.memory(CONTINUED))


async def capture(fleet: Fleet, name: str, memory: Memory) -> None:
    run_id = re.sub(r"\W+", "-", name)
    await play_on_temporal(fleet, STORIES[name], run_id, memory)
    history = json.loads((await fleet.history(run_id)).to_json())
    text = json.dumps(history, separators=(",", ":")).replace(socket.gethostname(), "machine")
    (HISTORIES / f"{run_id}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("MIDCOURSE_SECRET_PASSWORD", "lovelace")
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
