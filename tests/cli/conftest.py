"""Each test has its own home, and calls the command in this process as a shell would."""

import json
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from midcourse.cli.main import main
from tests.forked import Forked

ORDER = """
goal = "Order one desk lamp"

[inputs]
reference = "PO-1001"

[done_when]
probe = "order_placed"
arguments = { reference = "$input.reference" }

[world]
name = "shop"
{world}

[settings]
retry_delay_seconds = 0.01

[planner]
name = "playbook"

[[planner.rules]]
on = "Catalogue"
steps = [
    { zone = "product:Desk lamp", skill = "set_quantity", arguments = { quantity = 1 }, says = "Put one into the basket" },
    { zone = "__global__", skill = "go", arguments = { page = "checkout" }, says = "Go to the checkout" },
]

[[planner.rules]]
on = "Checkout"

[[planner.rules.steps]]
zone = "textbox:Address"
skill = "fill"
arguments = { text = "1 Harbour Street" }
says = "Fill in the address"

[[planner.rules.steps]]
zone = "textbox:Reference"
skill = "fill"
arguments = { text = "$input.reference" }
says = "Fill in the reference"

[[planner.rules.steps]]
zone = "button:Place order"
skill = "place_order"
says = "Place the order"
once = true
expect = { surface_matches = "Thank you for your order" }

[[planner.rules]]
on = "Thank you*"
final = true
steps = [{ zone = "order:*", skill = "read_order", says = "Read the order number" }]

[[planner.rules]]
on = "504*"
final = true
steps = [{ zone = "button:Back", skill = "click", says = "Leave the error page" }]
"""


@dataclass(frozen=True, kw_only=True)
class CliResult:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The last line of the output."""
        return json.loads(self.out.splitlines()[-1])


Cli = Callable[..., CliResult]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("MIDCOURSE_") and name != "MIDCOURSE_HYPOTHESIS"]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return tmp_path / ".midcourse"


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    def call(*args: str) -> CliResult:
        code = main(args)
        out, err = capsys.readouterr()
        return CliResult(code=code, out=out, err=err)

    return call


@pytest.fixture
def order(tmp_path: Path) -> str:
    return write_order(tmp_path, "order.toml")


@pytest.fixture
def doubtful_order(tmp_path: Path) -> str:
    """An order that the shop answers with 504; neither the screen nor a probe shows whether it was stored."""
    fault = '[[world.faults]]\nkind = "error_not_stored"\nskill = "place_order"'
    return write_order(tmp_path, "doubtful.toml", fault)


def write_order(folder: Path, name: str, world: str = "") -> str:
    path = folder / name
    path.write_text(ORDER.replace("{world}", world))
    return str(path)


def start_and_wait_for_turns(folder: Path, run_id: str, home: Path, *arguments: str, turns: int) -> Forked:
    """Start a slow run in a separate process, and wait until it has made this many turns."""
    settings = ["--set", "step_delay_seconds=0.05", "--set", "retry_delay_seconds=0"]
    command = ["run", "notepad", "--run-id", run_id, "--json", *settings, *arguments]
    process = Forked("midcourse", *command, cwd=folder, errors=False)
    give_up_at = time.monotonic() + 600
    while _count_turns(home, run_id) < turns:
        assert process.poll() is None
        assert time.monotonic() < give_up_at
        time.sleep(0.02)
    return process


def _count_turns(home: Path, run_id: str) -> int:
    if not (home / "runs" / run_id / "job.json").exists():
        return 0
    with closing(sqlite3.connect(home / "midcourse.db")) as database:
        return int(database.execute("SELECT count(*) FROM journal WHERE run = ?", (run_id,)).fetchone()[0])
