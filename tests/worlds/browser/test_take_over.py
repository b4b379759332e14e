"""A person uses the browser: nothing is held until the run looks again."""

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import Generator
from typing import Any

import pytest

from midcourse.worlds.browser import Browser
from tests.pages import Pages
from tests.worlds.browser.visitor import Visitor, ok, page_of, visiting

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

FORM = "<form method=post action=/save><input name=name aria-label=Name><button>Save</button></form>"


async def test_requests_of_a_person_are_sent_and_later_ones_are_held_again(visitor: Visitor):
    visitor.pages.show("/save", "<h1>Saved</h1>", title="Saved")
    await visitor.visit(FORM)
    await visitor.world.attend()
    await page_of(visitor).get_by_role("button").click()
    await page_of(visitor).wait_for_url("**/save")
    assert visitor.pages.hits[-1] == "POST /save"
    assert await visitor.title() == "Saved"
    await visitor.visit(FORM)
    assert (await visitor.on("Save", "click")).reason == "would_send"


async def test_request_of_an_act_is_held_after_a_person_attended(visitor: Visitor):
    await visitor.visit(FORM)
    save = await visitor.zone("Save")
    await visitor.world.attend()
    assert (await visitor.do("click", save)).reason == "would_send"


async def test_a_tab_that_a_person_opens_is_in_front(visitor: Visitor):
    there = visitor.pages.show("/other", "<p>Other</p>", title="Other")
    await visitor.visit(f"<a href='{there}' target=_blank>Open</a>")
    await visitor.world.attend()
    async with page_of(visitor).expect_popup():
        await page_of(visitor).get_by_role("link").click()
    assert await visitor.title() == "Other"
    ok(await visitor.do("close_tab", (await visitor.see()).zones[0]))


async def test_dialog_that_a_person_answered_is_closed(visitor: Visitor):
    """Without our skills, as a person at the window does."""
    await visitor.visit("<button onclick=\"document.title = confirm('Sure?')\">Ask</button>")
    person: Any = await page_of(visitor).context.new_cdp_session(page_of(visitor))
    await person.send("Page.enable")
    ok(await visitor.on("Ask", "click"))
    await person.send("Page.handleJavaScriptDialog", {"accept": True})
    ok(await visitor.do("wait_for", text="true", seconds=30))


# --- with a window


class Fingers:
    """On a real mouse and keyboard, as far as the X server can tell."""

    def __init__(self, visitor: Visitor) -> None:
        self._visitor = visitor

    async def click(self, selector: str) -> None:
        page = page_of(self._visitor)
        box = await page.locator(selector).bounding_box()
        assert box
        window = json.loads(await page.evaluate("JSON.stringify([screenX, screenY + outerHeight - innerHeight])"))
        await self._do(
            "mousemove", str(int(window[0] + box["x"] + 9)), str(int(window[1] + box["y"] + 9)), "click", "1"
        )

    async def type(self, text: str) -> None:
        await self._do("type", text)

    async def press(self, key: str) -> None:
        await self._do("key", key)

    async def _do(self, *words: str) -> None:
        await asyncio.to_thread(subprocess.run, ["xdotool", *words], check=True)


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    if not (shutil.which("Xvfb") and shutil.which("xdotool")):
        pytest.skip("needs Xvfb and xdotool")
    heard, says = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(says), "-screen", "0", "1400x1000x24"], pass_fds=[says], stderr=subprocess.DEVNULL
    )
    with os.fdopen(heard) as number:
        os.close(says)
        monkeypatch.setenv("DISPLAY", f":{number.readline().strip()}")
    yield
    server.terminate()
    server.wait()


async def test_a_person_works_in_the_window(display: None, pages: Pages):
    pages.show("/save", "<h1>Saved</h1>", title="Saved")
    async with visiting(pages, headed=True) as visitor:
        assert isinstance(visitor.world, Browser)
        await visitor.visit(FORM + "<button id=ask onclick=\"document.title = confirm('Sure?')\">Ask</button>")
        assert await visitor.world.attend() == "in the browser's window"
        person = Fingers(visitor)
        await person.click("#ask")
        await _until(lambda: visitor.world._tab.dialog is not None)
        await person.press("Return")
        await page_of(visitor).wait_for_function("document.title === 'true'")
        await person.click("input")
        await person.type("Ada")
        await person.press("Return")
        await page_of(visitor).wait_for_url("**/save")
        assert await visitor.title() == "Saved"
    assert pages.bodies["/save"] == b"name=Ada"


async def _until(holds: Any) -> None:
    async with asyncio.timeout(600):
        while not holds():
            await asyncio.sleep(0.02)
