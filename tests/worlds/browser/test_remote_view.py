"""Watching and taking over a browser at a host, by the handle of its session, as the server of a fleet does."""

from pathlib import Path

import pytest

from midcourse.ports.viewing import Gesture, NotAttended
from midcourse.worlds.host.lifecycle import HostConfig, serve_host
from midcourse.worlds.host.registry import WorldRegistry
from midcourse.worlds.host.wire import read_host_file
from midcourse.worlds.remote import RemoteWorld, hand_over, handle_in_session, view_session
from tests.pages import Pages
from tests.worlds.host_process import SHOP
from tests.worlds.support import Hand

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

BROWSER = "midcourse.worlds.browser:Browser"
BUTTON = "<form method=post action=/far><button style='position:absolute; left:0; top:0; width:200px; height:80px'>Far</button></form>"
CLICK = (Gesture(kind="press", x=0.05, y=0.05), Gesture(kind="release", x=0.05, y=0.05))


async def test_a_session_at_a_host_is_watched_and_taken_over(pages: Pages, tmp_path: Path) -> None:
    ready = tmp_path / "host.json"
    worlds = WorldRegistry([BROWSER, SHOP], home=tmp_path, private=True)
    async with serve_host(HostConfig(worlds=worlds, ready=ready, idle=60.0)):
        host = read_host_file(ready)
        options = {"start": pages.show("/page", BUTTON, title="Far"), "quiet_seconds": 0.03}
        world = RemoteWorld(BROWSER, options=options, host=host, key="run-1")
        handle = await world.open()
        await Hand(world).see()
        seen = await view_session(handle, "")
        assert seen is not None
        assert seen.picture.startswith(b"\xff\xd8")
        again = await view_session(handle, seen.stamp)
        assert again is not None
        assert not again.picture

        with pytest.raises(NotAttended):
            await handle_in_session(handle, CLICK, None)
        await hand_over(handle)
        shown = await handle_in_session(handle, (), "")
        assert shown.view.picture.startswith(b"\xff\xd8")
        clicked = await handle_in_session(handle, CLICK, None)
        sent = await handle_in_session(handle, (), None)
        assert [deed.what for deed in (*clicked.deeds, *sent.deeds)] == ["button 'Far'", f"POST {pages.url}/far"]
        await Hand(world).see()
        with pytest.raises(NotAttended):
            await handle_in_session(handle, (), "")
        await world.close()

        shop = RemoteWorld(SHOP, host=host, key="run-2")
        assert await view_session(await shop.open(), "") is None
        await shop.close()
    with pytest.raises(ConnectionError):
        await view_session(handle, "")
