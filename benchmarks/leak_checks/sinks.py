"""Every place that stores something of a run: its bytes, by the name of the place."""

import asyncio
import base64
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from fnmatch import fnmatchcase
from pathlib import Path

from benchmarks.leak_checks.kinds import needles
from midcourse.app.home import DATABASE
from midcourse.store.deltas import expand

Sinks = dict[str, bytes]

PLACES = (
    ("*/heard.jsonl", "what the planner is told"),
    ("*/cassette.jsonl", "cassettes"),
    ("*/spans.jsonl", "spans"),
    ("*/said/*", "terminal"),
    ("*/blobs/*", "pictures"),
    ("*/shots/*", "pictures"),
    ("*.log", "logs"),
    ("*/up/postgres/*", "PostgreSQL, files"),
    ("*/up/temporal*", "Temporal, files"),
    ("*.db*", "SQLite"),
    ("*/journal.jsonl", "exports"),
    ("*/result.json", "exports"),
)
OTHER = "other files"


def files(folder: Path) -> Sinks:
    """Everything below it."""
    found: defaultdict[str, bytearray] = defaultdict(bytearray)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            place = next((name for pattern, name in PLACES if fnmatchcase(str(path), pattern)), OTHER)
            found[place] += path.read_bytes() + str(path).encode() + b"\n"
            if path.name == DATABASE:
                found[place] += _observations(path)
    return {name: bytes(content) for name, content in found.items()}


def _observations(path: Path) -> bytes:
    """What a database of runs has compressed."""
    with closing(sqlite3.connect(path)) as db:
        bodies = [body for (body,) in db.execute("SELECT body FROM observations")]
    return b"\n".join(expand(body) for body in bodies if isinstance(body, bytes))


def hits(sink: bytes, secrets: Mapping[str, str]) -> list[tuple[str, str]]:
    """Which secret is in it, in which encoding."""
    found = ((name, encoding) for name, secret in secrets.items() for encoding in _encodings_in(sink, secret))
    return list(dict.fromkeys(found))


def _encodings_in(sink: bytes, secret: str) -> Iterator[str]:
    return (encoding for encoding, needle in needles(secret) if needle in sink)


def tables(url: str) -> bytes:
    """All of a PostgreSQL database, as JSON."""
    import psycopg
    from psycopg.sql import SQL, Identifier

    content = bytearray()
    with psycopg.connect(url) as connection:
        named = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'"
        for schema, table in connection.execute(
            f"{named} AND table_schema NOT IN ('pg_catalog', 'information_schema')"
        ):
            where = Identifier(schema, table)
            for (row,) in connection.execute(SQL("SELECT row_to_json(one)::text FROM {} AS one").format(where)):
                content += row.encode() + b"\n"
    return bytes(content)


def histories(address: str) -> bytes:
    """Of every run that a Temporal server knows, with each payload opened."""
    return asyncio.run(_histories(address))


async def _histories(address: str) -> bytes:
    from temporalio.client import Client

    client, content = await Client.connect(address), bytearray()
    async for execution in client.list_workflows():
        handle = client.get_workflow_handle(execution.id, run_id=execution.run_id)
        written = (await handle.fetch_history()).to_json()
        content += written.encode() + b"".join(_opened(json.loads(written)))
    return bytes(content)


def _opened(written: object) -> Iterator[bytes]:
    if isinstance(written, dict):
        if isinstance(written.get("data"), str) and "metadata" in written:
            yield base64.b64decode(written["data"]) + b"\n"
        for inner in written.values():
            yield from _opened(inner)
    elif isinstance(written, list):
        for inner in written:
            yield from _opened(inner)
