"""Power cuts: what was not flushed is lost, wherever the power fails. Each order is placed once all the same, as the shop counts."""

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from midcourse import guarded
from midcourse.errors import AnswerLost
from midcourse.store.sqlite import SqliteStore

Answer = Literal["ok", "lost", "down"]


@dataclass
class Disk:
    """The files of a store as they were when they were last flushed."""

    path: Path
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    flushes: int = 0

    def flush(self) -> None:
        self.flushes += 1
        self.files = {end: self.file(end).read_bytes() for end in ("", "-wal") if self.file(end).exists()}

    def file(self, end: str) -> Path:
        return self.path.with_name(self.path.name + end)

    def sent(self) -> bytes:
        """The log of irreversible acts, which is never flushed: a power cut may take it or leave it."""
        return self.file(".sent").read_bytes() if self.file(".sent").exists() else b""

    def lose_the_rest(self, files: dict[str, bytes]) -> None:
        """Return to these contents. The files stay the same ones, since a copy of a store is refused."""
        for end in ("-wal", "-shm", ".sent"):
            self.file(end).unlink(missing_ok=True)
        for end, contents in files.items():
            self.file(end).write_bytes(contents)


class FlushedStore(SqliteStore):
    """A store that notes what would be left of it after a power cut, and calls `moment` after every transaction."""

    def __init__(self, disk: Disk, moment: Callable[[], None]) -> None:
        super().__init__(disk.path)
        self.disk, self.moment = disk, moment

    @contextmanager
    def _transaction(self, *, durable: bool = False) -> Generator[None]:
        with super()._transaction(durable=durable):
            yield
        if durable:
            self.disk.flush()
        self.moment()


def ordering(orders: list[str], answer: Answer, store: SqliteStore, moment: Callable[[], None] = lambda: None):
    @guarded(key="{order}", name="order", happened=lambda order: order in orders, absent_on=(OSError,), store=store)
    def place(order: str) -> str:
        moment()
        if answer == "down":
            raise OSError("refused")
        orders.append(order)
        moment()
        if answer == "lost":
            raise RuntimeError("504")
        return f"R-{order}"

    return place


@pytest.mark.slow
@pytest.mark.parametrize("keeps_log", [True, False])
@pytest.mark.parametrize("answer", ["ok", "lost", "down"])
def test_each_order_is_placed_once_wherever_the_power_fails(answer: Answer, keeps_log: bool, tmp_path: Path):
    disk, orders = Disk(tmp_path / "midcourse.db"), list[str]()
    moments: list[tuple[dict[str, bytes], list[str]]] = []

    def moment() -> None:
        moments.append((disk.files | ({".sent": disk.sent()} if keeps_log else {}), [*orders]))

    with FlushedStore(disk, moment) as store:
        disk.flush()
        call(ordering(orders, answer, store, moment))
    placed = [] if answer == "down" else ["A-1"]
    assert orders == placed
    assert len(moments) > 10
    for files, seen in moments:
        disk.lose_the_rest(files)
        with SqliteStore(disk.path) as store:
            found = [*seen]
            call(ordering(found, answer, store))
        assert found == placed


def call(place: Callable[[str], str]) -> None:
    with suppress(AnswerLost, OSError):
        assert place("A-1") == "R-A-1"


def test_a_call_flushes_the_disk_four_times(tmp_path: Path):
    disk = Disk(tmp_path / "midcourse.db")
    with FlushedStore(disk, lambda: None) as store:
        assert ordering([], "ok", store)("A-1") == "R-A-1"
    assert disk.flushes == 4
