"""The live view and a take-over in the console: an administrator fills in a form in a headless Chromium, a viewer only watches."""

import re
from collections.abc import Generator

import pytest
from playwright.async_api import expect

from tests.console.visit import Console
from tests.pages import Pages, serve_pages
from tests.server.serving import PATIENCE, start, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]
expect.set_options(timeout=PATIENCE * 1000)

AT = "style='position:absolute; left:100px; top:{}px; width:300px; height:60px'"
FORM = f"""<form method=post action=/save><input name=name aria-label=Name {AT.format(100)}>
<button {AT.format(200)}>Save</button></form>"""
TASK = """
goal = "Save a name"
[world]
name = "browser"
[world.options]
start = "{start}"
[planner]
name = "playbook"
[[planner.rules]]
final = true
steps = [{{ zone = "button:Save", skill = "click", says = "Save it" }}]
[settings]
approvals = "always"
"""


@pytest.fixture(scope="module")
def pages() -> Generator[Pages]:
    with serve_pages() as there:
        there.show("/save", "<h1>Saved</h1>", title="Saved")
        yield there


async def test_an_administrator_takes_over_and_a_viewer_watches(console: Console, pages: Pages) -> None:
    server = console.server
    (server.home / "tasks" / "form.toml").write_text(TASK.format(start=pages.show("/form", FORM, title="Form")))
    client = server.client("operator")
    start(client, "form", "form")
    wait_until(lambda: client.get("/runs/form").json()["state"] == "asking")

    viewer = server.keys["acme", "viewer"]
    async with (
        console.open_page(token=viewer) as watching,
        console.open_page(token=server.keys["acme", "admin"]) as visit,
    ):
        await watching.go("/runs/form")
        await expect(watching.page.locator("[data-live]")).to_be_visible()
        await expect(watching.page.get_by_role("button", name="Take over")).to_have_count(0)

        page = visit.page
        await visit.go("/runs/form")
        await expect(page.locator("[data-live]")).to_be_visible()
        await page.keyboard.press("t")
        await page.get_by_role("dialog").get_by_role("button", name="Take over").click()
        held = page.locator("[data-taken-over]")
        await expect(held.locator("img")).to_be_visible()
        await expect(watching.page.locator("h1")).to_have_text("Paused: acme-admin has taken over.")
        await expect(watching.page.locator("[data-taken-over]")).to_have_count(0)
        assert await visit.find_violations() == []

        box = await held.bounding_box()
        assert box
        scale = box["width"] / 1280
        await held.click(position={"x": 150 * scale, "y": 130 * scale})
        await page.keyboard.type("Ada p")  # of which p is a key of this page elsewhere
        for _ in range(60):  # a gesture is given up after five seconds, which a busy machine may take
            await held.click(position={"x": 150 * scale, "y": 230 * scale})
            await page.wait_for_timeout(1000)
            if "POST /save" in pages.hits:
                break
        await page.get_by_role("button", name="Hand back and resume").click()
        await expect(held).to_have_count(0)
        # a gesture that was given up, and the next picture after the run was handed back, are refused
        visit.problems[:] = [one for one in visit.problems if "409 (Conflict)" not in one]
        log = page.get_by_role("log")
        await expect(log).to_contain_text(f"sent POST {pages.url}/save")
        assert pages.bodies["/save"] == b"name=Ada+p", await log.inner_text()
        typed = re.findall(r"typed into field 'Name' \((\d) character", await log.inner_text())
        assert sum(map(int, typed)) == len("Ada p")  # in several entries if typing takes longer than two seconds
    server.client().post("/runs/form/cancel", json={})
