"""Does every run of a benchmark come out the same when its journal goes through the director again, to the byte?"""

from dataclasses import dataclass
from pathlib import Path

from midcourse.codec import encode
from midcourse.ports.store import Store
from midcourse.replay import replay
from midcourse.store.sqlite import SqliteStore


@dataclass(frozen=True)
class Again:
    replayed: int = 0
    differing: int = 0

    def __add__(self, other: "Again") -> "Again":
        return Again(self.replayed + other.replayed, self.differing + other.differing)


async def again(store: Store) -> Again:
    """Of every run in the store: the same commands at every turn, and the same state in the end."""
    found = Again()
    for summary in await store.runs():
        run, _ = await store.load(summary.id)
        replayed = replay(await store.opening(summary.id), await store.journal(summary.id))
        same = replayed.verdict == "identical" and encode(replayed.final) == encode(run)
        found += Again(1, not same)
    return found


async def again_in(database: Path) -> Again:
    store = SqliteStore(database)
    try:
        return await again(store)
    finally:
        store.close()
