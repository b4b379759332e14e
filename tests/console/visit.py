"""A visitor of the console: opens pages, and notes whatever a page should not do."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.async_api import Browser, ConsoleMessage, Page, Request

from midcourse.app.wiring import packaged_tasks
from tests.console.line import Line
from tests.server.serving import PATIENCE, Served

Theme = Literal["light", "dark"]
ROOT = Path(__file__).parents[2]
AXE = ROOT / "console" / "node_modules" / "axe-core" / "axe.min.js"
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def tasks_that_ask(folder: Path) -> Path:
    """A folder of tasks for the server: the order that ships, with a question before it is sent."""
    tasks = folder / "tasks"
    tasks.mkdir()
    order = (ROOT / "examples" / "tasks" / "order.toml").read_text(encoding="utf-8")
    assert "order" in packaged_tasks()
    asks = order.replace('approvals = "never"', 'approvals = "always"')
    assert asks != order
    (tasks / "lamp.toml").write_text(asks, encoding="utf-8")
    fault = asks.replace(
        "[settings]", '[[world.faults]]\nkind = "stored_but_error"\nskill = "place_order"\n\n[settings]'
    )
    (tasks / "lamp_504.toml").write_text(fault.replace("settles_after = 1.0", "settles_after = 0.1"), encoding="utf-8")
    return tasks


@dataclass(kw_only=True)
class Visit:
    """One page. `wrong` has errors of its script, and requests to any other place."""

    page: Page
    url: str
    wrong: list[str] = field(default_factory=list[str])

    def note_said(self, said: ConsoleMessage) -> None:
        if said.type == "error":
            self.wrong.append(f"console: {said.text}")

    def note_asked(self, asked: Request) -> None:
        if not asked.url.startswith((f"{self.url}/", "blob:")):
            self.wrong.append(f"asked {asked.url}")

    async def go(self, place: str) -> None:
        """Open a place of the console, such as `/inbox`, and wait for its first sentence."""
        await self.page.evaluate("place => { location.hash = '#' + place }", place)
        await self.page.wait_for_function("place => location.hash.startsWith('#' + place)", arg=place.partition("?")[0])
        await self.sentence()

    async def sentence(self) -> str:
        """The first line of the page, once it is not about reading any more."""
        heading = self.page.locator("h1")
        await heading.filter(has_not_text="Loading").wait_for()
        return await heading.inner_text()

    async def turns(self) -> list[str]:
        """The places of the turns that the log shows, in its order."""
        return await self.page.locator("[data-seq]").evaluate_all("rows => rows.map(row => row.dataset.seq)")

    async def violations(self) -> list[str]:
        """What axe finds wrong, a line for each. To it, every link to a hash route that is scrolled away is a skip link."""
        if not await self.page.evaluate("() => 'axe' in window"):
            await self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found: dict[str, Any] = await self.page.evaluate(
            """standards => axe.run(document, {
                runOnly: standards, resultTypes: ['violations'], rules: { 'skip-link': { enabled: false } },
            })""",
            STANDARDS,
        )
        return [
            f"{one['id']}: {one['help']}: {node['html'][:200]} {node.get('failureSummary', '')}"
            for one in found["violations"]
            for node in one["nodes"]
        ]


@dataclass(frozen=True, kw_only=True)
class Console:
    served: Served
    browser: Browser
    line: Line
    """Another way to the same server."""

    @asynccontextmanager
    async def visited(
        self, *, theme: Theme = "light", width: int = 1280, token: str | None = None, url: str = ""
    ) -> AsyncGenerator[Visit]:
        """A fresh browser that is signed in. Fails if a page did what it should not."""
        context = await self.browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=theme, reduced_motion="reduce"
        )
        context.set_default_timeout(PATIENCE * 1000)
        page = await context.new_page()
        visit = Visit(page=page, url=url or self.served.url)
        page.on("pageerror", lambda error: visit.wrong.append(f"error: {error}"))
        page.on("console", visit.note_said)
        page.on("request", visit.note_asked)
        try:
            await page.goto(f"{visit.url}/#token={self.served.token if token is None else token}")
            await page.locator("h1").wait_for()
            yield visit
            assert visit.wrong == [], visit.wrong
        finally:
            await context.close()
