"""Replays the journal of every run, and counts those that differ."""

from dataclasses import dataclass
from pathlib import Path

from midcourse.codec import encode
from midcourse.ports.store import Store
from midcourse.replay import replay
from midcourse.store.sqlite import SqliteStore


@dataclass(frozen=True)
class Replayed:
    replayed: int = 0
    differing: int = 0

    def __add__(self, other: "Replayed") -> "Replayed":
        return Replayed(self.replayed + other.replayed, self.differing + other.differing)


async def check_replay(store: Store) -> Replayed:
    """Of every run in the store: the same commands at every turn, and the same state in the end."""
    found = Replayed()
    for summary in await store.runs():
        run, _ = await store.load(summary.id)
        replayed = replay(await store.opening(summary.id), await store.journal(summary.id))
        same = replayed.verdict == "identical" and encode(replayed.final) == encode(run)
        found += Replayed(1, not same)
    return found


async def check_journals(database: Path) -> Replayed:
    store = SqliteStore(database)
    try:
        return await check_replay(store)
    finally:
        store.close()
