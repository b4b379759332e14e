"""Lists of runs on SQLite: pages, filters and counts."""

import sqlite3

from midcourse.domain.records.summary import Sending
from midcourse.domain.result import SUCCESSES
from midcourse.policy.spending import MICRO
from midcourse.ports.store import RunQuery, RunStatus, RunSummary

DONE = ", ".join(f"'{reason}'" for reason in SUCCESSES)
STATUS = f"""CASE WHEN phase = 'ended' AND final_reason <> ''
        THEN CASE WHEN final_reason IN ({DONE}) THEN 'done' ELSE 'failed' END
    WHEN phase IN ('asking', 'paused') THEN phase ELSE 'running' END"""
WORLD = "json_extract(task, '$.world')"

FIND = f"""SELECT entered, id, goal, phase, final_reason, began_at, key, {WORLD}, json_extract(state, '$.now'),
    json_extract(result, '$.verified'), json_extract(result, '$.sending'), json_extract(state, '$.budget.spent.calls'), json_extract(state, '$.budget.spent.microusd'),
    CASE WHEN phase = 'asking' THEN json_extract(body, '$.expires_at') - json_extract(opening, '$.limits.approval_seconds') END
FROM runs LEFT JOIN questions ON questions.run = id AND questions.question = json_extract(state, '$.phase.question')
WHERE entered < :before AND (:world = '' OR {WORLD} = :world)
    AND (:text = '' OR instr(lower(id || char(10) || goal || char(10) || key), lower(:text)) > 0)
    AND (:status = '' OR instr(:status, {STATUS}) > 0)
ORDER BY entered DESC LIMIT :limit"""

COUNT = f"SELECT {STATUS}, count(*) FROM runs GROUP BY 1"

FIRST_PAGE = 2**62


def find_runs(db: sqlite3.Connection, query: RunQuery) -> tuple[RunSummary, ...]:
    values = {
        "before": FIRST_PAGE if query.before is None else query.before,
        "world": query.world,
        "text": query.text,
        "status": " ".join(query.status),
        "limit": query.limit,
    }
    return tuple(_summary(*row) for row in db.execute(FIND, values))


def count_runs(db: sqlite3.Connection) -> dict[RunStatus, int]:
    return dict(db.execute(COUNT).fetchall())


def _summary(
    place: int,
    run_id: str,
    goal: str,
    phase: str,
    final_reason: str,
    began_at: float,
    key: str,
    world: str | None,
    updated_at: float | None,
    verified: int | None,
    sending: Sending | None,
    calls: int | None,
    microusd: int | None,
    waiting_since: float | None,
) -> RunSummary:
    return RunSummary(
        id=run_id,
        goal=goal,
        phase=phase,
        final_reason=final_reason,
        began_at=began_at,
        place=place,
        key=key,
        world=world or "",
        updated_at=updated_at or 0.0,
        verified=None if verified is None else bool(verified),
        sending=sending or "",
        calls=calls or 0,
        cost_usd=(microusd or 0) / MICRO,
        waiting_since=waiting_since,
    )
