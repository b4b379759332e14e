"""A run from start to end in the console, by keyboard."""

import re

import pytest
from playwright.async_api import Route, expect

from tests.console.visit import Console, Visit
from tests.server.serving import PATIENCE, decide, find_question, read_stream, start, wait_for_end, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]
expect.set_options(timeout=PATIENCE * 1000)
SETTLE = 800
"""Milliseconds after which a card that stands still can be agreed to, and a little more."""


async def open_card(visit: Visit, run: str) -> None:
    await visit.go(f"/inbox?run={run}")
    await expect(visit.page.locator(f"[data-card^='{run} ']")).to_be_visible()


async def test_a_run_is_started_watched_approved_and_finished_by_keyboard(console: Console) -> None:
    async with console.open_page() as visit:
        page = visit.page
        await page.keyboard.press("n")
        await page.get_by_label("Task").select_option("lamp")
        await page.get_by_label("reference").fill("PO-77")
        await page.keyboard.press("Enter")
        await expect(page.locator("h1")).to_have_text("It waits for your answer.")
        run = re.search(r"/runs/([^?]+)", page.url)
        assert run
        await expect(page.get_by_role("log")).to_contain_text("held: Place the order")

        await page.keyboard.press("i")
        card = page.locator("[data-card]")
        await expect(card).to_contain_text("https://shop.example/orders")
        await expect(card).to_contain_text("PO-77")
        await expect(page.locator("[data-verdict=approved]")).to_be_enabled()
        await page.keyboard.press("a")
        await expect(page.get_by_role("status").filter(has_text="approved, exactly as shown")).to_be_visible()
        await expect(page.locator("h1")).to_have_text("Nothing waits for you.")

        await visit.go(f"/runs/{run[1]}")
        await expect(page.locator("h1")).to_have_text("Done, and verified.")
        decided = console.server.client().get(f"/runs/{run[1]}/journal").text
        assert '"by": "owner"' in decided or '"by":"owner"' in decided


async def test_a_card_is_not_approved_before_it_has_stood_still(console: Console) -> None:
    client = console.server.client()
    start(client, "hasty", task="lamp")
    asked = wait_until(lambda: find_question(client, "hasty"))
    async with console.open_page() as visit:
        page = visit.page
        await page.clock.install()
        await open_card(visit, "hasty")
        await page.clock.pause_at(await page.evaluate("Date.now()") + 5000)
        await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # it is looked at again
        approve = page.locator("[data-verdict=approved]")
        await expect(approve).to_be_disabled()
        await page.keyboard.press("a")
        await page.clock.run_for(600)
        await expect(approve).to_be_disabled()
        assert find_question(client, "hasty") == asked
        await page.clock.run_for(200)
        await expect(approve).to_be_enabled()
        await page.clock.resume()
        await approve.click()
        assert wait_for_end(client, "hasty")["result"]["verified"]


async def test_a_decision_about_what_is_not_asked_any_more_shows_the_difference(console: Console) -> None:
    client = console.server.client()
    start(client, "stale", task="lamp")
    asked = wait_until(lambda: find_question(client, "stale"))
    async with console.open_page() as visit:
        page = visit.page
        await open_card(visit, "stale")

        async def older(route: Route) -> None:  # what a page has that was not told of the change
            await route.continue_(post_data='{"verdict": "approved", "shown": ["00000000000000000000000000000000"]}')

        await page.route("**/questions/*", older)
        await expect(page.locator("[data-verdict=approved]")).to_be_enabled()
        await page.keyboard.press("a")
        await expect(page.get_by_role("alert")).to_contain_text("Nothing was decided")
        assert find_question(client, "stale") == asked
        visit.problems.clear()  # the refusal, as the browser reports it
    assert decide(client, asked, "rejected").status_code == 200


async def test_a_rejection_carries_its_guidance(console: Console) -> None:
    client = console.server.client()
    start(client, "no", task="lamp")
    wait_until(lambda: find_question(client, "no"))
    async with console.open_page() as visit:
        page = visit.page
        await open_card(visit, "no")
        await page.keyboard.press("r")
        await page.get_by_label("What should it do instead?").fill("Ask for a lower price")
        await page.get_by_role("button", name="Reject").last.click()
        await expect(page.get_by_role("status").filter(has_text="rejected")).to_be_visible()
    wait_until(lambda: "Ask for a lower price" in client.get("/runs/no/journal").text)
    client.post("/runs/no/cancel", json={})


async def test_a_connection_that_was_cut_continues_without_a_gap(console: Console) -> None:
    client = console.server.client()
    start(client, "cut", task="lamp")
    asked = wait_until(lambda: find_question(client, "cut"))
    async with console.line.open() as url, console.open_page(url=url) as visit:
        page = visit.page
        await visit.go("/runs/cut")
        await expect(page.locator("[data-connection=live]")).to_be_visible()
        shown_before = await visit.list_turns()
        resumed: list[str] = []
        page.on(
            "request",
            lambda message: (
                resumed.append(message.headers.get("last-event-id", "")) if message.url.endswith("/events") else None
            ),
        )
        console.line.cut()
        await expect(page.locator("[data-connection=lost]")).to_be_visible()
        assert decide(client, asked).status_code == 200
        wait_for_end(client, "cut")
        assert await visit.list_turns() == shown_before
        console.line.restore()
        await expect(page.locator("h1")).to_have_text("Done, and verified.")
        turns = [message.data for message in read_stream(client, "cut") if message.type == "turn"]
        lines = [str(turn["seq"]) for turn in turns if turn["line"]]
        await expect(page.locator("[data-seq]")).to_have_count(len(lines))
        assert await visit.list_turns() == lines
        assert "" not in resumed, "it was told everything again"
        visit.problems.clear()  # the browser reports every request that was not answered


async def test_what_cannot_be_read_at_a_glance_is_not_approved_with_one_key(console: Console) -> None:
    client = console.server.client()
    start(client, "long", task="lamp", inputs={"address": "1 Harbour Street, " * 80})
    asked = wait_until(lambda: find_question(client, "long"))
    assert asked["needs_all_values"]
    async with console.open_page() as visit:
        page = visit.page
        await open_card(visit, "long")
        approve = page.locator("[data-verdict=approved]")
        read = page.get_by_label("I have read all of it", exact=False)
        await page.wait_for_timeout(SETTLE)
        await approve.scroll_into_view_if_needed()
        await page.keyboard.press("a")
        await expect(approve).to_be_disabled()
        assert find_question(client, "long") == asked
        await read.check()
        await expect(approve).to_be_enabled()
        await read.blur()  # in a field, a key is text
        await page.keyboard.press("a")
        await expect(page.get_by_role("status").filter(has_text="approved, exactly as shown")).to_be_visible()
    assert wait_for_end(client, "long")["result"]["verified"]


async def test_a_card_whose_end_is_out_of_view_is_brought_into_view_first(console: Console) -> None:
    client = console.server.client()
    start(client, "tall", task="lamp", inputs={"address": "1 Harbour Street\n" * 40})
    asked = wait_until(lambda: find_question(client, "tall"))
    assert not asked["needs_all_values"]
    async with console.open_page() as visit:
        page = visit.page
        await page.set_viewport_size({"width": 1280, "height": 500})
        await open_card(visit, "tall")
        approve = page.locator("[data-verdict=approved]")
        await expect(approve).to_be_enabled()
        await expect(approve).not_to_be_in_viewport()
        await page.keyboard.press("a")
        await expect(approve).to_be_in_viewport()
        assert find_question(client, "tall") == asked
        await page.keyboard.press("a")
        await expect(page.get_by_role("status").filter(has_text="approved, exactly as shown")).to_be_visible()
