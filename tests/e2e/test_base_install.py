"""A base install in an empty environment: what a user gets from `pip install midcourse`, and nothing else."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALLOWED = {"pydantic", "pydantic-settings", "typer", "rich"}


def run(*words: str | Path, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_base_install_runs_a_packaged_task(tmp_path: Path):
    source = tmp_path / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "examples", source / "examples")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    place = tmp_path / "environment"
    run(sys.executable, "-m", "venv", place, cwd=tmp_path)
    python = place / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", source, cwd=tmp_path)

    shown = run(python, "-m", "pip", "show", "midcourse", cwd=tmp_path)
    required = next(line for line in shown.splitlines() if line.startswith("Requires:"))
    assert {name.strip() for name in required.removeprefix("Requires:").split(",")} == ALLOWED

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    output = run(place / "bin" / "midcourse", "run", "notepad", "--json", cwd=elsewhere)
    result = json.loads(output.splitlines()[-1])
    assert (result["success"], result["verified"]) == (True, True)
