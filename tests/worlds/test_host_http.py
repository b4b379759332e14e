"""HTTP of a host: authentication, refusals, and that one client cannot block others."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from midcourse.codec import decode
from midcourse.domain.observation import Observation
from midcourse.worlds import host_client as posting
from midcourse.worlds.host import server
from midcourse.worlds.host.wire import Handle
from midcourse.worlds.host_client import HostError, HostTimeout, HostUnreachable, post
from tests.worlds.support import Hand, ok
from tests.worlds.test_host import until
from tests.worlds.test_host_many import GATE, at, serving, shop


@dataclass(frozen=True, kw_only=True)
class Wire:
    """A connection to a host, byte by byte."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, method: str, path: str, token: str = "", body: bytes = b"", *more: str) -> None:
        lines = [
            f"{method} {path} HTTP/1.1",
            "Host: x",
            f"Authorization: Bearer {token}",
            f"Content-Length: {len(body)}",
            *more,
        ]
        await self.write("\r\n".join([*lines, "", ""]).encode() + body)

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def reply(self) -> tuple[int, Any]:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        body = await self.reader.readexactly(length)
        return int(head.split(" ")[1]), json.loads(body) if body else None

    async def ends(self) -> bool:
        async with asyncio.timeout(600):
            try:
                return await self.reader.read() == b""
            except ConnectionError:
                return True


@asynccontextmanager
async def wire(host: Handle) -> AsyncIterator[Wire]:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(host.url.rpartition(":")[2]))
    try:
        yield Wire(reader=reader, writer=writer)
    finally:
        writer.close()


# --- who is answered


async def test_a_person_can_list_the_sessions(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, host), wire(host) as line:
        world = shop(host, "run-1")
        await world.open()
        ok(await Hand(world).do("go", page="basket"))
        gate = at(GATE, host, "run-2", tmp_path)
        await gate.open()
        acting = asyncio.create_task(Hand(gate).do("work", name="one"))
        await until((tmp_path / "one.begun").exists)
        await line.send("GET", "/sessions", host.token)
        status, (first, second) = await line.reply()
        assert status == 200
        assert (first["world"], first["key"]) == ("midcourse.worlds.simulated.shop:Shop", "run-1")
        assert (first["epoch"], first["acts"], first["closing"]) == (1, 1, False)
        assert first["open_seconds"] >= first["asked_seconds_ago"] > 0
        assert (second["key"], second["asked_seconds_ago"]) == ("run-2", 0)
        assert "token" not in json.dumps([first, second])
        (tmp_path / "go").touch()
        ok(await acting)


@pytest.mark.parametrize("path", ["/sessions", "/sessions/nobody/observe", "/", "/elsewhere", "/sessions/"])
@pytest.mark.parametrize("token", ["", "guess", "gu\xe9ss"])
async def test_without_a_token_everything_is_answered_with_nothing(tmp_path: Path, path: str, token: str) -> None:
    async with serving(tmp_path) as (_, host):
        for method in ("GET", "POST", "DELETE"):
            async with wire(host) as line:
                await line.send(method, path, token)
                assert await line.reply() == (401, None)
                assert await line.ends()


async def test_the_token_is_looked_at_before_the_body_is_waited_for(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, host), wire(host) as line:
        await line.write(
            b"POST /sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer guess\r\nContent-Length: 9999\r\n\r\n{"
        )
        assert await line.reply() == (401, None)


# --- what is refused, in JSON


@pytest.mark.parametrize(
    ("what", "body", "status", "says"),
    [
        ("POST /sessions", b"nonsense", 400, "JSON"),
        ("POST /sessions", b'{"world": 1}', 400, "world"),
        ("POST /sessions", b'{"world": "os:system", "options": {}, "key": "x"}', 422, "not served here"),
        ("GET /elsewhere", b"", 404, "not a request to a host"),
        ("DELETE /sessions", b"", 404, "not a request to a host"),
    ],
)
async def test_errors_of_a_host_are_json(tmp_path: Path, what: str, body: bytes, status: int, says: str) -> None:
    async with serving(tmp_path) as (_, host), wire(host) as line:
        method, _, path = what.partition(" ")
        for _ in range(2):  # the connection is good for another
            await line.send(method, path, host.token, body)
            answered, trouble = await line.reply()
            assert answered == status
            assert says in trouble["detail"]


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("nonsense", 400),
        ("GET /sessions", 400),
        ("GET /sessions HTTP/1.1\r\nnonsense", 400),
        ("GET /sessions HTTP/2.0", 505),
        ("POST /sessions HTTP/1.1\r\nContent-Length: -1", 400),
        ("POST /sessions HTTP/1.1\r\nContent-Length: ²", 400),
        ("POST /sessions HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2", 400),
        ("POST /sessions HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1", 400),
        ("POST /sessions HTTP/1.1\r\nContent-Length: 1, 1", 400),
        ("POST /sessions HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked", 400),
        ("POST /sessions HTTP/1.1\r\nX: a\r\n folded", 400),
        ("POST /sessions HTTP/1.1\r\nX: a\nContent-Length: 1", 400),
        ("POST /sessions HTTP/1.1\r\nTransfer-Encoding: chunked", 411),
        ("POST /sessions HTTP/1.1\r\nContent-Length: 16777217", 413),
        ("POST /sessions HTTP/1.1\r\nContent-Length: 99999999999999999999999", 413),
        ("GET /sessions HTTP/1.1\r\nX: " + "x" * 20_000, 431),
    ],
)
async def test_malformed_http_is_refused_and_closes_the_connection(tmp_path: Path, head: str, status: int) -> None:
    async with serving(tmp_path) as (_, host), wire(host) as line:
        await line.write(f"{head}\r\nHost: x\r\n\r\n".encode("latin-1"))
        answered, trouble = await line.reply()
        assert answered == status
        assert trouble["detail"]
        assert await line.ends()


async def test_a_body_that_is_too_large_is_refused_and_the_world_is_still_there(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, host):
        handle = decode(Handle, await shop(host, "run-1").open())
        with pytest.raises(HostError, match="at most 16777216 bytes"):
            await post(handle, "/act", "x" * (2**24 + 1), 20)
        await post(handle, "/observe", '{"epoch": 1}', 20)


async def test_exception_of_a_world_is_not_a_bad_request(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    async with serving(tmp_path) as (_, host):
        await (diary := at("tests.worlds.hosted:Diary", host, "run-1", tmp_path)).open()
        outcome = await Hand(diary).do("look_up", word="nowhere")
        assert (outcome.status, outcome.reason) == ("unknown", "error")
        assert "KeyError" in outcome.detail


# --- what one client can hold up


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET",
        b"GET /sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: 5\r\n\r\n123",
    ],
)
async def test_incomplete_request_closes_the_connection(
    tmp_path: Path, begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "REQUEST_SECONDS", 0.1)
    monkeypatch.setattr(server, "SWEEP", 0.01)
    async with serving(tmp_path) as (_, host), wire(host) as line:
        await line.write(begun.replace(b"{token}", host.token.encode()))
        assert await line.ends()


async def test_a_trickle_does_not_keep_a_request_alive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "REQUEST_SECONDS", 0.1)
    monkeypatch.setattr(server, "SWEEP", 0.01)

    async def trickle(line: Wire) -> None:
        while True:
            await line.write(b"x")
            await asyncio.sleep(0.01)

    async with serving(tmp_path) as (_, host), wire(host) as line:
        trickling = asyncio.create_task(trickle(line))
        assert await line.ends()
        trickling.cancel()
        await asyncio.wait({trickling})


async def test_idle_connection_is_closed_without_affecting_the_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "IDLE_SECONDS", 0.05)
    monkeypatch.setattr(server, "SWEEP", 0.01)
    async with serving(tmp_path) as (_, host), wire(host) as line:
        world = shop(host, "run-1")
        await world.open()
        await line.send("GET", "/sessions", host.token)
        await line.reply()
        assert await line.ends()
        ok(await Hand(world).do("go", page="basket"))


@pytest.mark.slow
async def test_an_answer_takes_as_long_as_the_world_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REQUEST_SECONDS", "IDLE_SECONDS", "SWEEP"):
        monkeypatch.setattr(server, name, 1.0)
    async with serving(tmp_path) as (_, host):
        await (gate := at(GATE, host, "run-1", tmp_path)).open()
        acting = asyncio.create_task(Hand(gate).do("work", name="one"))
        await until((tmp_path / "one.begun").exists)
        assert not (await asyncio.wait({acting}, timeout=2.5))[0]
        (tmp_path / "go").touch()
        ok(await acting)


# --- connections that are kept


async def test_requests_follow_one_another_on_one_connection(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, host), wire(host) as line:
        for _ in range(3):
            await line.send("GET", "/sessions", host.token)
            assert await line.reply() == (200, [])
        await line.send("GET", "/sessions", host.token)
        await line.send("GET", "/elsewhere", host.token)
        await line.send("GET", "/sessions", host.token, b"", "Connection: close")
        assert [(await line.reply())[0] for _ in range(3)] == [200, 404, 200]
        assert await line.ends()


async def test_a_request_may_come_in_pieces(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, host), wire(host) as line:
        body = json.dumps({"world": "midcourse.worlds.simulated.shop:Shop", "options": {}, "key": "x"}).encode()
        head = f"POST /sessions HTTP/1.1\r\nhost:x\r\nauthorization:bearer {host.token}\r\ncontent-length:{len(body)}\r\n\r\n"
        for byte in head.encode() + body:
            await line.write(bytes([byte]))
        assert (await line.reply())[0] == 200


async def test_one_connection_is_enough_for_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    connected = posting._connect

    async def counted(address: posting.HostAddress) -> Any:
        made.append(address)
        return await connected(address)

    monkeypatch.setattr(posting, "_connect", counted)
    async with serving(tmp_path) as (_, host):
        await (world := shop(host, "run-1")).open()
        hand = Hand(world)
        for page in ("basket", "checkout", "orders"):
            ok(await hand.do("go", page=page))
            await hand.see()
        await world.close()
    assert len(made) == 1


async def test_cancelled_request_does_not_leave_its_response_to_the_next(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, host):
        await (gate := at(GATE, host, "run-1", tmp_path)).open()
        acting = asyncio.create_task(Hand(gate).do("work", name="one"))
        await until((tmp_path / "one.begun").exists)
        acting.cancel()
        await asyncio.wait({acting})
        (tmp_path / "go").touch()
        assert isinstance(await gate.observe(), Observation)


# --- hosts that are none


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"", HostUnreachable),
        (b"HTTP/1.1 200 OK\r\nContent-Le", HostUnreachable),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{", HostUnreachable),
        (b"SSH-2.0-OpenSSH\r\n\r\n", HostUnreachable),
        (b"HTTP/1.1 200 OK\r\n\r\n", HostUnreachable),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}{}", HostUnreachable),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}", HostUnreachable),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", HostUnreachable),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", HostUnreachable),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20_000, HostUnreachable),
        (b"HTTP/1.1 418 no\r\nContent-Length: 0\r\n\r\n", HostError),
        (None, HostTimeout),
    ],
)
async def test_every_response_maps_to_one_of_five_results(answer: bytes | None, error: type[Exception]) -> None:
    """A connection that broke is not a host that is surely gone."""

    gone = asyncio.Event()

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        if answer is None:
            await reader.read()
        else:
            writer.write(answer)
        writer.close()
        await writer.wait_closed()
        gone.set()

    async with await asyncio.start_server(respond, "127.0.0.1", 0) as stranger:
        port = stranger.sockets[0].getsockname()[1]
        with pytest.raises(error) as raised:
            await post(Handle(url=f"http://127.0.0.1:{port}", token="x"), "/observe", "", 0.2 if answer is None else 20)
        assert not getattr(raised.value, "sure", False)
        await gone.wait()
