"""browser-use as its documentation shows it: passwords as `sensitive_data` for the site alone, files as `available_file_paths`, its example
of a tool that asks a person, and domains limited. Without pictures, which its page about sensitive data recommends, and without the judge.

What is not its default: limits on time, since its model takes as long as it wants, and 50 steps.
"""

import os
from typing import Any

os.environ.update(
    ANONYMIZED_TELEMETRY="false",
    BROWSER_USE_CLOUD_SYNC="false",
    BROWSER_USE_VERSION_CHECK="false",
    BROWSER_USE_SETUP_LOGGING="false",
    BROWSER_USE_CONFIG_DIR=os.path.abspath("home"),
    SKIP_LLM_API_KEY_VERIFICATION="true",
    TIMEOUT_BrowserStartEvent="120",  # a slow machine is not what is compared
    TIMEOUT_BrowserLaunchEvent="120",
    BROWSER_USE_ACTION_TIMEOUT_S="80000",  # a person answers in a tool
)

from browser_use import ActionResult, Agent, Browser, ChatOpenAI, Tools

from benchmarks.reading_mind.opponents.arm import End, ask_person, describe, main

HOME = os.environ["BROWSER_USE_CONFIG_DIR"]
PATIENCE = 80_000
SITE = "http://127.0.0.1"
NEW_TAB = "chrome://new-tab-page-third-party"
"""Chromium begins with it. browser-use closes tabs of other sites, and this one while it opens the first page."""
tools: Any = Tools()


@tools.action(description="Ask human for help with a question")
async def ask_human(question: str) -> ActionResult:
    answer = await ask_person(question)
    return ActionResult(
        extracted_content=f"The human responded with: {answer}",
        long_term_memory=f"Asked the human {question!r}, who responded with: {answer}",
    )


async def run(job: dict[str, Any]) -> End:
    browser = Browser(
        executable_path=job["chromium"],
        headless=True,
        chromium_sandbox=False,
        enable_default_extensions=False,
        user_data_dir=None,
        allowed_domains=[SITE, NEW_TAB],
        downloads_path=f"{HOME}/downloads",
    )
    secrets = {f"x_{name}": value for name, value in job["secrets"].items()}
    agent: Any = Agent(
        task=describe(job, "x_{}"),
        llm=ChatOpenAI(model="gpt-4.1", base_url=job["model"], api_key="none", timeout=PATIENCE),
        browser=browser,
        tools=tools,
        sensitive_data={SITE: secrets} if secrets else None,
        available_file_paths=job["files"],
        file_system_path=HOME,
        use_vision=False,
        use_judge=False,
        llm_timeout=PATIENCE,
        step_timeout=PATIENCE,
    )
    history = await agent.run(max_steps=job["steps"])
    return End(
        done=bool(history.is_successful()), answer=history.final_result() or f"It stopped: {history.errors()[-1:]}"
    )


if __name__ == "__main__":
    main(run)
