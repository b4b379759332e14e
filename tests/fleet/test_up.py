"""What `up` starts, keeps and stops: processes that do nothing stand for the servers."""

import os
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from midcourse.config.up_file import Part, fleet_in, read_up, write_up
from midcourse.errors import FleetUnavailable
from midcourse.fleet import up
from midcourse.home.fleet_store import read_keys
from midcourse.process import Process, find_process

SETTINGS = {
    up.POSTGRES: {"database_url": "postgresql://postgres:secret@/postgres"},
    up.TEMPORAL: {"keys_file": "keys"},
}


class FakeServices:
    """Starts sleepers, and remembers them."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.started: list[tuple[str, Process]] = []
        self.fails = ""

    def make_starter(self, name: str) -> Callable[..., up.Started]:
        def start(*_: object, **__: object) -> up.Started:
            if name == self.fails:
                raise FleetUnavailable(f"no {name} today")
            pid = os.posix_spawn("/bin/sleep", ["sleep", "60"], os.environ, setsid=True)
            process = find_process(pid)
            assert process is not None
            self.started.append((name, process))
            part = Part(name=name, address="", process=process, log="")
            return up.Started(part=part, settings={**SETTINGS.get(name, {}), f"{name}_pid": str(pid)})

        return start

    def take_started(self) -> list[str]:
        """What was started since the last time."""
        names = sorted(name for name, _ in self.started)
        self.started = []
        return names

    def part_process(self, name: str) -> Process:
        part = read_up(self.home).alive(name)
        assert part is not None
        return part.process


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServices]:
    services = FakeServices(tmp_path)
    for name, function in {
        up.POSTGRES: "_start_postgres",
        up.TEMPORAL: "_start_temporal",
        up.HOST: "_start_host",
        up.WORKER: "_start_worker",
    }.items():
        monkeypatch.setattr(up, function, services.make_starter(name))
    monkeypatch.setattr(up, "_stop_postgres", lambda folder: None)
    yield services
    for part in read_up(services.home).parts:
        part.process.stop(0.0)


EVERYTHING = sorted([up.POSTGRES, up.TEMPORAL, up.HOST, up.WORKER])


def test_start_starts_every_server_once(services: FakeServices):
    up.start_all(services.home)
    assert services.take_started() == EVERYTHING
    up.start_all(services.home)
    assert services.take_started() == []
    assert fleet_in(services.home)["Temporal_pid"] == str(services.part_process(up.TEMPORAL).pid)


@pytest.mark.parametrize(
    ("killed", "renewed"),
    [
        (up.WORKER, [up.WORKER]),
        (up.HOST, [up.HOST]),
        (up.TEMPORAL, [up.TEMPORAL, up.WORKER]),
        (up.POSTGRES, [up.POSTGRES, up.WORKER]),
    ],
)
def test_a_killed_server_is_started_again_with_those_that_depend_on_it(
    services: FakeServices, killed: str, renewed: list[str]
):
    up.start_all(services.home)
    before = {part.name: part.process for part in read_up(services.home).parts}
    before[killed].stop(0.0)
    services.take_started()
    up.start_all(services.home)
    assert services.take_started() == sorted(renewed)
    for name, process in before.items():
        assert process.alive == (name not in renewed)


@pytest.mark.parametrize("fails", EVERYTHING)
def test_if_a_server_cannot_start_nothing_is_left_behind(services: FakeServices, fails: str):
    services.fails = fails
    with pytest.raises(FleetUnavailable, match=f"no {fails} today"):
        up.start_all(services.home)
    assert not any(process.alive for _, process in services.started)
    assert read_up(services.home).parts == ()


def test_what_was_up_before_stays_up_if_another_cannot_start(services: FakeServices):
    up.start_all(services.home)
    services.part_process(up.WORKER).stop(0.0)
    services.fails = up.WORKER
    with pytest.raises(FleetUnavailable):
        up.start_all(services.home)
    assert [part.name for part in read_up(services.home).parts if part.process.alive] != []
    assert services.part_process(up.TEMPORAL).alive


def test_two_starts_at_once_start_each_server_once(services: FakeServices):
    with ThreadPoolExecutor() as pool:
        one, other = (pool.submit(up.start_all, services.home) for _ in range(2))
        assert one.result() == other.result()
    assert services.take_started() == EVERYTHING


def test_stop_ends_only_the_processes_that_up_started(services: FakeServices):
    up.start_all(services.home)
    there = read_up(services.home)
    with subprocess.Popen(["sleep", "60"]) as stranger:
        impostor = replace(there.parts[0], name=up.HOST, process=Process(pid=stranger.pid, began="long ago"))
        write_up(services.home, replace(there, parts=(*(p for p in there.parts if p.name != up.HOST), impostor)))
        stopped = up.stop_all(services.home)
        assert [part.name for part in stopped] == [up.WORKER, up.TEMPORAL, up.POSTGRES]
        assert stranger.poll() is None
        stranger.kill()
    for name, process in services.started:
        assert process.alive == (name == up.HOST)
        process.stop(0.0)
    assert up.stop_all(services.home) == ()


def test_where_nothing_was_ever_started_there_is_nothing_to_stop(tmp_path: Path):
    assert up.stop_all(tmp_path / "nowhere") == ()
    assert not (tmp_path / "nowhere").exists()


# --- what an earlier version left


def test_servers_that_let_everybody_in_are_restarted(services: FakeServices):
    up.start_all(services.home)
    there = read_up(services.home)
    write_up(services.home, replace(there, settings={"database_url": "postgresql://postgres:@/postgres"}))
    services.take_started()
    up.start_all(services.home)
    assert services.take_started() == sorted([up.POSTGRES, up.TEMPORAL, up.WORKER])


def test_asking_for_the_web_page_restarts_temporal(services: FakeServices):
    up.start_all(services.home)
    services.take_started()
    up.start_all(services.home, ui=True)
    assert services.take_started() == sorted([up.TEMPORAL, up.WORKER])


def test_keys_are_made_once_and_records_in_clear_are_deleted(tmp_path: Path):
    (tmp_path / "temporal").mkdir()
    (tmp_path / "temporal" / "temporal.db").write_text("Order one desk lamp")
    file = up._ensure_keys(tmp_path)
    assert file.stat().st_mode & 0o077 == 0
    assert not (tmp_path / "temporal").exists()
    (key,) = read_keys(file)
    (tmp_path / "temporal").mkdir()
    assert read_keys(up._ensure_keys(tmp_path)) == (key,)
    assert (tmp_path / "temporal").exists()
