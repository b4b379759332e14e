"""`git_commit` of the real mcp-server-git, with client or server killed with -9 before or after the commit: one commit each."""

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.forked import PATIENCE, PROCESSES
from tests.mcp.committing import Repository, commit

KILLED = -9
COMMITS = int(os.environ.get("MCP_COMMITS", "1"))
"""How many commits of each kind."""


@pytest.mark.slow
@pytest.mark.parametrize("killed", ["client", "server"])
@pytest.mark.parametrize("hook", ["pre-commit", "post-commit"])
def test_one_commit_whichever_process_dies(killed: str, hook: str, tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.create()
    messages = [f"{killed}-{hook}-{number}" for number in range(COMMITS)]
    for message in messages:
        repository.stage(message)
        (tmp_path / hook).write_text(killed)
        agent = repository.agent(message)
        if killed == "client":
            process = PROCESSES.Process(target=commit, args=(str(tmp_path), message))
            process.start()
            process.join(PATIENCE)
            assert process.exitcode == KILLED
            result = agent.resume_sync(message)
        else:
            result = agent.run_sync("Commit", run_id=message)
        assert not (tmp_path / hook).exists(), "the hook did not kill anything"
        assert (result.success, result.final_reason) == (True, "plan_complete")
    assert Counter(repository.commits()) == Counter([*messages, "first", ""])
