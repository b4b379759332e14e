"""Commands that only read are quick, because they import little. Modules are counted, since time depends on the machine."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

LISTED = """
import json, sys
from midcourse.cli.main import main
code = main(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""
NEVER = (
    "httpx",
    "httpx2",
    "psycopg",
    "sqlalchemy",
    "temporalio",
    "dotenv",
    "midcourse.config.settings",
    "midcourse.agent.models",
    "midcourse.worlds",
)
"""Models, worlds and fleets, and the settings, which need all of them."""


def list_imports(*command: str) -> set[str]:
    output = subprocess.run([sys.executable, "-c", LISTED, *command], capture_output=True, text=True, check=True)
    code, names = json.loads(output.stderr.splitlines()[-1])
    assert code == 0, output.stderr
    return set(names)


@pytest.mark.slow
def test_commands_that_read_import_no_more_than_they_need(cli: Cli, order: str) -> None:
    cli("run", order, "--run-id", "first", "--set", "approvals=never", "--json")
    runs = list_imports("runs")
    assert not {"asyncio", "midcourse.codec", "midcourse.domain.run", "midcourse.domain.events"} & runs
    assert list_imports("approve") >= {"midcourse.store.sqlite.catalogue"}
    assert "midcourse.codec" not in list_imports("approve"), "nothing waits, so no question has to be read"
    shown = list_imports("show", "first", "--json")
    assert "midcourse.director.decide" not in shown
    for found in (runs, shown):
        assert not [name for name in found if name in NEVER or name.startswith(tuple(f"{one}." for one in NEVER))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("modules", "library"),
    [
        pytest.param("midcourse.server.start, midcourse.server.mcp.http", "mcp", id="server"),
        pytest.param("midcourse.fleet.worker", "sqlalchemy", id="worker"),
    ],
)
def test_processes_start_without_libraries_that_they_rarely_need(modules: str, library: str) -> None:
    """The server needs `mcp` for its MCP endpoint, and a fleet SQLAlchemy for migrations."""
    code = f"import sys, {modules}; print([name for name in sys.modules if name.startswith({library!r})])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_home_is_found_as_the_settings_find_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from midcourse.config.settings import Settings
    from midcourse.config.variables import find_home, may_have_fleet

    def check_home(given: str | None = None) -> Path:
        wanted = Settings.load(overrides={"home": given} if given else {}).home
        assert find_home(given) == wanted
        return wanted

    assert check_home() == Path(".midcourse")
    assert not may_have_fleet(Path(".midcourse"))
    (tmp_path / ".env").write_text(
        "MIDCOURSE_HOME=dotted\nMIDCOURSE_MAX_CALLS=3\nMIDCOURSE_TEMPORAL_ADDRESS=there:7233\n"
    )
    assert check_home() == Path("dotted")
    assert may_have_fleet(Path(".midcourse"))
    monkeypatch.setenv("midcourse_home", "lower")
    assert check_home() == Path("lower")
    monkeypatch.setenv("MIDCOURSE_HOME", "")
    monkeypatch.delenv("midcourse_home")
    assert check_home() == Path("dotted")
    assert check_home(" given ") == Path("given")
    assert find_home("a\nb") is None, "the settings say what is wrong with it"
    monkeypatch.setenv("MIDCOURSE_HOMES", "misspelt")
    assert find_home(None) is None, "the settings warn of it"
