"""Replays the journal of every run, and counts the runs that differ."""

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
    """Replay every run of the store. A run differs if a turn has other commands, or if the final state is another one."""
    total = Replayed()
    for summary in await store.runs():
        run, _ = await store.load(summary.id)
        replayed = replay(await store.initial_state(summary.id), await store.journal(summary.id))
        is_same = replayed.verdict == "identical" and encode(replayed.final) == encode(run)
        total += Replayed(1, not is_same)
    return total


async def check_journals(database: Path) -> Replayed:
    store = SqliteStore(database)
    try:
        return await check_replay(store)
    finally:
        store.close()
