"""`midcourse undo`, as a shell would call it."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from midcourse.cli.main import main
from midcourse.domain.approval import Question
from tests.undo.files import TEN, agent, create, log, state

TASK = """
goal = "Tidy up"
[world]
name = "tests.undo.files:Files"
[world.options]
folder = "{folder}"
[settings]
approvals = "never"
[planner]
name = "same_plan"
[[planner.steps]]
zone = "__global__"
skill = "trash"
arguments = {{ path = "d" }}
[[planner.steps]]
zone = "__global__"
skill = "touch"
arguments = {{ path = "a" }}
[[planner.steps]]
zone = "__global__"
skill = "rename"
arguments = {{ source = "e", destination = "d" }}
"""
ORDERS = """
from pathlib import Path
from midcourse import guarded
from midcourse.settings import Settings

SHOP = Path(__file__).with_name("shop")


def exists(reference): return (SHOP / reference).exists()
def is_gone(reference): return not exists(reference)


@guarded(key="{reference}", happened=exists, undo="cancel", settings=Settings(home=Path(__file__).with_name("home")))
def order(reference: str) -> None:
    SHOP.mkdir(exist_ok=True)
    (SHOP / reference).touch()


def cancel(reference: str) -> None:
    (SHOP / reference).unlink()
"""

GUARDED = """@guarded(key="{reference}", happened=is_gone)
def cancel"""


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(words)
    return code, capsys.readouterr().out


def test_a_task_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    create(tmp_path)
    before = state(tmp_path)
    (tmp_path / "task.toml").write_text(TASK.format(folder=tmp_path))
    assert call(capsys, "run", "task.toml", "--quiet")[0] == 0
    code, out = call(capsys, "undo", "last", "--dry-run")
    assert code == 0
    assert out.splitlines() == [
        "·   3  rename: would be undone by rename(source=d, destination=e)",
        "·   1  trash: would be undone by restore(path=d)",
        "    1  more that only set a state are left as they are (--json lists them)",
        "2 of 3 would be undone",
    ]
    run = json.loads(call(capsys, "undo", "last", "--dry-run", "--json")[1])["run"]
    code, out = call(
        capsys, "undo", run
    )  # without a terminal there is no one to approve it, even if the task asks for it
    assert (code, "left: it was not approved" in out, out.endswith("3 of 3 are left\n")) == (1, True, True)
    assert state(tmp_path) != before
    code, out = call(capsys, "undo", run, "--yes", "--json")
    left = [act["reason"] for act in json.loads(out)["acts"] if act["state"] == "left"]
    assert (code, left) == (1, ["'touch' names no undo"])
    assert call(capsys, "undo", run, "1", "--yes") == (0, "✓   1  trash: undone by restore(path=d)\nundone\n")
    assert state(tmp_path) == before


@pytest.mark.parametrize("inverse", ["guarded", "plain"])
def test_a_guarded_call_is_undone(
    inverse: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "some_orders", raising=False)
    (tmp_path / "some_orders.py").write_text(
        ORDERS.replace("def cancel", GUARDED if inverse == "guarded" else "def cancel")
    )
    __import__("some_orders").order("PO-1")
    code, _ = call(capsys, "undo", "last", "--home", "home", "--yes")
    assert (code, (tmp_path / "shop" / "PO-1").exists()) == (2, True)
    words = ("undo", "last", "--home", "home", "--yes", "--functions")
    assert call(capsys, *words, "json")[0] == 2
    assert call(capsys, *words, "some_orders")[0] == 0
    assert not (tmp_path / "shop" / "PO-1").exists()


class Waits:
    """An approver that never answers, and reports when it was asked."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def ask(self, question: Question) -> None:
        self.asked.set()
        await asyncio.Event().wait()


def test_an_undo_that_was_left_is_continued_by_the_same_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    create(tmp_path)
    done = agent(tmp_path, TEN[3]).run_sync("Tidy up")

    async def leave() -> None:
        approver = Waits()
        undoing = asyncio.create_task(agent(tmp_path, approver=approver).undo(done.run))
        await approver.asked.wait()
        undoing.cancel()
        await asyncio.wait([undoing])

    asyncio.run(leave())
    assert main(("resume", "last", "--home", str(tmp_path / "home"))) == 2
    assert f"is an undo; midcourse undo {done.run} continues it" in capsys.readouterr().err
    (act,) = agent(tmp_path).undo_sync(done.run).acts
    assert (act.state, log(tmp_path)) == ("undone", ["trash d", "restore d"])
