"""A session: what it stores, who owns it, and that no Chromium outlives its host."""

import asyncio
import json
import os
import signal
import stat
from pathlib import Path

import pytest

from midcourse.codec import decode
from midcourse.errors import TaskInvalid
from midcourse.pictures import read_picture
from midcourse.worlds.browser import Browser
from midcourse.worlds.browser.page.screenshots import Screenshots, SecretLocator, When
from midcourse.worlds.host.wire import Ready
from midcourse.worlds.remote import RemoteWorld
from tests.pages import Pages
from tests.worlds.browser.visitor import Visitor, ok, visiting
from tests.worlds.support import Hand

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

LOG_IN = "<button onclick=\"document.cookie='user=ada;max-age=999'; localStorage.theme='dark'; b.textContent='In'\">Log in</button><p id=b>Out</p>"
SMALL = {"width": 200, "height": 100}
GREETING = "<p id=x></p><script>x.textContent = `${document.cookie} ${localStorage.theme}`</script>"


async def test_storage_is_saved_after_acts_and_loaded_at_open(pages: Pages, tmp_path: Path):
    file = tmp_path / "kept" / "ada.json"
    async with visiting(pages, storage=str(file)) as visitor:
        await visitor.visit(LOG_IN)
        ok(await visitor.on("Log in", "click"))
        assert json.loads(file.read_text())["cookies"][0]["name"] == "user"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    async with visiting(pages, storage=str(file)) as visitor:
        await visitor.visit(GREETING)
        assert "user=ada dark" in await visitor.labels("text")
    async with visiting(pages) as visitor:
        await visitor.visit(GREETING)
        assert "user=ada dark" not in await visitor.labels("text")


async def shots(visitor: Visitor) -> list[str]:
    """Of five looks: at a page, again, at what an act made of it, again, and after an act that failed."""
    await visitor.visit("<button onclick=\"this.textContent='Two'\">One</button><button disabled>No</button>")
    seen = [await visitor.see(), await visitor.see()]
    ok(await visitor.on("One", "click"))
    seen += [await visitor.see(), await visitor.see()]
    await visitor.world.act(visitor.call("click", seen[0].zones[2]))
    seen.append(await visitor.see())
    return ["x" if look.screenshot else "-" for look in seen]


async def test_screenshots_are_taken_according_to_the_policy(pages: Pages):
    policies: dict[When, str] = {"never": "-----", "on_change": "x-x--", "on_failure": "----x", "all": "xxxxx"}
    async with visiting(pages, **SMALL) as visitor:
        assert isinstance(visitor.world, Browser)
        for when, taken in policies.items():
            visitor.world._screenshots = Screenshots(when, SecretLocator())  # one browser will do for all four
            assert "".join(await shots(visitor)) == taken, when


async def test_screenshot_is_a_picture_without_passwords(pages: Pages):
    field = "<input type=password value={}>"
    async with visiting(pages, screenshots="all", **SMALL) as visitor:
        await visitor.visit(field.format("secret"))
        one = (await visitor.see()).screenshot
        await visitor.visit(field.format("quite-another"))
        other = (await visitor.see()).screenshot
        assert isinstance(visitor.world, Browser)
        data = await visitor.world.read_screenshot(one)
        assert await visitor.world.read_screenshot("0" * 64) is None
    picture = read_picture(data or b"")
    assert picture is not None
    assert (picture.media_type, picture.digest) == ("image/webp", one)
    assert (picture.width, picture.height) == (SMALL["width"], SMALL["height"])
    assert one == other


async def test_unknown_screenshot_policy_is_refused():
    with pytest.raises(TaskInvalid, match="never, on_change, on_failure or all"):
        Browser("http://127.0.0.1/", screenshots="sometimes")  # pyrefly: ignore[bad-argument-type]


def children(pid: int) -> list[int]:
    """All processes below this one."""
    found = [int(one) for file in Path(f"/proc/{pid}/task").glob("*/children") for one in file.read_text().split()]
    return found + [below for one in found for below in children(one)]


def is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has ended meanwhile
        return b""


async def test_no_process_draws_an_address_bar(pages: Pages):
    """Chromium has one for its popup in every context otherwise, which takes as much time as most pages do."""
    async with visiting(pages, **SMALL) as visitor:
        await visitor.visit("<p>Hello")
        commands = [command_of(pid) for pid in children(os.getpid())]
    assert sum(b"--type=renderer" in command for command in commands) >= 1
    assert not [command for command in commands if b"--top-chrome-webui" in command]


async def test_session_is_taken_over_and_chromium_dies_with_the_host(pages: Pages, tmp_path: Path):
    """Page, cookies and what is typed are as they were, and kill -9 of the host leaves no process behind."""
    start = pages.show("/form", f"{LOG_IN}<input aria-label=Name>", title="Form")
    spec, options = "midcourse.worlds.browser:Browser", {"start": start, "quiet_seconds": 0.03}
    first = RemoteWorld(spec, options=options, folder=tmp_path, idle=60.0)
    handle = await first.open()
    hand = Hand(first)
    ok(await hand.on("Log in", "click"))
    ok(await hand.on("Name", "type", text="half done"))
    before = await hand.see()

    second = RemoteWorld(spec, options=options, folder=tmp_path, idle=60.0)
    assert await second.attach(handle)
    hand = Hand(second)
    hand.command = 10
    after = await hand.see()
    assert (after.surface, after.zones) == (before.surface, before.zones)
    assert (await first.act(hand.call("click", before.zones[1]))).reason == "fenced"
    ok(await hand.on("Log in", "click"))

    (ready,) = tmp_path.glob("host-*.json")
    host = decode(Ready, ready.read_bytes()).pid
    browsers = children(host)
    assert len(browsers) > 2
    os.kill(host, signal.SIGKILL)
    async with asyncio.timeout(600):
        while any(is_there(pid) for pid in browsers):
            await asyncio.sleep(0.05)
