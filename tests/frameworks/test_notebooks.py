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
