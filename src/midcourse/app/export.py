"""A run's result and journal as files: `result.json`, and `journal.jsonl` with a header and one line a turn."""

import json
from pathlib import Path
from typing import Any

from midcourse.codec import encode
from midcourse.domain.result import Result
from midcourse.ports.store import JournalRow, Store

JOURNAL_FORMAT = 1


def result_json(result: Result) -> str:
    """One line. Named values are objects here, since JSON readers expect them so."""
    plain: dict[str, Any] = json.loads(encode(result))
    plain["data"] = dict(result.data)
    for written, attempt in zip(plain["attempts"], result.attempts, strict=True):
        written["arguments"] = {
            name: pair[1] for pair, (name, _) in zip(written["arguments"], attempt.arguments, strict=True)
        }
    return json.dumps(plain, ensure_ascii=False)


async def export(store: Store, run_id: str, folder: Path) -> None:
    """Write what there is of the run by now; the result only if it has ended."""
    result = await store.result(run_id)
    if result is not None:
        _write(folder / "result.json", result_json(result) + "\n")
    _write(folder / "journal.jsonl", await _journal(store, run_id))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


async def _journal(store: Store, run_id: str) -> str:
    _, task = await store.load(run_id)
    opening = await store.opening(run_id)
    header = f'{{"journal":{JOURNAL_FORMAT},"run":{encode(opening)},"task":{encode(task)}}}'
    return "\n".join([header, *(encode(row, JournalRow) for row in await store.journal(run_id))]) + "\n"
