"""What the token of a shared host is worth: it opens the worlds that were named, and gives neither a shell nor access to a network."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from midcourse.cli.commands.fleet.host import Listening
from midcourse.cli.main import main
from midcourse.codec import decode, encode
from midcourse.errors import TaskInvalid
from midcourse.files import folder_of_run
from midcourse.ports.world import WorldAway
from midcourse.worlds.browser import Browser
from midcourse.worlds.browser.egress.address import AddressRefused
from midcourse.worlds.host import sessions
from midcourse.worlds.host.lifecycle import Host, HostConfig, serve_host
from midcourse.worlds.host.registry import NotServed, WorldRegistry
from midcourse.worlds.host.wire import Handle, read_host_file
from midcourse.worlds.remote import RemoteWorld, view_session
from midcourse.worlds.simulated import read_effects
from tests.worlds.browser.tls import certificate_files
from tests.worlds.host_process import SHOP
from tests.worlds.support import Hand, ok
from tests.worlds.test_shop import fill_in

BROWSER = "midcourse.worlds.browser:Browser"
START = "https://shop.example/"


@asynccontextmanager
async def serving(tmp_path: Path, worlds: WorldRegistry, **terms: Any) -> AsyncIterator[tuple[Host, Handle]]:
    ready = tmp_path / "host.json"
    async with serve_host(HostConfig(worlds=worlds, ready=ready, **terms)) as host:
        yield host, read_host_file(ready)


@pytest.mark.parametrize(
    ("world", "options"),
    [
        (SHOP, {"effects": "/tmp/effects.jsonl"}),
        *((BROWSER, {"start": START, name: "/bin/sh"}) for name in ("executable", "storage", "downloads")),
        *((BROWSER, {"start": START, name: "/etc"}) for name in ("authorities", "uploads", "within")),
        (BROWSER, {"start": START, "sandbox": "off"}),
        (BROWSER, {"start": START, "sessions_per_chromium": 1000}),
    ],
)
async def test_a_session_cannot_name_programs_or_files_of_the_host(world: str, options: Mapping[str, str]) -> None:
    with pytest.raises(NotServed, match="set by the operator of the host"):
        await WorldRegistry([SHOP, BROWSER]).make(world, options)


async def test_a_session_cannot_have_the_host_read_a_policy_file() -> None:
    with pytest.raises(NotServed, match="not a file name"):
        await WorldRegistry([BROWSER]).make(BROWSER, {"start": START, "origins": "/etc/passwd"})


async def test_what_the_host_is_started_with_counts_for_every_session_and_cannot_be_changed() -> None:
    worlds = WorldRegistry([SHOP], options={SHOP: {"seed": 7}})
    assert getattr(await worlds.make(SHOP, {}), "_seed") == 7  # noqa: B009
    with pytest.raises(NotServed, match="seed"):
        await worlds.make(SHOP, {"seed": 8})
    with pytest.raises(NotServed, match="no option 'executible'"):
        WorldRegistry([BROWSER], options={BROWSER: {"executible": "/usr/bin/chromium"}})


async def test_what_a_session_writes_is_in_a_folder_that_the_host_chooses(tmp_path: Path) -> None:
    async with serving(tmp_path, WorldRegistry([SHOP], home=tmp_path)) as (_, host):
        world = RemoteWorld(SHOP, host=host, key="acme/run-1")
        await world.open()
        await fill_in(hand := Hand(world), "R-1")
        ok(await hand.on("Place order", "place_order"))
    assert len(read_effects(tmp_path / "tenants/acme/runs/run-1/effects.jsonl")) == 1


@pytest.mark.parametrize(
    "key", ["../x", "a/../b", "..", "a/..", "/etc/x", "a/b/c", "a\0b", "", "x" * 200, "\ud800", ".x"]
)
def test_no_key_leads_out_of_the_folder(key: str) -> None:
    folder = folder_of_run(key)
    assert not folder.is_absolute()
    assert folder.parts[0] == "runs"
    assert ".." not in folder.parts


def test_tenants_with_the_same_run_id_have_folders_of_their_own() -> None:
    found = {folder_of_run(key) for key in ("default/r", "acme/r", "other/r")}
    assert len(found) == 3
    assert folder_of_run("default/r") == folder_of_run("r") == Path("runs/r")


# --- whom it may speak to


def private(url: str) -> dict[str, dict[str, bool]]:
    return {url: {"private": True}}


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254", "http://10.0.0.1", "http://127.0.0.1:9", "http://localhost:9"]
)
async def test_without_a_policy_of_its_own_a_host_reaches_no_private_network(url: str) -> None:
    for options in ({"start": url}, {"start": START, "origins": private(url)}):
        with pytest.raises(NotServed):
            await WorldRegistry([BROWSER]).make(BROWSER, options)


async def test_a_name_that_a_session_calls_private_is_not() -> None:
    with pytest.raises(NotServed, match="private network"):
        await WorldRegistry([BROWSER]).make(BROWSER, {"start": START, "origins": private("http://metadata.internal")})


def test_a_session_can_only_narrow_the_policy_of_the_host() -> None:
    within = {
        "https://shop.example": {"safe": ["POST /draft*"], "unsafe": ["GET /delete*"]},
        "https://*.cdn.shops.example": {},
        "http://intranet.example": {"private": True},
    }
    origins = {
        "https://shop.example": {"safe": ["POST /draft*", "POST /orders", "GET /delete*"]},
        "https://*.shops.example": {},
        "http://intranet.example": {"private": True},
    }
    allowed = Browser(START, origins=origins, within=within)._options.origins
    assert allowed.is_safe("POST", f"{START}draft/1")
    assert not allowed.is_safe("POST", f"{START}orders")
    assert not allowed.is_safe("GET", f"{START}delete?id=1")
    assert allowed.check("https://a.cdn.shops.example/")[1].private is False
    assert allowed.check("http://intranet.example/")[1].private is True
    with pytest.raises(AddressRefused):
        allowed.check("https://b.shops.example/")
    with pytest.raises(TaskInvalid, match="not in the policy of this world host"):
        Browser(START, origins={"https://evil.example": {}}, within=within)
    with pytest.raises(TaskInvalid, match="not in the policy of this world host"):
        Browser("https://evil.example/", within=within)


# --- how many


async def test_a_host_that_is_full_says_so_and_takes_the_next_one_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "WAITS_FOR_ROOM", 0.05)
    async with serving(tmp_path, WorldRegistry([SHOP]), most=2) as (host, there):
        worlds = [RemoteWorld(SHOP, host=there, key=f"run-{number}") for number in range(3)]
        await worlds[0].open()
        await worlds[1].open()
        for _ in range(2):
            with pytest.raises(WorldAway, match="2 sessions open, its limit"):
                await worlds[2].open()
        await worlds[1].open()  # the same session once more is none beside it
        assert len(host.sessions) == 2
        await worlds[0].close()
        await worlds[2].open()


# --- the wire


@pytest.mark.parametrize("address", ["0.0.0.0", "192.168.1.5", "::", "worlds.internal"])
def test_no_plain_http_beyond_this_machine(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "host", "--address", address]) == 2
    assert "secrets would cross the network in plain HTTP" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_plain_http_on_this_machine(address: str) -> None:
    assert Listening(address=address, port=0).tls() is None


def test_plain_http_where_something_else_encrypts() -> None:
    assert Listening(address="0.0.0.0", port=0, tls_elsewhere=True).tls() is None


async def test_a_host_with_a_certificate_is_worked_over_https(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, key = certificate_files(tmp_path)
    tls = Listening(address="127.0.0.1", port=0, certificate=str(certificate), key=str(key)).tls()
    async with serving(tmp_path, WorldRegistry([SHOP], home=tmp_path), tls=tls) as (_, host):
        assert host.url.startswith("https://")
        with pytest.raises(ConnectionError, match=r"the certificate of 127\.0\.0\.1 is not trusted: self-signed"):
            await RemoteWorld(SHOP, host=host, key="run-1", timeout=5.0).open()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        worlds = [RemoteWorld(SHOP, host=host, key=f"run-{number}", timeout=20.0) for number in range(5)]
        await asyncio.gather(*(world.open() for world in worlds))
        for _ in range(3):
            assert [await Hand(world).title() for world in worlds] == ["Catalogue"] * 5
        plain = Handle(url=host.url.replace("https", "http"), token=host.token)
        with pytest.raises(ConnectionError):
            await RemoteWorld(SHOP, host=plain, key="run-9", timeout=5.0).open()


async def test_a_host_file_names_the_certificates_that_clients_trust_for_its_host_besides_those_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    certificate, key = certificate_files(tmp_path)
    other, _ = certificate_files(tmp_path / "other")
    tls = Listening(address="127.0.0.1", port=0, certificate=str(certificate), key=str(key)).tls()
    file = tmp_path / "host.json"
    async with serving(tmp_path, WorldRegistry([SHOP], home=tmp_path), tls=tls) as (_, without):
        written = json.loads(file.read_bytes())

        def host(ca: Path) -> Handle:
            file.write_text(json.dumps({**written, "ca": str(ca)}))
            return read_host_file(file)

        handle = await RemoteWorld(SHOP, host=host(certificate), key="run-1", timeout=20.0).open()
        assert await view_session(handle, "") is None, "the server, which has the handle only, reaches the session"
        with pytest.raises(ConnectionError, match="is not trusted"):
            await RemoteWorld(SHOP, host=host(other), key="run-2", timeout=5.0).open()
        with pytest.raises(ConnectionError, match=r"certificates in .*missing\.crt cannot be read"):
            await RemoteWorld(SHOP, host=host(tmp_path / "missing.crt"), key="run-2", timeout=5.0).open()

        earlier = replace(decode(Handle, handle), ca="")
        assert not await RemoteWorld(SHOP, host=without, timeout=5.0).attach(encode(earlier))
        assert await RemoteWorld(SHOP, host=host(certificate), timeout=20.0).attach(encode(earlier))

        other.write_bytes(certificate.read_bytes())  # as when certificates are renewed
        await RemoteWorld(SHOP, host=host(other), key="run-3", timeout=20.0).open()
        certificate_files(tmp_path / "other")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))  # what the system trusts
        await RemoteWorld(SHOP, host=host(other), key="run-4", timeout=20.0).open()
