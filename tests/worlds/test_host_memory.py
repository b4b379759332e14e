"""The irreversible acts that a host has begun: stored before they begin, and known to later sessions and hosts."""

import errno
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import Target
from midcourse.ports.world import Call
from midcourse.worlds.host.lifecycle import HostConfig, serve_host
from midcourse.worlds.host.memory import ActMemory
from midcourse.worlds.host.registry import WorldRegistry
from midcourse.worlds.host.wire import read_host_file
from midcourse.worlds.remote import RemoteWorld

LETTERBOX = "tests.worlds.hosted:Letterbox"


class Hours:
    """A clock."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "acts.jsonl"


def test_the_same_again_is_refused_unless_the_ledger_knows_the_first(file: Path) -> None:
    memory = ActMemory(file)
    assert memory.begin("run", "order", 7, ()) == ""
    assert "command 7" in memory.begin("run", "order", 7, ()), "its ledger has lost it, and numbers it the same"
    assert memory.begin("run", "other", 8, ()) == ""
    assert memory.begin("another", "order", 7, ()) == ""
    assert "command 8" in memory.begin("run", "other", 9, (3,))


def test_act_that_did_not_happen_is_sent_again_by_a_run_that_knows_it(file: Path) -> None:
    memory = ActMemory(file)
    assert memory.begin("run", "order", 7, ()) == ""
    assert memory.begin("run", "order", 9, (7,)) == ""
    assert "command 9" in memory.begin("run", "order", 12, (7,))


def test_a_run_that_knows_of_a_refused_command_may_send_the_act(file: Path) -> None:
    """Otherwise a person could not have it sent."""
    memory = ActMemory(file)
    memory.begin("run", "order", 7, ())
    assert memory.begin("run", "order", 9, ())
    assert ActMemory(file).begin("run", "order", 12, (9,)) == ""


def test_next_host_remembers_the_acts(file: Path) -> None:
    ActMemory(file).begin("run", "order", 7, ())
    assert "command 7" in ActMemory(file).begin("run", "order", 9, ())


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_the_file_of_acts_is_private(file: Path) -> None:
    ActMemory(file).begin("run", "order", 7, ())
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_line_that_was_cut_off_by_a_power_failure_hides_no_other(file: Path) -> None:
    ActMemory(file).begin("run", "order", 7, ())
    with file.open("ab") as out:
        out.write(b'\n{"key": "run", "ident')
    assert ActMemory(file).begin("run", "next", 8, ()) == ""
    memory = ActMemory(file)
    assert memory.begin("run", "order", 9, ())
    assert memory.begin("run", "next", 9, ())


def test_acts_are_forgotten_by_age_and_by_number(file: Path) -> None:
    clock = Hours()
    memory = ActMemory(file, most=3, seconds=3600.0, clock=clock)
    for number in range(5):
        memory.begin("run", f"act {number}", number, ())
    assert len(memory) == 3
    assert memory.begin("run", "act 4", 9, ())
    clock.now += 3601.0
    assert memory.begin("run", "act 4", 10, ()) == ""
    assert len(ActMemory(file, most=3, seconds=3600.0, clock=clock)) == 1


def test_the_file_of_acts_is_bounded(file: Path) -> None:
    memory = ActMemory(file, most=10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        for number in range(2500):
            memory.begin("run", f"act {number}", number, ())
    assert len(file.read_bytes().splitlines()) < 1100
    assert ActMemory(file, most=10).begin("run", "act 2499", 9000, ())


# --- in a host


@asynccontextmanager
async def letterbox(folder: Path) -> AsyncIterator[RemoteWorld]:
    ready = folder / "host.json"
    worlds = WorldRegistry([LETTERBOX], home=folder)
    async with serve_host(HostConfig(worlds=worlds, ready=ready, acts=folder / "acts.jsonl")):
        world = RemoteWorld(LETTERBOX, options={"folder": str(folder)}, host=read_host_file(ready), key="run")
        await world.open()
        yield world


async def post(world: RemoteWorld, command: int, *known: int, identity: str = "letter") -> Outcome:
    call = Call(
        command=command,
        skill="post",
        zone="slot",
        target=Target(surface="Letterbox", role="slot", label="Slot"),
        identity=identity,
        known=known,
    )
    return await world.act(call)


def letters(folder: Path) -> int:
    file = folder / "letters"
    return len(file.read_text(encoding="utf-8").splitlines()) if file.exists() else 0


async def test_restarted_host_refuses_acts_of_the_last_one(tmp_path: Path) -> None:
    async with letterbox(tmp_path) as world:
        assert (await post(world, 7)).status == "ok"
    async with letterbox(tmp_path) as world:
        again = await post(world, 9)
        assert (again.status, again.reason) == ("unknown", "repeated")
        assert letters(tmp_path) == 1
        assert (await post(world, 12, 9)).status == "ok"
        assert letters(tmp_path) == 2


async def test_reversible_acts_are_not_remembered(tmp_path: Path) -> None:
    async with letterbox(tmp_path) as world:
        assert (await post(world, 7, identity="")).status == "ok"
        assert (await post(world, 8, identity="")).status == "ok"
    assert not (tmp_path / "acts.jsonl").exists()


async def test_nothing_begins_before_it_is_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flush, there = os.fsync, list[int]()

    def note(handle: int) -> None:
        there.append(letters(tmp_path))
        flush(handle)

    monkeypatch.setattr(os, "fsync", note)
    async with letterbox(tmp_path) as world:
        await post(world, 7)
    assert there
    assert set(there) == {0}
    assert letters(tmp_path) == 1


async def test_nothing_begins_that_cannot_be_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    async with letterbox(tmp_path) as world:
        monkeypatch.setattr(os, "fsync", full)
        refused = await post(world, 7)
    assert (refused.status, refused.reason) == ("no_effect", "act_not_recorded")
    assert "no space left" in refused.detail
    assert letters(tmp_path) == 0
