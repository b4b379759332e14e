"""Reads the bytes of every place that stores something of a run, by the name of the place."""

import asyncio
import base64
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from fnmatch import fnmatchcase
from pathlib import Path

from benchmarks.leak_checks.kinds import list_needles
from midcourse.home.folder import DATABASE
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


def read_files(folder: Path) -> Sinks:
    """Read all files below the folder."""
    found: defaultdict[str, bytearray] = defaultdict(bytearray)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            place = next((name for pattern, name in PLACES if fnmatchcase(str(path), pattern)), OTHER)
            found[place] += path.read_bytes() + str(path).encode() + b"\n"
            if path.name == DATABASE:
                found[place] += _read_observations(path)
    return {name: bytes(content) for name, content in found.items()}


def _read_observations(path: Path) -> bytes:
    """Read the compressed observations of a database of runs."""
    with closing(sqlite3.connect(path)) as db:
        bodies = [body for (body,) in db.execute("SELECT body FROM observations")]
    return b"\n".join(expand(body) for body in bodies if isinstance(body, bytes))


def find_hits(sink: bytes, secrets: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the name and the encoding of each secret found in these bytes."""
    found = ((name, encoding) for name, secret in secrets.items() for encoding in _find_encodings(sink, secret))
    return list(dict.fromkeys(found))


def _find_encodings(sink: bytes, secret: str) -> Iterator[str]:
    return (encoding for encoding, needle in list_needles(secret) if needle in sink)


def read_tables(url: str) -> bytes:
    """Read all tables of a PostgreSQL database as JSON."""
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


def read_histories(address: str) -> bytes:
    """Read the histories of all workflows of a Temporal server, with each payload decoded."""
    return asyncio.run(_read_histories(address))


async def _read_histories(address: str) -> bytes:
    from temporalio.client import Client

    client, content = await Client.connect(address), bytearray()
    async for execution in client.list_workflows():
        handle = client.get_workflow_handle(execution.id, run_id=execution.run_id)
        written = (await handle.fetch_history()).to_json()
        content += written.encode() + b"".join(_open_payloads(json.loads(written)))
    return bytes(content)


def _open_payloads(document: object) -> Iterator[bytes]:
    if isinstance(document, dict):
        if isinstance(document.get("data"), str) and "metadata" in document:
            yield base64.b64decode(document["data"]) + b"\n"
        for inner in document.values():
            yield from _open_payloads(inner)
    elif isinstance(document, list):
        for inner in document:
            yield from _open_payloads(inner)
