"""What Chromium says when it does not get to see a page, through Playwright, in one browser."""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence

from playwright.async_api import Error, async_playwright


async def _visit(tries: Sequence[tuple[str, int]]) -> list[str]:
    said: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu", "--disable-quic"]
        )
        for url, wait in tries:
            page = await browser.new_page()
            try:
                await page.goto(url, timeout=wait)
                said.append("")
            except Error as error:
                said.append(error.message.partition("Call log")[0].strip())
            await page.close()
        await browser.close()
    return said


def visit(commands: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """`browser URL MILLISECONDS`, each."""
    words = [command.split() for command in commands]
    os.environ.update({name: env[name] for name in env if name.isupper() and env[name].isdigit()})
    return asyncio.run(_visit([(os.path.expandvars(url), int(wait)) for _, url, wait in words]))
