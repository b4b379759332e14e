"""Lists of runs on PostgreSQL: pages, filters and counts."""

from typing import Any

from midcourse.ports.store import RunQuery
from midcourse.store.lists import FOUND, SUCCEEDED

COLUMNS = (*FOUND, "task")
STATUS = f"""CASE WHEN status <> 'ended' THEN status WHEN final_reason = '' THEN 'running'
    WHEN final_reason IN ({SUCCEEDED}) THEN 'done' ELSE 'failed' END"""
WORLD = "task::json ->> 'world'"

FIND = f"""SELECT id, goal, phase, final_reason, began_at, (results.body::json ->> 'verified')::bool, results.body::json ->> 'sending',
    entered, key, {WORLD}, coalesce(latest.at, ended_at),
    (results.body::json -> 'budget' ->> 'calls')::int, (results.body::json -> 'budget' ->> 'cost_usd')::float8,
    CASE WHEN status = 'asking' THEN (approvals.body::json ->> 'expires_at')::float8
        - (opening::json -> 'limits' ->> 'approval_seconds')::float8 END,
    CASE WHEN job = '' THEN '' ELSE job::json ->> 'name' END
FROM midcourse.runs LEFT JOIN midcourse.results ON results.run = id
LEFT JOIN midcourse.approvals ON approvals.run = id AND approvals.open
LEFT JOIN LATERAL (SELECT (event::json ->> 'at')::float8 AS at FROM midcourse.journal
    WHERE journal.run = id AND journal.month = runs.month ORDER BY seq DESC LIMIT 1) AS latest ON true
WHERE (%(before)s::bigint IS NULL OR entered < %(before)s) AND (%(world)s = '' OR {WORLD} = %(world)s)
    AND (%(text)s = '' OR strpos(lower(concat_ws(chr(10), id, goal, key)), lower(%(text)s)) > 0)
    AND (cardinality(%(status)s::text[]) = 0 OR {STATUS} = ANY (%(status)s))
ORDER BY entered DESC LIMIT %(limit)s""".encode()

COUNT = f"SELECT {STATUS}, count(*) FROM midcourse.runs GROUP BY 1".encode()


def values_of(query: RunQuery) -> dict[str, Any]:
    return {
        "before": query.before,
        "world": query.world,
        "text": query.text,
        "status": list(query.status),
        "limit": query.limit,
    }
