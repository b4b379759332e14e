"""pydantic-ai with Playwright's MCP server, as both document it: the server's tools are a toolset of the agent, passwords are in a file for
`--secrets`, whose names the model types, and files are in the server's working directory. No pictures (`--image-responses omit`).

Neither has a tool that asks the user. pydantic-ai documents conversations (`message_history`), and so a text that is not the end is said
to the user, who may answer.
"""

from datetime import datetime
from typing import Any

from fastmcp.client.transports import StdioTransport
from openai import AsyncOpenAI
from pydantic_ai import Agent, UsageLimitExceeded, UsageLimits
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from benchmarks.reading_mind.opponents.arm import End, ask_person, describe, main

PATIENCE = 80_000
INSTRUCTIONS = """\
You carry out tasks in a web browser with the tools. Type the name of a secret as the text of a field, and the browser types its value.
When the task is done, say "Done:" and what the user wants to know. If it cannot be done, say "Impossible:" and why. Anything else that you say is a question to the user, who may answer it."""
OPTIONS = ["--headless", "--isolated", "--no-sandbox", "--image-responses", "omit", "--idle-timeout", "0"]
SLOW_MACHINE = ["--timeout-action", "30000"]
"""An action that takes long is not what is compared either."""


async def run(job: dict[str, Any]) -> End:
    words = [*OPTIONS, *SLOW_MACHINE, "--secrets", job["secrets_file"], "--executable-path", job["chromium"]]
    server = StdioTransport(job["node"], [f"{job['packages']}/@playwright/mcp/cli.js", *words], cwd=job["folder"])
    # A slow machine is not what is compared, and by default the second error of a tool in a row ends the run.
    browser = MCPToolset(server, init_timeout=120, max_retries=10)
    client = AsyncOpenAI(base_url=job["model"], api_key="none", timeout=PATIENCE)
    model = OpenAIChatModel("gpt-4.1", provider=OpenAIProvider(openai_client=client))
    agent = Agent(
        model,
        toolsets=[browser],
        instructions=[INSTRUCTIONS, f"The date is {datetime.now().astimezone():%A, %Y-%m-%d}."],
    )
    said, history = describe(job, "the secret x_{}"), None
    limits = UsageLimits(request_limit=job["steps"])
    async with agent:
        while True:
            try:
                with agent.parallel_tool_call_execution_mode("sequential"):  # a page cannot do two things at once
                    result = await agent.run(said, message_history=history, usage_limits=limits)
            except UsageLimitExceeded as limit:
                return End(done=False, answer=f"It stopped: {limit}")
            first = result.output.lstrip().lower()
            if first.startswith(("done", "impossible")):
                return End(done=first.startswith("done"), answer=result.output)
            said, history = await ask_person(result.output), result.all_messages()
            if not said:
                return End(done=False, answer=result.output)


if __name__ == "__main__":
    main(run)
