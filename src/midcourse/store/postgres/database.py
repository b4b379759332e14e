"""The connections and cached records that a store and its batches share."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, TypeAlias, TypeVar

from midcourse.sealing import Seals
from midcourse.store.postgres.connections import Connections
from midcourse.store.postgres.statements import Key, Kind, Statement, Values, combine
from midcourse.store.recent import Recent
from midcourse.store.state import build_unknown_error

T = TypeVar("T")

Place: TypeAlias = tuple[Kind[Any], str, Key]
"""The key of a cached record: kind, run, key."""

MEMORY = 16_000_000
"""The maximum number of characters of JSON that are cached."""
MOST_MONTHS = 100_000


class Database:
    """Runs statements on the connections of a tenant, and caches recent records."""

    def __init__(self, connections: Connections, seals: Seals | None = None) -> None:
        self.connections = connections
        self.seals = seals
        self._recent = Recent[Place, Any](MEMORY)
        self._months = Recent[str, date](MOST_MONTHS)

    async def rows(self, sql: bytes, values: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
        async with self.connections.borrow() as connection:
            return await (await connection.execute(sql, values)).fetchall()

    async def find_run(self, sql: bytes, run_id: str) -> tuple[Any, ...]:
        """Return the row that a query by the id of a run finds. Raise `RunUnknown` if there is no such run."""
        for row in await self.rows(sql, (run_id,)):
            return row
        raise build_unknown_error(run_id)

    async def execute(self, sql: bytes, values: Sequence[Any] | Mapping[str, Any]) -> int:
        """Execute a statement and return the number of affected rows."""
        async with self.connections.borrow() as connection:
            return (await connection.execute(sql, values)).rowcount

    async def write(self, writes: Iterable[tuple[Statement, Values]]) -> int:
        """Write everything in one transaction, which is durable on return. Return the number of rows that the last write changed.

        After an error the transaction may or may not be stored, and can be written again.
        """
        return await self.execute(*combine(writes))

    async def find_month(self, run_id: str) -> date:
        """Return the month in which the run was created. Raise `RunUnknown` if there is no such run."""
        month = self._months.get(run_id)
        if month is None:
            (month,) = await self.find_run(b"SELECT month FROM midcourse.runs WHERE id = %s", run_id)
            self.enter(run_id, month)
        return month

    def enter(self, run_id: str, month: date) -> None:
        """Cache the month of an existing run."""
        self._months.put(run_id, month)

    # --- memory

    def recall(self, kind: Kind[T], run_id: str, key: Key) -> T | None:
        return self._recent.get((kind, run_id, key))

    def remember(self, kind: Kind[T], run_id: str, key: Key, value: T, weight: int) -> None:
        if kind.is_cached:
            there = self.recall(kind, run_id, key)
            if there is not None and kind.choose:
                value = kind.choose(there, value)
            self._recent.put((kind, run_id, key), value, weight)

    def forget(self, run_id: str) -> None:
        for place in self._recent:
            if place[1] == run_id:
                self._recent.drop(place)
