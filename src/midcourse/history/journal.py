"""A run's journal as one file, with everything that is needed to replay the run and to show its plans.

Each line is a JSON object. The first is the header: the state and the task that the run began with. Then come its plans, its turns in
order, and its last state:

    {"journal": 1, "run": {...}, "task": {...}}
    {"plan": {...}}
    {"seq": 1, "event": {...}, "commands": [...]}
    {"state": {...}}
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from midcourse.codec import decode, encode
from midcourse.domain.plan import PlanVersion
from midcourse.domain.result import Result
from midcourse.domain.run import READABLE, Run
from midcourse.domain.task import Task
from midcourse.errors import FormatUnknown
from midcourse.files import atomic_write, private_folder
from midcourse.ports.store import JournalRow, Store

JOURNAL_FORMAT = 1
JOURNAL_FILE = "journal.jsonl"
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Journal:
    opening: Run
    """The state that the run began with. For a fork, it names the run that it was made from."""
    task: Task
    plans: tuple[PlanVersion, ...]
    rows: tuple[JournalRow, ...]
    state: Run
    """The state after the last turn."""

    def plan(self, version: int) -> PlanVersion | None:
        return next((plan for plan in self.plans if plan.version == version), None)


async def journal_of(store: Store, run_id: str) -> Journal:
    """The journal of a run up to now."""
    state, task = await store.load(run_id)
    return Journal(
        opening=await store.initial_state(run_id),
        task=task,
        plans=await store.plans(run_id),
        rows=await store.journal(run_id),
        state=state,
    )


def journal_text(journal: Journal) -> str:
    return "\n".join(_lines(journal)) + "\n"


def _lines(journal: Journal) -> Iterator[str]:
    yield f'{{"journal":{JOURNAL_FORMAT},"run":{encode(journal.opening)},"task":{encode(journal.task)}}}'
    yield from (f'{{"plan":{encode(plan)}}}' for plan in journal.plans)
    yield from (encode(row, JournalRow) for row in journal.rows)
    yield f'{{"state":{encode(journal.state)}}}'


def read_journal(path: Path) -> Journal:
    """Read a journal from a file. Raises `FormatUnknown`, which names the line that cannot be read."""
    try:
        return parse_journal(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError:
        raise FormatUnknown(f"{path}: is not a text file in UTF-8, so it is not a journal") from None


def parse_journal(text: str, name: str = "journal") -> Journal:
    """Parse a journal. `name` is its name in error messages."""
    reader = _Reader(name)
    lines = text.split("\n")
    torn = lines.pop()
    if not lines or torn:
        raise reader.wrong("ends in the middle of a line" if torn else "is empty, so it is not a journal")
    opening, task = reader.header(lines[0])
    plans: list[PlanVersion] = []
    rows: list[JournalRow] = []
    state: Run | None = None
    for line in lines[1:]:
        parts = reader.parts(line)
        if state is not None:
            raise reader.wrong("something follows the state, which comes last")
        if "plan" in parts:
            plans.append(reader.decode(PlanVersion, parts["plan"]))
        elif "seq" in parts:
            rows.append(reader.decode(JournalRow, parts))
        elif "state" in parts:
            state = reader.run(parts["state"])
        else:
            raise reader.wrong("is neither a plan, nor a turn, nor the state")
    if state is None:
        raise reader.wrong("the state is missing: the file was cut off after this line")
    return Journal(opening=opening, task=task, plans=tuple(plans), rows=tuple(rows), state=state)


class _Reader:
    """Reads the lines of a journal, and names the current line in errors."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._line = 0

    def wrong(self, problem: str) -> FormatUnknown:
        return FormatUnknown(f"{self._name}, line {max(1, self._line)}: {problem}")

    def parts(self, line: str) -> dict[str, Any]:
        self._line += 1
        try:
            found = json.loads(line)
        except ValueError as error:
            raise self.wrong(f"is not JSON: {error}") from None
        if not isinstance(found, dict):
            raise self.wrong("is not a JSON object")
        return cast(dict[str, Any], found)

    def header(self, line: str) -> tuple[Run, Task]:
        parts = self.parts(line)
        if "journal" not in parts:
            raise self.wrong("is not the header of a journal")
        if parts["journal"] != JOURNAL_FORMAT:
            raise self.wrong(f"journal format {parts['journal']}, this version reads {JOURNAL_FORMAT}")
        return self.run(parts.get("run")), self.decode(Task, parts.get("task"))

    def run(self, part: Any) -> Run:
        found = cast(dict[str, Any], part).get("format") if isinstance(part, dict) else None
        if found not in READABLE:
            raise self.wrong(f"run format {found}, this version reads up to {READABLE[-1]}")
        return self.decode(Run, part)

    def decode(self, kind: type[T], part: Any) -> T:
        try:
            return decode(kind, json.dumps(part))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise self.wrong(f"{kind.__name__} {where}: {first['msg']}") from None


RESULT_FILE = "result.json"


def result_json(result: Result) -> str:
    """The result as one line of JSON. Named values are objects, as readers of JSON expect."""
    plain: dict[str, Any] = json.loads(encode(result))
    plain["data"], plain["sources"] = dict(result.data), dict(result.sources)
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
