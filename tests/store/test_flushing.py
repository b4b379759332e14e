"""Which commits of the SQLite store are flushed to the disk."""

from pathlib import Path

import pytest

from midcourse.domain.budget import Cost, bill
from midcourse.domain.commands import AskPerson, Command, Observe
from midcourse.domain.events import Acted, CancelAsked, Event, Observed, Started
from midcourse.domain.phases import Ended
from midcourse.domain.run import Issued, Run
from midcourse.errors import RunUnknown
from midcourse.store.sqlite import SqliteStore
from midcourse.store.sqlite.store import must_survive

OBSERVE = Observe(id=1, timeout=9.0)


@pytest.mark.parametrize(("durable", "synchronous"), [(True, 2), (False, 1)])
def test_only_durable_commits_are_flushed(durable: bool, synchronous: int, tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "runs.db") as store:
        with store._transaction(durable=durable):
            assert settings(store) == ["wal", synchronous]
        with pytest.raises(RunUnknown), store._transaction(durable=durable):
            store._write("missing", "UPDATE runs SET goal = '' WHERE id = ?")
        assert settings(store) == ["wal", 1]


def settings(store: SqliteStore) -> list[object]:
    return [store._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]


@pytest.mark.parametrize(
    ("event", "commands", "reserved", "flushed"),
    [
        (Started(), (OBSERVE,), Cost(), False),
        (Started(), (OBSERVE,), Cost(calls=1), False),
        (Started(), (OBSERVE,), Cost(calls=1, tokens=500), True),
        (Observed(answers=1, spent=bill("reader", Cost(calls=1, tokens=90))), (), Cost(), True),
        (Acted(answers=1), (), Cost(), True),
        (CancelAsked(), (), Cost(), True),
        (Started(), (AskPerson(id=1, about="approve", steps=(), expires_at=9.0),), Cost(), True),
    ],
)
def test_turns_are_flushed_that_something_outside_depends_on(
    event: Event, commands: tuple[Command, ...], reserved: Cost, flushed: bool
) -> None:
    pending = tuple(Issued(command=command, reserved=reserved) for command in commands)
    assert must_survive(Run(id="a", pending=pending), event, commands) == flushed


def test_the_end_of_a_run_is_flushed() -> None:
    assert must_survive(Run(id="a", phase=Ended(reason="goal_reached", detail="")), Started(), ())
