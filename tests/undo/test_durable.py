"""`midcourse undo` of a run of a fleet: the inverses are carried out from here, each once, also after kill -9."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import pytest

from midcourse.cli.main import main
from tests.undo.files import create, log, state
from tests.undo.test_command import TASK

pytestmark = pytest.mark.slow
PATIENCE = 300.0


def test_a_durable_run_is_undone_once_although_the_command_is_killed(
    tmp_path: Path, fleet_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MIDCOURSE_HOME", str(fleet_home))
    monkeypatch.setenv("MIDCOURSE_SESSION_SECONDS", "60")
    create(tmp_path)
    before = state(tmp_path)
    (tmp_path / "task.toml").write_text(TASK.format(folder=tmp_path))
    run_id = f"undone-{uuid4().hex[:8]}"
    assert main(["run", str(tmp_path / "task.toml"), "--durable", "--run-id", run_id, "--quiet"]) == 0
    did = log(tmp_path)

    assert main(["undo", run_id]) == 1, "without a terminal there is no one to approve it"
    assert log(tmp_path) == did
    command = subprocess.Popen([sys.executable, "-m", "midcourse", "undo", run_id, "--yes"], stdout=subprocess.DEVNULL)
    give_up_at = time.monotonic() + PATIENCE
    while log(tmp_path) == did and time.monotonic() < give_up_at:
        time.sleep(0.01)
    os.kill(command.pid, signal.SIGKILL)
    command.wait()

    capsys.readouterr()
    assert main(["undo", run_id, "--yes", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [act["reason"] for act in report["acts"] if act["state"] == "left"] == ["'touch' names no undo"]
    assert log(tmp_path) == [*did, "rename d e", "restore d"]
    assert state(tmp_path) == before
