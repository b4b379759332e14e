"""Every page: a sentence first, no violation that axe can find, in both themes and on a phone; hostile text is only text."""

import pytest
from playwright.async_api import expect

from tests.console.visit import Console, Theme
from tests.server.serving import find_question, start, wait_for_end, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202e00.1 €\u2066 {{7*7}} javascript:alert(1)'
PLACES = (
    *(
        "/",
        "/runs/asks",
        "/runs/ended",
        "/inbox",
        "/inbox?run=asks-too",
        "/?start=true",
        "/lessons",
        "/fleet",
        "/nowhere",
    ),
    *(f"/runs/ended/{part}" for part in ("plans/1..2", "evidence", "replay", "what-if")),
)


@pytest.fixture(scope="module")
def runs(console: Console) -> Console:
    """Two runs that ask and one that has ended."""
    client = console.server.client()
    start(client, "ended", task="lamp_504", settings={"approvals": "never"})
    wait_for_end(client, "ended")
    start(client, "asks", task="lamp", inputs={"address": HOSTILE})
    start(client, "asks-too", task="lamp")
    for run in ("asks", "asks-too"):
        wait_until(lambda run=run: find_question(client, run))
    return console


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
async def test_pages_are_accessible_and_do_not_overflow(runs: Console, theme: Theme, width: int) -> None:
    async with runs.open_page(theme=theme, width=width) as visit:
        for place in PLACES:
            await visit.go(place)
            assert (await visit.read_heading()).endswith((".", "?")), place
            assert await visit.find_violations() == [], f"{place} in {theme}, {width} px"
            assert await visit.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, place


async def test_text_of_a_page_runs_nothing_and_hides_nothing(runs: Console) -> None:
    async with runs.open_page() as visit:
        for place in ("/", "/runs/asks", "/inbox?run=asks"):
            await visit.go(place)
        card = visit.page.locator("[data-card]")
        await expect(card).to_contain_text("<script>window.hacked=1</script>")
        await expect(card.locator("[data-invisible]", has_text="U+202E").first).to_be_visible()
        assert await visit.page.evaluate("window.hacked") is None


async def test_a_console_without_a_session_asks_for_a_token(console: Console) -> None:
    async with console.open_page(token="wrong") as visit:
        await expect(visit.page.locator("h1")).to_have_text("Sign in to see your runs.")
        assert await visit.find_violations() == []
        assert "wrong" not in visit.page.url
        await visit.page.get_by_label("Token or key").fill(console.server.token)
        await visit.page.keyboard.press("Enter")
        await expect(visit.page.locator("h1")).not_to_have_text("Sign in to see your runs.")
        visit.problems.clear()  # the browser reports refused requests


async def test_the_page_is_reached_by_keyboard_without_passing_its_head(runs: Console) -> None:
    async with runs.open_page() as visit:
        await visit.go("/lessons")
        await visit.page.keyboard.press("Tab")
        await expect(visit.page.get_by_text("Skip to the content")).to_be_focused()
        await visit.page.keyboard.press("Enter")
        await expect(visit.page.locator("main")).to_be_focused()
        assert visit.page.url.endswith("#/lessons")
