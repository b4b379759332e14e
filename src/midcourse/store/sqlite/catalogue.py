"""The list of runs in an SQLite file, for programs that only list them. It decodes no records, so it imports almost nothing."""

from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from midcourse.domain.records.summary import RunQuery, RunStatus, RunSummary
from midcourse.store.lists import FOUND, LISTED, SUCCEEDED, read_summary
from midcourse.store.lock import is_locked
from midcourse.store.sqlite.connection import open_current
from midcourse.store.sqlite.schema import SCHEMA_VERSION, open_file

COLUMNS = (
    "id, goal, phase, final_reason, began_at, json_extract(result, '$.verified'), json_extract(result, '$.sending')"
)
NEWEST = f"SELECT {COLUMNS} FROM runs ORDER BY entered DESC LIMIT ?"
NAMED = f"""SELECT {COLUMNS} FROM runs WHERE substr(id, 1, length(:name)) = :name
    ORDER BY id = :name DESC, entered DESC LIMIT :limit"""
ALL = -1

STATUS = f"""CASE WHEN phase = 'ended' AND final_reason <> ''
        THEN CASE WHEN final_reason IN ({SUCCEEDED}) THEN 'done' ELSE 'failed' END
    WHEN phase IN ('asking', 'paused') THEN phase ELSE 'running' END"""
WORLD = "json_extract(task, '$.world')"
FIND = f"""SELECT {COLUMNS}, entered, key, {WORLD}, json_extract(state, '$.now'),
    coalesce(json_extract(state, '$.budget.spent.calls'), 0), coalesce(json_extract(state, '$.budget.spent.microusd'), 0) / 1e6,
    CASE WHEN phase = 'asking' THEN json_extract(body, '$.expires_at') - json_extract(opening, '$.limits.approval_seconds') END
FROM runs LEFT JOIN questions ON questions.run = id AND questions.question = json_extract(state, '$.phase.question')
WHERE entered < :before AND (:world = '' OR {WORLD} = :world)
    AND (:text = '' OR instr(lower(id || char(10) || goal || char(10) || key), lower(:text)) > 0)
    AND (:status = '' OR instr(:status, {STATUS}) > 0)
ORDER BY entered DESC LIMIT :limit"""
COUNT = f"SELECT {STATUS}, count(*) FROM runs GROUP BY 1"
FIRST_PAGE = 2**62


class SqliteCatalogue:
    """The runs of a file, and whether a process drives them. Only one thread at a time may use it."""

    def __init__(self, path: Path | str) -> None:
        """Open a file. A file of an earlier version is migrated."""
        self.path = Path(path).absolute()
        self._db = open_current(self.path, SCHEMA_VERSION) or open_file(self.path)

    def close(self) -> None:
        """Close the file. It is safe to call this twice."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def newest(self, limit: int | None = None) -> tuple[RunSummary, ...]:
        """Return the runs, the newest first."""
        return tuple(read_summary(LISTED, row) for row in self._db.execute(NEWEST, (ALL if limit is None else limit,)))

    def named(self, beginning: str, limit: int) -> tuple[RunSummary, ...]:
        """Return the runs with ids that begin with this: first an exact match, then the newest."""
        rows = self._db.execute(NAMED, {"name": beginning, "limit": limit})
        return tuple(read_summary(LISTED, row) for row in rows)

    def count(self, phase: str = "") -> int:
        """Return the number of all runs, or of the runs in this phase."""
        return self._db.execute("SELECT count(*) FROM runs WHERE ? IN ('', phase)", (phase,)).fetchone()[0]

    async def find_runs(self, query: RunQuery) -> tuple[RunSummary, ...]:
        values = {
            "before": FIRST_PAGE if query.before is None else query.before,
            "world": query.world,
            "text": query.text,
            "status": " ".join(query.status),
            "limit": query.limit,
        }
        return tuple(read_summary(FOUND, row) for row in self._db.execute(FIND, values))

    async def count_runs(self) -> dict[RunStatus, int]:
        return dict(self._db.execute(COUNT).fetchall())

    def is_claimed(self, run_id: str) -> bool | None:
        """Return whether a process drives the run, or None on Windows, where that cannot be known."""
        return is_locked(self._lock_path(run_id))

    def _lock_path(self, run_id: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{quote(run_id, safe='')}.lock")
