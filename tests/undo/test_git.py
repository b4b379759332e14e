"""Commits through an MCP server, undone by `git revert` with the commit that each call returned."""

import subprocess
import sys
from pathlib import Path

import pytest

from midcourse import Agent, Draft, Settings
from midcourse.planners import SamePlan
from midcourse.testing import Approves
from midcourse.worlds import Mcp

SERVER = Path(__file__).with_name("git_server.py")
POLICY = {
    "tools": {
        "git_commit": {
            "probe": {"tool": "git_log", "contains": "{message}"},
            "undo": {"tool": "git_revert", "arguments": {"commit": "{sha}"}},
        },
        "git_revert": {"probe": {"tool": "git_log", "contains": "This reverts commit {commit}"}},
        "git_log": {"effect": "read"},
    }
}


@pytest.mark.slow
def test_commits_are_reverted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{variable}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{variable}_EMAIL", "ada@example.com")
    repository = tmp_path / "repository"

    def git(*words: str) -> list[str]:
        return subprocess.check_output(["git", *words], cwd=repository, text=True).splitlines()

    subprocess.check_call(["git", "init", "-q", str(repository)])
    (repository / "note").write_text("first\n")
    git("add", "note")
    git("commit", "-q", "-m", "first")
    before = git("rev-parse", "HEAD^{tree}")

    def agent(*steps: Draft) -> Agent:
        environment = {
            name: f"${name}"
            for name in ("PATH", *(f"GIT_{v}_{k}" for v in ("AUTHOR", "COMMITTER") for k in ("NAME", "EMAIL")))
        }
        world = Mcp([sys.executable, str(SERVER), str(repository)], policy=POLICY, environment=environment)
        return Agent(world, SamePlan(steps), approver=Approves(), settings=Settings(home=tmp_path / "home"))

    (repository / "note").write_text("second\n")
    done = agent(Draft(skill="git_commit", arguments={"message": "second"})).run_sync("Commit")
    (sha,) = git("rev-parse", "HEAD")
    assert (done.success, git("log", "--format=%s")) == (True, ["second", "first"])
    report = agent().undo_sync(done.run)
    assert [(act.state, act.inverse) for act in report.acts] == [("undone", f"git_revert(commit={sha})")]
    assert git("log", "--format=%s") == ['Revert "second"', "second", "first"]
    assert (git("rev-parse", "HEAD^{tree}"), git("status", "--porcelain")) == (before, [])
