"""LangGraph through LangChain's `create_agent`, with five Playwright tools and the checkpoints in PostgreSQL.

A tool's error is told to the model (`wrap_tool_call`), and after a crash the thread is continued with `ainvoke(None)`, as its documentation
says. The calls of one turn run at once: a lock keeps them from typing into each other's fields.
"""

import asyncio
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain.messages import ToolMessage
from langchain.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from playwright.async_api import Page, async_playwright

SYSTEM = "You carry out tasks in a web browser with the tools. Say what you did when the task is done."
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


@wrap_tool_call
async def tell_errors(request: Any, handler: Any) -> Any:
    try:
        return await handler(request)
    except Exception as error:
        return ToolMessage(content=f"Error: {error}", tool_call_id=request.tool_call["id"])


async def run(job: dict[str, Any]) -> dict[str, Any]:
    async with async_playwright() as playwright, AsyncPostgresSaver.from_conn_string(job["postgres"]) as saver:
        await saver.setup()
        browser = await playwright.chromium.launch(executable_path=job["chromium"], args=["--no-sandbox"])
        agent = create_agent(
            ChatOpenAI(model="gpt-4.1", base_url=job["model"], api_key="none"),
            tools_for(await browser.new_page()),
            system_prompt=SYSTEM,
            middleware=[tell_errors],
            checkpointer=saver,
        )
        asked = None if job["again"] else {"messages": [("user", f"Go to {job['url']}. {job['goal']}")]}
        config = {"configurable": {"thread_id": job["run"]}, "recursion_limit": 100}
        ended = await agent.ainvoke(asked, config)
        await browser.close()
    said = str(ended["messages"][-1].content)
    return {"claimed": said.startswith("Done"), "reason": said}
