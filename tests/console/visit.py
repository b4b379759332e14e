"""Opens pages of the console in a browser, and records what a page must not do."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.async_api import Browser, ConsoleMessage, Page, Request

from midcourse.agent.wiring import packaged_tasks
from tests.console.line import Line
from tests.server.serving import PATIENCE, RunningServer

Theme = Literal["light", "dark"]
ROOT = Path(__file__).parents[2]
AXE = ROOT / "console" / "node_modules" / "axe-core" / "axe.min.js"
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def write_tasks_that_ask(folder: Path) -> Path:
    """Write tasks for the server: the order of the examples, which asks before it is sent."""
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
    """One page. `problems` has the errors of its script and its requests to other addresses."""

    page: Page
    url: str
    problems: list[str] = field(default_factory=list[str])

    def record_console_message(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.problems.append(f"console: {message.text}")

    def record_request(self, request: Request) -> None:
        if not request.url.startswith((f"{self.url}/", "blob:")):
            self.problems.append(f"request to {request.url}")

    async def go(self, path: str) -> None:
        """Open a page of the console, such as `/inbox`, and wait for its heading."""
        await self.page.evaluate("path => { location.hash = '#' + path }", path)
        await self.page.wait_for_function("path => location.hash.startsWith('#' + path)", arg=path.partition("?")[0])
        await self.read_heading()

    async def read_heading(self) -> str:
        """The heading of the page, when it has loaded."""
        heading = self.page.locator("h1")
        await heading.filter(has_not_text="Loading").wait_for()
        return await heading.inner_text()

    async def list_turns(self) -> list[str]:
        """The numbers of the turns that the log shows, in order."""
        return await self.page.locator("[data-seq]").evaluate_all("rows => rows.map(row => row.dataset.seq)")

    async def find_violations(self) -> list[str]:
        """The violations that axe finds. It would take every link to a hash route that is scrolled away for a skip link."""
        if not await self.page.evaluate("() => 'axe' in window"):
            await self.page.evaluate(AXE.read_text(encoding="utf-8"))
        report: dict[str, Any] = await self.page.evaluate(
            """standards => axe.run(document, {
                runOnly: standards, resultTypes: ['violations'], rules: { 'skip-link': { enabled: false } },
            })""",
            STANDARDS,
        )
        return [
            f"{violation['id']}: {violation['help']}: {node['html'][:200]} {node.get('failureSummary', '')}"
            for violation in report["violations"]
            for node in violation["nodes"]
        ]


@dataclass(frozen=True, kw_only=True)
class Console:
    server: RunningServer
    browser: Browser
    line: Line
    """A connection to the same server that can be cut."""

    @asynccontextmanager
    async def open_page(
        self, *, theme: Theme = "light", width: int = 1280, token: str | None = None, url: str = ""
    ) -> AsyncGenerator[Visit]:
        """Open the console in a new browser, signed in. Fails if the page had a problem."""
        context = await self.browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=theme, reduced_motion="reduce"
        )
        context.set_default_timeout(PATIENCE * 1000)
        page = await context.new_page()
        visit = Visit(page=page, url=url or self.server.url)
        page.on("pageerror", lambda error: visit.problems.append(f"error: {error}"))
        page.on("console", visit.record_console_message)
        page.on("request", visit.record_request)
        try:
            await page.goto(f"{visit.url}/#token={self.server.token if token is None else token}")
            await page.locator("h1").wait_for()
            yield visit
            assert visit.problems == [], visit.problems
        finally:
            await context.close()
