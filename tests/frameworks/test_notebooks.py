"""The notebooks of `examples/notebooks`, run by nbclient in the environment that `just frameworks` makes."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.docs.test_docs import ROOT
from tests.frameworks.test_examples import OWN_ENVIRONMENT, PYTHON

EXECUTE = """\
import sys, nbformat
from nbclient import NotebookClient
book = nbformat.read(sys.argv[1], 4)
NotebookClient(book, timeout=600, kernel_name="python3").execute()
print(nbformat.writes(book))
"""


def execute(name: str, folder: Path) -> list[dict[str, Any]]:
    """What its cells with code show, by media type."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MIDCOURSE_HOME": str(folder)}
    words = [PYTHON, "-W", "ignore", "-c", EXECUTE, str(ROOT / "examples" / "notebooks" / name)]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    cells = [cell for cell in json.loads(done.stdout)["cells"] if cell["cell_type"] == "code"]
    return [output["data"] for cell in cells for output in cell["outputs"] if output["output_type"] == "execute_result"]


@pytest.mark.slow
@OWN_ENVIRONMENT
def test_a_run_shows_its_result_its_plan_and_a_difference(tmp_path: Path) -> None:
    result, plan, difference = (("".join(data["text/html"])) for data in execute("a_run.ipynb", tmp_path))
    assert "done, and verified" in result
    assert "Plan 1" in plan
    assert "Plan 2 compared with plan 1" in difference
    assert "script" not in result + plan + difference


@pytest.mark.slow
@OWN_ENVIRONMENT
def test_a_guarded_function_orders_once(tmp_path: Path) -> None:
    (orders,) = execute("a_guarded_function.ipynb", tmp_path)
    assert "".join(orders["text/plain"]) == "['PO-1']"


CELL = """
import sys
from pathlib import Path
from midcourse import guarded
from midcourse.errors import SkillInvalid

@guarded(key="{ref}" OPTIONS)
def order(ref: str) -> str:
    with Path("log.txt").open("a") as log:
        log.write(ref + "\\n")
    return f"A-{ref}"

try:
    shown = order("1")
except SkillInvalid as refused:
    shown = str(refused)
shown
"""
BOOK = """
import sys
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
book = new_notebook(cells=[new_code_cell(cell) for cell in sys.argv[1:]])
NotebookClient(book, timeout=600, kernel_name="python3").execute()
for cell in book.cells:
    print(cell.outputs[-1].data["text/plain"])
"""


@pytest.mark.slow
@OWN_ENVIRONMENT
def test_a_cell_orders_once_when_it_is_edited_and_run_again_in_another_kernel(tmp_path: Path) -> None:
    def run(*cells: str) -> list[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MIDCOURSE_HOME": str(tmp_path / "home")}
        words = [PYTHON, "-W", "ignore", "-c", BOOK, *cells]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    (refused,) = run(CELL.replace("OPTIONS", ""))
    assert "order is defined in a notebook, an interactive session or by -c" in refused
    assert not (tmp_path / "log.txt").exists()
    cell = CELL.replace("OPTIONS", ', name="orders.order"')
    edited = cell.replace("    return", "    # a comment\n    return")
    assert run(cell, edited, cell) + run(edited) == ["'A-1'"] * 4
    assert (tmp_path / "log.txt").read_text() == "1\n"
