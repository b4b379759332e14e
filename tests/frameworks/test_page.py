"""The programs on docs/frameworks.md that need LangGraph: the one on the page is the one in the repository, and both work."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.docs.test_docs import ROOT
from tests.forked import run_forked
from tests.frameworks.test_examples import EXAMPLES, OWN_ENVIRONMENT, PYTHON

PROGRAMS = re.findall(r"^```py\n(.*?)^```", (ROOT / "docs" / "frameworks.md").read_text(), re.MULTILINE | re.DOTALL)
KILLED = -9
ANSWER = '    return f"ordered {number}"'
STORING = "    with ORDERS.open"


def test_the_program_on_the_page_is_the_example() -> None:
    _, code = (EXAMPLES / "langgraph_graph.py").read_text().split('"""\n\n', 1)
    assert code in PROGRAMS


def start_graph(folder: Path, *, dies_at: str = "") -> str:
    """What the program with the interrupt prints; empty if it was killed, right before the line `dies_at`."""
    (program,) = (each for each in PROGRAMS if "interrupt(" in each)
    assert dies_at in program
    kill = "    import os\n    os.kill(os.getpid(), 9)\n"
    (folder / "graph.py").write_text(program.replace(dies_at, kill + dies_at) if dies_at else program)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    words = [PYTHON, "graph.py"]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == (KILLED if dies_at else 0), done.stderr
    return done.stdout


def waiting_run(printed: str) -> str:
    found = re.search(r"Interrupt\(value={'run': '([^']+)'}", printed)
    assert found, printed
    return found[1]


def approve(run: str, folder: Path) -> None:
    done = run_forked("midcourse", "approve", run, "--yes", cwd=folder, environment={**os.environ})
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@OWN_ENVIRONMENT
def test_a_graph_that_was_killed_finds_the_order(tmp_path: Path) -> None:
    run = waiting_run(start_graph(tmp_path))
    assert waiting_run(start_graph(tmp_path)) == run
    assert not (tmp_path / "orders.txt").exists()
    approve(run, tmp_path)
    start_graph(tmp_path, dies_at=ANSWER)
    assert f"exists, run {run}" in start_graph(tmp_path)
    assert (tmp_path / "orders.txt").read_text() == "PO-1 Chair 2\n"


@pytest.mark.slow
@OWN_ENVIRONMENT
def test_a_graph_that_was_killed_before_it_ordered_asks_again(tmp_path: Path) -> None:
    run = waiting_run(start_graph(tmp_path))
    approve(run, tmp_path)
    start_graph(tmp_path, dies_at=STORING)
    second = waiting_run(start_graph(tmp_path))
    assert second != run
    approve(second, tmp_path)
    assert "'answer': 'ordered PO-1'" in start_graph(tmp_path)
    assert (tmp_path / "orders.txt").read_text() == "PO-1 Chair 2\n"
