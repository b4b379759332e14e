"""A repository whose commits go through `mcp-server-git`, and hooks that kill the client or the server in the middle of one."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from midcourse import Agent, Draft
from midcourse.planners import SamePlan
from midcourse.settings import Settings
from midcourse.testing import Approves
from midcourse.worlds import Mcp

POLICY = {
    "trusted": True,
    "tools": {
        "git_commit": {
            "probe": {"tool": "git_log", "arguments": {"repo_path": "{repo_path}"}, "contains": "{message}"},
        }
    },
}
HOOK = """#!/bin/sh
# Follow the order in the file named like this hook, once. A killed client would leave a server that commits half a minute later.
order=$(cat {folder}/{hook} 2>/dev/null); rm -f {folder}/{hook}
if [ {hook} = post-commit ]; then date +%N >> again; git add again; fi  # a second commit would not be empty
case $order in
client) kill -9 $(cat {folder}/client); sleep 30;;
server) kill -9 $PPID;;
esac
"""


class Repository:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "repository"

    def create(self) -> None:
        subprocess.run(["git", "init", "-q", str(self.path)], check=True)
        for name, value in (("user.name", "Ada"), ("user.email", "ada@example.com")):
            self.git("config", name, value)
        self.git("commit", "-q", "--allow-empty", "-m", "first")
        for hook in ("pre-commit", "post-commit"):
            script = self.path / ".git" / "hooks" / hook
            script.write_text(HOOK.format(folder=self.folder, hook=hook))
            script.chmod(0o755)

    def git(self, *words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=self.path, check=True, capture_output=True, text=True, env=_environment()
        ).stdout

    def stage(self, name: str) -> None:
        (self.path / name).write_text(name)
        self.git("add", name)

    def commits(self) -> list[str]:
        return self.git("log", "--format=%s").split("\n")

    def agent(self, message: str) -> Agent:
        environment = {"TEST_RUN_FOLDER": "$TEST_RUN_FOLDER"}
        server = [sys.executable, "-m", "mcp_server_git", "--repository", str(self.path)]
        step = Draft(skill="git_commit", arguments={"repo_path": str(self.path), "message": message})
        return Agent(
            Mcp(server, policy=POLICY, environment=environment, title="git"),
            SamePlan([step]),
            approver=Approves(),
            settings=Settings(home=self.folder / "home"),
        )


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


def commit(folder: str, message: str) -> None:
    """Commit what is staged, in this process."""
    (Path(folder) / "client").write_text(str(os.getpid()))
    asyncio.run(Repository(Path(folder)).agent(message).run("Commit", run_id=message))
