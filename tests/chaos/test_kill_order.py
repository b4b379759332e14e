"""Killed with -9 at every boundary around dispatch, and resumed: the shop's own log has exactly one order."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chaos.dying_order import BOUNDARIES

ORDER = Path(__file__).parents[2] / "examples" / "tasks" / "order.toml"
DYING = Path(__file__).parent / "dying_order.py"
COMMENTED = '# [[world.faults]]\n# kind = "stored_but_error"\n# skill = "place_order"\n'
FAULTS = {
    "no fault": "",
    "stored, 504 shown": '[[world.faults]]\nkind = "stored_but_error"\nskill = "place_order"\n',
    "not stored, 504 shown": '[[world.faults]]\nkind = "error_not_stored"\nskill = "place_order"\n',
}
KILLED = -9


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MIDCOURSE_HOME": str(folder / "home")}
    return subprocess.run(
        [sys.executable, *words],
        cwd=Path(__file__).parents[2],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


def write_task(folder: Path, fault: str) -> Path:
    text = ORDER.read_text()
    assert COMMENTED in text
    task = folder / "order.toml"
    task.write_text(text.replace(COMMENTED, FAULTS[fault]).replace("settles_after = 1.0", "settles_after = 0.2"))
    return task


def orders(folder: Path) -> list[dict[str, object]]:
    log = folder / "home" / "runs" / "victim" / "effects.jsonl"
    effects = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return [effect for effect in effects if effect["effect"] == "order"]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_one_order_whenever_it_dies(boundary: str, fault: str, tmp_path: Path):
    task = write_task(tmp_path, fault)
    died = python(tmp_path, str(DYING), str(task), "victim", boundary)
    unreached = died.returncode == 0
    if unreached:  # without a doubt there is nothing to bar
        assert (boundary.endswith("doubt_is_barred"), fault) == (True, "no fault"), died.stderr
        assert len(orders(tmp_path)) == 1
        return
    assert died.returncode == KILLED, died.stderr
    assert len(orders(tmp_path)) <= 1
    resumed = python(tmp_path, "-m", "midcourse", "resume", "victim", "--json")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    result = json.loads(resumed.stdout.splitlines()[-1])
    assert (result["success"], result["verified"], result["final_reason"]) == (True, True, "goal_reached")
    assert len(orders(tmp_path)) == 1
    assert result["data"]["order_number"] == orders(tmp_path)[0]["number"]
