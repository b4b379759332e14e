"""`midcourse init`: every template runs as it is, and is checked as code of ours is."""

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_terminal import run_in_terminal
from tests.forked import run_forked


def run_python(file: str) -> str:
    done = run_forked("python", file, cwd=Path.cwd(), environment=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_template_of_a_task_runs(cli: Cli):
    assert cli("init", "task").out.startswith("wrote task.toml; to try it: midcourse run task.toml")
    assert "midcourse run task.toml" in Path("task.toml").read_text()
    result = cli("run", "task.toml", "--json", "--set", "approvals=never").json
    assert (result["final_reason"], result["verified"]) == ("goal_reached", True)


@pytest.mark.slow
def test_the_template_of_a_world_runs_and_asks_in_a_terminal(cli: Cli, tmp_path: Path):
    assert cli("init", "world", "mailbox", "--json").json == {"file": "mailbox.py", "try": "python mailbox.py"}
    reason, why = run_python("mailbox.py").splitlines()
    assert reason == "rejected: []", "without a terminal nothing is sent"
    assert "send" in why
    with run_in_terminal(tmp_path, "mailbox.py", program="python") as user:
        user.wait_for("May this be done?")
        user.type("y\n")
        assert user.wait_for_exit() == 0
    assert "plan_complete: ['Hello']" in user.output


@pytest.mark.slow
def test_the_template_of_a_planner_runs_from_a_task_file_too(cli: Cli):
    assert cli("init", "planner", "counting.py").code == 0
    assert run_python("counting.py") == "plan_complete after 3 steps\n"
    Path("count.toml").write_text(
        'goal = "Count"\n[world]\nname = "counting:Counter"\n[planner]\nname = "counting:Counting"\noptions.to = 2\n'
    )
    result = cli("run", "count.toml", "--json").json
    assert (result["final_reason"], result["steps"]) == ("plan_complete", 2)


def test_the_task_file_of_a_run_can_be_copied(cli: Cli, order: str):
    cli("run", order, "--set", "approvals=never", "--run-id", "lamp", "--json")
    assert cli("init", "task", "again", "--from", "last").code == 0
    assert Path("again.toml").read_text() == Path(order).read_text()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["wrld"], "did you mean 'world'?"),
        (["task", "there"], "there.toml is there already"),
        (["world", "my-world"], "not a module name"),
        (["world", "--from", "last"], "midcourse init task NAME --from RUN"),
        (["task", "new", "--from", "last"], "there are no runs"),
    ],
)
def test_invalid_names_are_refused(words: list[str], problem: str, cli: Cli):
    Path("there.toml").write_text("mine")
    result = cli("init", *words)
    assert (result.code, problem in result.err) == (2, True), result.err
    assert Path("there.toml").read_text() == "mine"
    assert not Path("new.toml").exists()
