"""browser-use as its README shows it: Agent(task, llm, browser). Pictures and the judge are off: the scripted model reads text only.

Without a checkpoint to continue from, the task is begun again after a crash.
"""

import os
import tempfile
from typing import Any

os.environ.update(
    ANONYMIZED_TELEMETRY="false",
    BROWSER_USE_CLOUD_SYNC="false",
    BROWSER_USE_LOGGING_LEVEL="warning",
    BROWSER_USE_CONFIG_DIR=tempfile.mkdtemp(),
    SKIP_LLM_API_KEY_VERIFICATION="true",
    TIMEOUT_BrowserStartEvent="120",  # a slow machine is not what is compared
    TIMEOUT_BrowserLaunchEvent="120",
)

from browser_use import Agent, Browser, ChatOpenAI

MOST_STEPS = 40


async def run(job: dict[str, Any]) -> dict[str, Any]:
    browser = Browser(
        executable_path=job["chromium"],
        headless=True,
        chromium_sandbox=False,
        enable_default_extensions=False,
        user_data_dir=None,
        allowed_domains=["127.0.0.1"],
    )
    agent = Agent(
        task=f"Go to {job['url']}. {job['goal']}",
        llm=ChatOpenAI(model="gpt-4.1", base_url=job["model"], api_key="none"),
        browser=browser,
        use_vision=False,
        use_judge=False,
    )
    history = await agent.run(max_steps=MOST_STEPS)
    errors = [str(error)[:100] for error in history.errors() if error]
    return {"claimed": bool(history.is_successful()), "reason": f"{history.final_result()} {errors[:2]}"}
