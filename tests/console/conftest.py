"""The built console in a real Chromium, in front of a real server that drives real runs."""

import socket
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from midcourse.server.static import DIST
from midcourse.worlds.browser.chromium import system_chromium
from tests.console.line import Line
from tests.console.visit import ROOT, Console, write_tasks_that_ask
from tests.server.serving import run_server


@pytest.fixture(scope="session", autouse=True)
def check_build() -> None:
    sources = [file for file in (ROOT / "console" / "src").rglob("*") if file.is_file()]
    newest = max(file.stat().st_mtime for file in sources)
    built_at = max((file.stat().st_mtime for file in DIST.glob("index.html")), default=0.0)
    assert built_at >= newest, "the console is not built, or out of date: type `just console`"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncGenerator[Browser]:
    async with async_playwright() as driver:
        started = await driver.chromium.launch(executable_path=system_chromium(), chromium_sandbox=False)
        yield started
        await started.close()


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Generator[Console]:
    folder = Path(tmp_path_factory.mktemp("console"))
    listener = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with listener, run_server(folder, tasks=write_tasks_that_ask(folder), origins=(origin,)) as server:
        line = Line(listener=listener, port=int(server.url.rpartition(":")[2]))
        yield Console(server=server, browser=browser, line=line)
