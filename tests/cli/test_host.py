"""`midcourse fleet host` as people and programs start, watch and stop it."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from midcourse.codec import decode
from midcourse.worlds.host.wire import Handle, Ready, read_host_file
from midcourse.worlds.remote import RemoteWorld
from tests.cli.conftest import Cli
from tests.cli.test_terminal import run_in_terminal
from tests.forked import Forked
from tests.worlds.host_process import DIARY, GATE, SHOP, SLEEPER, run_host
from tests.worlds.support import Hand, ok


def wait_until(condition: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < give_up_at
        time.sleep(0.01)


def open_world(host: Handle, spec: str, key: str, **options: object) -> RemoteWorld:
    world = RemoteWorld(spec, options=options, host=host, key=key)
    asyncio.run(world.open())
    return world


@pytest.mark.slow
def test_it_says_where_it_listens_and_lets_nobody_else_read_the_token(tmp_path: Path) -> None:
    with run_host(tmp_path, worlds="shop,web") as there:
        file = tmp_path / "host.json"
        ready = decode(Ready, file.read_bytes())
        assert ready.pid == there.process.pid
        assert ready.url.startswith("http://127.0.0.1:")
        assert file.stat().st_mode & 0o777 == 0o600
        assert there.printed == {
            "url": ready.url,
            "pid": ready.pid,
            "ready": str(file),
            "worlds": ["shop", "web"],
        }
        there.process.send_signal(signal.SIGTERM)
        assert there.process.wait(120) == 0
        assert there.process.stdout.read() == ""
    assert not file.exists()


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_told_to_stop_it_lets_acts_finish_and_closes_every_world(tmp_path: Path, stop: signal.Signals) -> None:
    async def play(host: Handle, process: Forked) -> None:
        gate, diary = (
            RemoteWorld(spec, options={"folder": str(tmp_path)}, host=host, key=spec) for spec in (GATE, DIARY)
        )
        await gate.open()
        await diary.open()
        acting = asyncio.create_task(Hand(gate).do("work", name="one"))
        while not (tmp_path / "one.begun").exists():
            await asyncio.sleep(0.01)
        process.send_signal(stop)
        while not (tmp_path / "closed").exists():
            await asyncio.sleep(0.01)
        assert process.poll() is None
        (tmp_path / "go").touch()
        ok(await acting)

    with run_host(tmp_path) as there:
        asyncio.run(play(there.host, there.process))
        assert there.process.wait(120) == 0


@pytest.mark.slow
def test_a_world_that_never_closes_does_not_keep_it_for_ever(tmp_path: Path) -> None:
    async def play(host: Handle, process: Forked) -> None:
        world = RemoteWorld(SLEEPER, options={"folder": str(tmp_path)}, host=host)
        await world.open()
        acting = asyncio.create_task(Hand(world).do("work", name="one"))
        while not (tmp_path / "one.begun").exists():
            await asyncio.sleep(0.01)
        process.terminate()
        outcome = await acting
        assert (outcome.status, outcome.reason) == ("unknown", "world_lost")

    with run_host(tmp_path, "--grace", "0.2") as there:
        asyncio.run(play(there.host, there.process))
        assert there.process.wait(120) == 1
        assert "did not close" in json.loads(there.process.stdout.read())["error"]


@pytest.mark.slow
def test_in_a_log_it_says_what_is_opened_and_closed_and_how_to_stop_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "midcourse", "fleet", "host", "--worlds", "shop"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True) as host:
        try:
            ready = tmp_path / ".midcourse" / "host.json"
            wait_until(ready.exists)
            world = open_world(read_host_file(ready), SHOP, "run-1\nforged line")
            asyncio.run(world.close())
            host.terminate()
            out, err = host.communicate(timeout=600)
        finally:
            host.kill()
    assert f"process {host.pid}" in out.splitlines()[0]
    assert f"kill {host.pid}" in out
    assert ".midcourse/host.json" in out
    assert out.splitlines()[-1] == "stopped; 1 session served"
    assert f"{SHOP} is open for 'run-1\\nforged line'" in err
    assert "is closed after 0 acts" in err


@pytest.mark.slow
def test_at_a_terminal_the_sessions_are_seen_and_ctrl_c_stops_it(tmp_path: Path) -> None:
    with run_in_terminal(tmp_path, "fleet", "host") as user:
        user.wait_for("http://127.0.0.1:")
        user.wait_for("Ctrl-C closes every world and stops")
        host = read_host_file(tmp_path / ".midcourse" / "host.json")
        world = open_world(host, SHOP, "the run of \x1b[31mred")
        asyncio.run(Hand(world).do("go", page="basket"))
        user.wait_for("1 session now")
        user.wait_for("shop")
        user.wait_for("the run of \\x1b[31mred")
        for number in range(30):
            open_world(host, SHOP, f"run-{number}")
        user.wait_for("31 sessions now")
        user.wait_for("more")
        user.type("\x03")
        assert user.wait_for_exit() == 0
        assert "stopped; 31 sessions served" in user.output
        assert user.is_echoing()


@pytest.mark.slow
def test_its_token_can_be_given(tmp_path: Path) -> None:
    token = "a-token-of-our-own-choice"
    (tmp_path / "token").write_text(f"{token}\n")
    with run_host(tmp_path, "--token-file", str(tmp_path / "token")) as there:
        assert there.host.token == token
        open_world(there.host, SHOP, "run-1")


@pytest.mark.parametrize("token", ["", "short", "with a space in the middle", "naïve-but-long-enough"])
def test_a_token_that_is_none_is_refused(cli: Cli, tmp_path: Path, token: str) -> None:
    (tmp_path / "token").write_text(token)
    result = cli("fleet", "host", "--token-file", "token")
    assert result.code == 2
    assert "cannot be guessed" in result.err


@pytest.mark.parametrize(
    ("worlds", "says"),
    [
        ("shopp", "did you mean 'shop'"),
        ("no.such.module:World", "No module named 'no'"),
        ("midcourse.worlds.simulated:Novel", "has no attribute 'Novel'"),
    ],
)
def test_a_world_that_is_not_there_is_misuse(cli: Cli, worlds: str, says: str) -> None:
    result = cli("fleet", "host", "--json", "--worlds", f"erp,{worlds}")
    assert result.code == 2
    assert says in result.json["error"]


def test_a_port_that_is_taken_is_named(cli: Cli, home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = cli("fleet", "host", "--port", str(port))
    assert result.code == 2
    assert f"127.0.0.1:{port}" in result.err
    assert not home.exists()


@pytest.mark.slow
def test_a_second_host_in_one_home_keeps_its_file_when_the_first_goes(tmp_path: Path) -> None:
    with run_host(tmp_path) as first, run_host(tmp_path) as second:
        first.process.terminate()
        assert first.process.wait(120) == 0
        assert read_host_file(tmp_path / "host.json") == second.host
        open_world(second.host, SHOP, "run-1")
