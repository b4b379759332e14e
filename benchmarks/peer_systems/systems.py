"""The compared systems: packages, arm, dialect and settings of each, and its worker process."""

import json
import shutil
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.harness.arm_workers import ARM_PROCESS
from benchmarks.harness.environments import install_environment
from benchmarks.peer_systems.dialects import Dialect
from benchmarks.peer_systems.node_packages import find_node, install_packages
from benchmarks.peer_systems.with_browser_use.dialect import BrowserUse
from benchmarks.peer_systems.with_langgraph.dialect import LangGraph
from benchmarks.peer_systems.with_magentic.dialect import Magentic
from benchmarks.peer_systems.with_midcourse.dialect import Midcourse
from benchmarks.peer_systems.with_pydantic_ai.dialect import PlaywrightMcp
from benchmarks.peer_systems.with_stagehand.dialect import Stagehand

FOLDER = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class System:
    name: str
    folder: str
    dialect: Dialect
    packages: tuple[str, ...]
    """Packages to report the versions of."""
    recovery: str
    """What its documentation says to do after a crash."""
    settings: str
    checked: bool = False
    """The task has a `done_when`."""

    def make_options(self) -> dict[str, Any]:
        """Return what the arm needs besides the job."""
        extra = {"node": find_node(), "packages": str(install_packages(self.home))} if self.uses_node else {}
        return {"checked": self.checked, **extra}

    @property
    def lock(self) -> Path:
        return self.home / "requirements.lock"

    @property
    def home(self) -> Path:
        return FOLDER / self.folder

    @property
    def uses_node(self) -> bool:
        return (self.home / "package-lock.json").exists()

    def make_command(self) -> list[str]:
        if (script := self.home / "arm.mjs").exists():
            return [find_node(), str(script), str(install_packages(self.home))]
        return [str(self.find_python()), "-P", str(ARM_PROCESS), str(FOLDER / self.folder / "arm.py")]

    def find_python(self) -> Path:
        """Return the Python of the system's environment, installed at first use. Midcourse uses the project's environment."""
        return install_environment(self.lock) / "bin" / "python" if self.lock.exists() else Path(sys.executable)

    def read_versions(self) -> dict[str, str]:
        if (self.home / "arm.mjs").exists():
            wanted = json.loads((self.home / "package.json").read_text(encoding="utf-8"))["dependencies"]
            return {name: wanted[name] for name in self.packages}
        if not self.lock.exists():
            return {name: version(name) for name in self.packages}
        pins = dict(line.split()[0].split("==") for line in self.lock.read_text().splitlines() if "==" in line)
        return {name: pins[name] for name in self.packages}


_OURS = (
    "README's example: Agent(Browser(url, storage=...), model=...), a person who approves what is shown; no policy file"
)
SYSTEMS = {
    system.name: system
    for system in (
        System(
            name="midcourse",
            folder="with_midcourse",
            dialect=Midcourse("all"),
            packages=("midcourse", "playwright"),
            recovery="agent.resume(run)",
            settings=_OURS,
        ),
        System(
            name="midcourse-bare",
            folder="with_midcourse",
            dialect=Midcourse("none"),
            packages=("midcourse", "playwright"),
            recovery="agent.resume(run)",
            settings=f"{_OURS}; the model gives no `expect` and no probe",
        ),
        System(
            name="midcourse-checked",
            folder="with_midcourse",
            dialect=Midcourse("all"),
            packages=("midcourse", "playwright"),
            recovery="agent.resume(run)",
            settings=f"{_OURS}; the task has a `done_when`",
            checked=True,
        ),
        System(
            name="langgraph",
            folder="with_langgraph",
            dialect=LangGraph(),
            packages=("langgraph", "langchain", "langgraph-checkpoint-postgres", "playwright"),
            recovery="ainvoke(None) on the same thread",
            settings="create_agent with five Playwright tools over aria_snapshot, errors of tools told to the model, "
            "AsyncPostgresSaver, a lock around the tools of a turn",
        ),
        System(
            name="browser-use",
            folder="with_browser_use",
            dialect=BrowserUse(),
            packages=("browser-use",),
            recovery="none: the task is begun again",
            settings="Agent(task, llm, browser) with its defaults (five actions a step, planning, loop detection), without pictures and judge",
        ),
        System(
            name="pydantic-ai",
            folder="with_pydantic_ai",
            dialect=PlaywrightMcp(),
            packages=("pydantic-ai-slim",),
            recovery="none without Temporal, DBOS or Restate: the task is begun again",
            settings="Agent with the tools of @playwright/mcp 0.0.83 as MCPToolset",
        ),
        System(
            name="stagehand",
            folder="with_stagehand",
            dialect=Stagehand(),
            packages=("@browserbasehq/stagehand",),
            recovery="none: the task is begun again",
            settings="agent().execute(instruction) with its defaults in a local browser",
        ),
        System(
            name="magentic",
            folder="with_magentic",
            dialect=Magentic(),
            packages=("agent-framework-core", "agent-framework-orchestrations", "agent-framework-openai", "playwright"),
            recovery="workflow.run(checkpoint_id=...) from the latest checkpoint",
            settings="MagenticBuilder with its standard manager, the limits of its sample (10 rounds, 3 stalls, 2 resets), one agent with "
            "the same five Playwright tools as LangGraph, FileCheckpointStorage, a lock around the tools of a turn",
        ),
    )
}


@cache
def find_chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    raise SystemExit("The peers need a Chromium: install the package `chromium`")
