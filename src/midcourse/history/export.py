"""Writes a run's result and journal to files: `result.json` and `journal.jsonl`."""

import json
from pathlib import Path
from typing import Any

from midcourse.codec import encode
from midcourse.domain.result import Result
from midcourse.files import atomic_write, private_folder
from midcourse.history.journal import JOURNAL_FILE, journal_of, journal_text
from midcourse.ports.store import Store

RESULT_FILE = "result.json"


def result_json(result: Result) -> str:
    """The result as one line of JSON. Named values are objects, as readers of JSON expect."""
    plain: dict[str, Any] = json.loads(encode(result))
    plain["data"] = dict(result.data)
    for written, attempt in zip(plain["attempts"], result.attempts, strict=True):
        written["arguments"] = {
            name: pair[1] for pair, (name, _) in zip(written["arguments"], attempt.arguments, strict=True)
        }
    return json.dumps(plain, ensure_ascii=False)


async def export(store: Store, run_id: str, folder: Path) -> None:
    """Write the run's journal so far and, if it has ended, its result."""
    result = await store.result(run_id)
    if result is not None:
        _write(folder / RESULT_FILE, result_json(result) + "\n")
    _write(folder / JOURNAL_FILE, journal_text(await journal_of(store, run_id)))


def _write(path: Path, text: str) -> None:
    private_folder(path.parent)
    atomic_write(path, text)
