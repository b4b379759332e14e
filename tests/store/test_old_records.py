"""Stored records that were written before a field existed still mean the same.

The fixture lists every field of every stored record: `required`, or the value used when the field is missing. A changed default
or a new required field would change the meaning of old records, or make them unreadable. New fields need a default;
`python -m tests.store.test_old_records` adds them to the fixture before a release. The codec writes every field but those that are `stored_if_set`, so
another default may change as long as no record without the field exists (`Limits.outline`: before the first release).
"""

import json
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from midcourse.codec import decode_any, encode
from midcourse.domain.approval import Consequence
from midcourse.domain.commands import Command
from midcourse.domain.events import Event
from midcourse.domain.observation import Observation
from midcourse.domain.plan import PlanVersion
from midcourse.domain.records.answers import AskedConsequence
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.records.lesson import Lesson
from midcourse.domain.result import Result
from midcourse.domain.task import Task

FIXTURE = Path(__file__).parents[1] / "fixtures" / "stored-fields.json"
KEPT: tuple[Any, ...] = (
    Event, Command, Task, Observation, PlanVersion, Consequence, LedgerEntry, Result, AskedConsequence, Lesson,
)  # fmt: skip
REQUIRED = "required"
OLD_LESSON = '{"key": "k", "signature": "permission denied: <name>", "said": {"text": "Permission denied"}}'
OLD_PLAN = '{"version": 2, "parent": 1, "cause": "error", "why": "", "observation": "o1", "final": true, "steps": []}'
OLD_ENTRY = '{"command": 7, "version": 1, "index": 0, "call": "place_order()"}'


def records(kind: Any, found: dict[str, type]) -> dict[str, type]:
    """Every dataclass that this one is made of."""
    if isinstance(kind, type) and is_dataclass(kind):
        if kind.__name__ in found:
            return found
        found[kind.__name__] = kind
        for hint in get_type_hints(kind).values():
            records(hint, found)
    for part in get_args(kind):
        records(part, found)
    return found


def stored() -> dict[str, Any]:
    found: dict[str, type] = {}
    for kind in KEPT:
        records(kind, found)
    return dict(sorted(line for kind in found.values() for line in _fields(kind)))


def _fields(kind: Any) -> Iterator[tuple[str, Any]]:
    hints, annotated = get_type_hints(kind), get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        stored_as = [found.alias for found in get_args(annotated[field.name])[1:] if getattr(found, "alias", None)]
        name = f"{kind.__name__}.{stored_as[0] if stored_as else field.name}"
        if field.default is not MISSING:
            yield name, json.loads(encode(field.default, hints[field.name]))
        elif field.default_factory is not MISSING:
            yield name, json.loads(encode(field.default_factory(), hints[field.name]))
        else:
            yield name, REQUIRED


def test_missing_fields_keep_their_meaning() -> None:
    known = json.loads(FIXTURE.read_text(encoding="utf-8"))
    now = stored()
    kinds = {name.split(".")[0] for name in known}
    added = {name for name in now if name not in known and name.split(".")[0] in kinds}
    assert {name for name in added if now[name] == REQUIRED} == set(), "old records lack it"
    assert {name: now.get(name) for name in known} == known


@pytest.mark.parametrize(("kind", "text"), [(Lesson, OLD_LESSON), (PlanVersion, OLD_PLAN), (LedgerEntry, OLD_ENTRY)])
def test_a_record_without_newer_fields_is_read(kind: Any, text: str) -> None:
    read = decode_any(kind, text)
    assert decode_any(kind, encode(read, kind)) == read
    assert json.loads(text).items() <= json.loads(encode(read, kind)).items()


if __name__ == "__main__":
    FIXTURE.write_text(json.dumps(stored(), indent=1) + "\n", encoding="utf-8")
