"""pydantic-ai with Playwright's MCP server, as both document it: the server's tools are a toolset of the agent.

A run keeps nothing that outlives its process unless it is put on Temporal, DBOS or Restate, so the task is begun again after a crash.
"""

from typing import Any

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

INSTRUCTIONS = "You carry out tasks in a web browser with the tools. Say what you did when the task is done."
OPTIONS = ["--headless", "--isolated", "--no-sandbox", "--executable-path"]


async def run(job: dict[str, Any]) -> dict[str, Any]:
    server = StdioTransport(
        job["node"], [f"{job['packages']}/@playwright/mcp/cli.js", *OPTIONS, job["chromium"]], cwd=job["home"]
    )
    browser = MCPToolset(server, init_timeout=120)  # a slow machine is not what is compared
    model = OpenAIChatModel("gpt-4.1", provider=OpenAIProvider(base_url=job["model"], api_key="none"))
    agent = Agent(model, toolsets=[browser], instructions=INSTRUCTIONS)
    async with agent:
        result = await agent.run(f"Go to {job['url']}. {job['goal']}")
    return {"claimed": str(result.output).startswith("Done"), "reason": str(result.output)}
