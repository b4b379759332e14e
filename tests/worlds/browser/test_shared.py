"""Sessions of a host that share a Chromium: what they share, and which sessions end if it is killed."""

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from midcourse.domain.observation import Observation, Unseen
from midcourse.worlds.host.lifecycle import Host, HostConfig, serve_host
from midcourse.worlds.host.registry import WorldRegistry
from midcourse.worlds.host.wire import read_host_file
from midcourse.worlds.remote import RemoteWorld
from tests.attacks.test_chromium_process import Process, below
from tests.worlds.browser.site import Answer, ReceivedRequest, Site
from tests.worlds.support import Hand, ok
from tests.worlds.test_host import until

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

BROWSER = "midcourse.worlds.browser:Browser"
FORM = "<title>Form</title><form method=post action=/order><button>Order</button></form>"


def greet(asked: ReceivedRequest) -> Answer:
    """A page that names its visitor by the cookie that the first visit sets."""
    cookie = asked.fields.get("cookie", "")
    page = f"<title>{cookie or 'no name'}</title><script>localStorage.visits = 1 + Number(localStorage.visits || 0)</script>"
    return Answer(page + "<p id=n></p><script>n.textContent = 'visit ' + localStorage.visits</script>")


def sign_in(asked: ReceivedRequest) -> Answer:
    name = asked.path.partition("=")[2]
    return Answer("<title>Signed in</title>", fields={"Set-Cookie": f"name={name}; Path=/"})


@asynccontextmanager
async def hosting(
    folder: Path, site: Site, *, sessions: int, park: float | None = None
) -> AsyncGenerator[tuple[Host, list[RemoteWorld]]]:
    """A host with two browsers in each Chromium, and this many sessions open."""
    options = {"within": {site.url: {"private": True}}, "sessions_per_chromium": 2, "quiet_seconds": 0.03}
    worlds = WorldRegistry([BROWSER], options={BROWSER: options}, home=folder)
    config = HostConfig(worlds=worlds, ready=folder / "host.json", park=park)
    async with serve_host(config) as host:
        there = read_host_file(folder / "host.json")
        several = [
            RemoteWorld(BROWSER, options={"start": f"{site.url}/"}, host=there, key=f"run-{number}")
            for number in range(sessions)
        ]
        for world in several:
            await world.open()
        yield host, several


def browsers() -> list[Process]:
    """The Chromium processes of this process that sessions share, without the one that all tests share."""
    found = [one for one in below(os.getpid()) if b"none.midcourse.invalid" in one.command and not one.kind]
    return [one for one in found if b"crashpad" not in one.command.split(b"\0")[0]]


async def test_sessions_share_only_a_chromium_and_its_kill_ends_only_them(
    tmp_path: Path,
) -> None:
    pages = {"/": greet, "/sign-in": sign_in, "/form": FORM}
    async with Site(pages).served() as site, hosting(tmp_path, site, sessions=3) as (host, several):
        first, second = browsers()
        hands = [Hand(world) for world in several]

        ok(await hands[0].do("navigate", url=f"{site.url}/sign-in?name=Ada"))
        for hand in hands:
            ok(await hand.do("navigate", url=f"{site.url}/"))
        assert [await hand.title() for hand in hands] == ["name=Ada", "no name", "no name"]
        for hand in hands:
            assert "visit 2" in {zone.label for zone in (await hand.see()).zones}, "its own first visit, and this one"

        for hand in (hands[0], hands[2]):
            ok(await hand.do("navigate", url=f"{site.url}/form"))
            assert (await hand.on("Order", "click")).reason == "would_send"
        held = ["request" in {zone.role for zone in (await hand.see()).zones} for hand in hands]
        assert held == [True, False, True]

        os.kill(first.pid, signal.SIGKILL)
        await until(lambda: len(host.sessions) == 1)
        for lost in several[:2]:
            seen = await lost.observe()
            assert isinstance(seen, Unseen)
            assert seen.reason == "world_lost"
        assert "request" in {zone.role for zone in (await hands[2].see()).zones}, "what it holds is still held"
        assert [one.pid for one in browsers()] == [second.pid]
        await several[0].open()
        assert await hands[0].title() == "no name"
        assert [one.pid for one in browsers()] == [second.pid], "there was room in the other one"
        assert site.effects() == []
        for world in several:
            await world.close()
        await until(lambda: browsers() == [])


async def test_a_parked_browser_is_gone_and_the_next_session_is_signed_in(tmp_path: Path) -> None:
    pages = {"/": greet, "/sign-in": sign_in}
    async with Site(pages).served() as site, hosting(tmp_path, site, sessions=1, park=1.0) as (host, [world]):
        ok(await Hand(world).do("navigate", url=f"{site.url}/sign-in?name=Ada"))
        await until(lambda: (len(host.sessions), host.sessions.parked) == (0, 1))
        await until(lambda: browsers() == [])
        await world.open()
        seen = await world.observe()
        assert isinstance(seen, Observation)
        assert seen.surface.title == "name=Ada"
        assert "visit 2" in {zone.label for zone in seen.zones}, "its local storage was kept, too"
