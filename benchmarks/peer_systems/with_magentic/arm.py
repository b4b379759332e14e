"""Magentic of Microsoft's agent-framework: the standard manager, one agent with five Playwright tools, and the checkpoints in files.

The framework tells the model that a tool failed, but not why. It stores a checkpoint before and after the agent's work on an instruction,
not between its calls. After a crash the workflow is built again and continued from the latest checkpoint, as its samples do. Calls in one
answer of the model run at once: a lock keeps them from typing into each other's fields.
"""

import asyncio
from pathlib import Path
from typing import Any

from agent_framework import Agent, FileCheckpointStorage, tool
from agent_framework.openai import OpenAIChatCompletionClient
from agent_framework.orchestrations import MagenticBuilder
from playwright.async_api import Page, async_playwright

PATIENCE = 30_000
"""Milliseconds for an action on the page."""


def tools_for(page: Page) -> list[Any]:
    turn = asyncio.Lock()

    async def seen() -> str:
        await page.wait_for_load_state()
        snapshot = await page.locator("body").aria_snapshot(mode="ai")
        return f"url: {page.url}\ntitle: {await page.title()}\n```yaml\n{snapshot}\n```"

    @tool
    async def navigate(url: str) -> str:
        """Open an address. Returns the page."""
        await page.goto(url)
        return await seen()

    @tool
    async def look() -> str:
        """Look at the page: an accessibility snapshot with a ref for each element."""
        return await seen()

    @tool
    async def click(ref: str) -> str:
        """Click the element with this ref. Returns the page afterwards."""
        await page.locator(f"aria-ref={ref}").click(timeout=PATIENCE)
        return await seen()

    @tool
    async def fill(ref: str, text: str) -> str:
        """Type text into the field with this ref, in place of what is there."""
        async with turn:
            await page.locator(f"aria-ref={ref}").fill(text, timeout=PATIENCE)
        return "filled"

    @tool
    async def select(ref: str, option: str) -> str:
        """Select this option in the drop-down with this ref."""
        async with turn:
            await page.locator(f"aria-ref={ref}").select_option(option, timeout=PATIENCE)
        return "selected"

    return [navigate, look, click, fill, select]


async def run(job: dict[str, Any]) -> dict[str, Any]:
    client = OpenAIChatCompletionClient(model="gpt-4.1", base_url=job["model"], api_key="none")
    storage = FileCheckpointStorage(Path(job["home"]) / "checkpoints")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=job["chromium"], args=["--no-sandbox"])
        agent = Agent(
            client=client,
            name="browser",
            description="Carries out tasks in a web browser.",
            instructions="You carry out tasks in a web browser with the tools. Say what you did when the task is done.",
            tools=tools_for(await browser.new_page()),
        )
        manager = Agent(
            client=client,
            name="MagenticManager",
            description="Coordinates the team.",
            instructions="You coordinate a team to complete complex tasks efficiently.",
        )
        workflow = MagenticBuilder(
            participants=[agent],
            manager_agent=manager,
            checkpoint_storage=storage,
            max_round_count=10,
            max_stall_count=3,
            max_reset_count=2,
        ).build()
        latest = await storage.get_latest(workflow_name=workflow.name) if job["again"] else None
        if latest:
            result = await workflow.run(checkpoint_id=latest.checkpoint_id)
        else:
            result = await workflow.run(f"Go to {job['url']}. {job['goal']}")
        await browser.close()
    said = result.get_outputs()[-1].text
    return {"claimed": said.startswith("Done"), "reason": said}
