"""A home that was copied, restored or lost its newest records sends nothing again; a damaged one is reported in words."""

import asyncio
import json
import random
import shutil
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from midcourse import Agent, BaseWorld, Draft, Expectation, PlanDraft, Scene, Settings, Task, Zone, skill
from midcourse.cli.main import main
from midcourse.domain.expectation import SurfaceMatches
from midcourse.errors import StoreRestored
from midcourse.testing import Approves

RUN = "lamp-1"


class Shop(BaseWorld):
    """Its orders are counted outside of every home."""

    def __init__(self, orders: list[str], then: "Then") -> None:
        super().__init__()
        self.orders = orders
        self.then = then

    def look(self) -> Scene:
        return Scene("Checkout", Zone(id="order", role="button", label="Order"))

    @skill(effect="irreversible", transition=True)
    async def order(self, zone: Zone, item: str) -> None:
        self.orders.append(item)
        await self.then()


class Planner:
    def __init__(self, first: "Then") -> None:
        self.first = first

    async def plan(self, context: object) -> PlanDraft:
        await self.first()
        expect = Expectation(checks=(SurfaceMatches(pattern="Thank you"),))
        return PlanDraft(steps=(Draft(zone="order", skill="order", arguments=(("item", "lamp"),), expect=expect),))


Then = Callable[[], Awaitable[None]]


async def go_on() -> None:
    pass


class Stopped:
    """Where the process of a run dies: it gets here and never further."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()

    async def __call__(self) -> None:
        self.reached.set()
        await asyncio.Event().wait()


def agent_in(home: Path, orders: list[str], *, planning: Then = go_on, ordering: Then = go_on) -> Agent:
    settings = Settings.load(overrides={"home": str(home), "max_calls": "5"})
    return Agent(
        world=Shop(orders, ordering), planner=Planner(planning), approver=Approves(doubt="stop"), settings=settings
    )


async def kill(agent: Agent, at: Stopped, key: str = "") -> None:
    running = asyncio.create_task(agent.run(Task(goal="Order one lamp", key=key), run_id=RUN))
    await at.reached.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.slow
async def test_a_copy_of_the_home_does_not_carry_out_the_run_too(tmp_path: Path) -> None:
    orders: list[str] = []
    home, copy = tmp_path / "home", tmp_path / "copy"
    await kill(agent_in(home, orders, planning=(here := Stopped())), here)
    shutil.copytree(home, copy)
    await agent_in(home, orders).resume(RUN)
    with pytest.raises(StoreRestored, match="--restored"):
        await agent_in(copy, orders).resume(RUN)
    assert orders == ["lamp"]


@pytest.mark.slow
async def test_a_moved_home_is_not_a_copy(tmp_path: Path) -> None:
    orders: list[str] = []
    await kill(agent_in(tmp_path / "home", orders, planning=(here := Stopped())), here)
    (tmp_path / "home").rename(tmp_path / "moved")
    await agent_in(tmp_path / "moved", orders).resume(RUN)
    assert orders == ["lamp"]


@pytest.mark.slow
async def test_an_accepted_copy_goes_on(tmp_path: Path) -> None:
    orders: list[str] = []
    home, copy = tmp_path / "home", tmp_path / "copy"
    await kill(agent_in(home, orders, planning=(here := Stopped())), here)
    shutil.copytree(home, copy)
    await agent_in(copy, orders).resume(RUN, restored=True)
    assert orders == ["lamp"]


def rolled_back(home: Path) -> None:
    """As after a backup without the -wal file: the file as it was before the order, in the same place."""
    database = home / "midcourse.db"
    before = (home.parent / "before.db").read_bytes()
    for gone in home.glob("*-wal"), home.glob("*-shm"):
        for file in gone:
            file.unlink()
    database.write_bytes(before)


def saved(home: Path) -> Then:
    """Keep the database as it is now, whole."""

    async def save() -> None:
        with (
            closing(sqlite3.connect(home / "midcourse.db")) as db,
            closing(sqlite3.connect(home.parent / "before.db")) as copy,
        ):
            db.backup(copy)

    return save


async def test_a_database_that_forgot_the_order_does_not_order_again(tmp_path: Path) -> None:
    orders: list[str] = []
    home = tmp_path / "home"
    await kill(agent_in(home, orders, planning=saved(home), ordering=(here := Stopped())), here)
    rolled_back(home)
    with pytest.raises(StoreRestored, match="lost records"):
        await agent_in(home, orders).resume(RUN)
    assert orders == ["lamp"]


async def test_a_key_is_not_free_because_its_run_was_forgotten(tmp_path: Path) -> None:
    orders: list[str] = []
    home = tmp_path / "home"
    await agent_in(home, []).run("Something else", run_id="other")
    await saved(home)()
    await kill(agent_in(home, orders, ordering=(here := Stopped())), here, key="order-4711")
    rolled_back(home)
    with pytest.raises(StoreRestored, match="order-4711"):
        await agent_in(home, orders).run(Task(goal="Order one lamp", key="order-4711"))
    assert orders == ["lamp"]


# --- damaged databases at the command line


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("good") / "home"
    assert main(["run", "notepad", "--quiet", "--run-id", "good", "--set", f"home={home}"]) == 0
    with closing(sqlite3.connect(home / "midcourse.db")) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return home


def cut(data: bytearray) -> bytes:
    return bytes(data[: len(data) // 2])


def flip(data: bytearray) -> bytes:
    chance = random.Random(7)
    for _ in range(200):
        data[chance.randrange(100, len(data))] ^= 255
    return bytes(data)


def blank(data: bytearray) -> bytes:
    data[4096:] = bytes(len(data) - 4096)
    return bytes(data)


def foreign(_data: bytearray) -> bytes:
    return b"not a database" * 700


COMMANDS = (
    ["runs"],
    ["show", "good"],
    ["resume", "good"],
    ["show", "good", "--plans"],
    ["audit", "verify"],
    ["replay", "good"],
)


@pytest.mark.parametrize("damage", [cut, flip, blank, foreign])
def test_a_damaged_database_is_reported_in_words(
    damage: Callable[[bytearray], bytes], good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    shutil.copytree(good, home)
    database = home / "midcourse.db"
    database.write_bytes(damage(bytearray(database.read_bytes())))
    reported = 0
    for command in COMMANDS:
        code = main([*command, "--json", "--set", f"home={home}"])  # raises for anything but misuse
        out = capsys.readouterr()
        assert "Traceback" not in out.err
        if code == 2:
            reported += 1
            assert "midcourse.db" in json.loads(out.out)["error"] or "damaged" in json.loads(out.out)["error"]
    assert reported


@pytest.mark.parametrize(
    ("column", "text"), [("state", "{]"), ("state", "[]"), ("task", "nope"), ("opening", "1")], ids=lambda value: value
)
def test_damaged_records_are_reported_in_words(
    column: str, text: str, good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    shutil.copytree(good, home)
    with closing(sqlite3.connect(home / "midcourse.db")) as db, db:
        db.execute(f"UPDATE runs SET {column} = ?", (text,))
    codes = [main([*command, "--json", "--set", f"home={home}"]) for command in COMMANDS]
    assert "Traceback" not in capsys.readouterr().err
    assert 2 in codes


def test_a_damaged_column_name_is_reported_in_words_to_a_new_run(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    shutil.copytree(good, home)
    database = home / "midcourse.db"
    database.write_bytes(database.read_bytes().replace(b"final_reason TEXT", b"final_reasoo TEXT"))
    assert main(["run", "notepad", "--quiet", "--json", "--set", f"home={home}"]) == 2
    out = capsys.readouterr()
    assert "Traceback" not in out.err
    assert "midcourse.db is damaged" in json.loads(out.out)["error"]


def test_a_full_disk_is_reported_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from midcourse.store.sqlite import connection

    def limited(db: sqlite3.Connection) -> None:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA max_page_count = 30")  # SQLite answers with SQLITE_FULL beyond it, as on a full disk

    monkeypatch.setattr(connection, "_use_write_ahead_log", limited)
    assert main(["run", "notepad", "--quiet", "--set", f"home={tmp_path / 'home'}"]) == 2
    assert "the disk is full" in capsys.readouterr().err
