"""A base install in an empty environment: what a user gets from `pip install midcourse`, and nothing else."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALLOWED = {"h11", "pydantic", "python-dotenv", "typer", "rich"}


REQUIRED = """
import importlib.metadata, json, re
print(json.dumps([re.match("[a-z0-9-]+", each)[0] for each in importlib.metadata.requires("midcourse") if "extra ==" not in each]))
"""


def run(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )


def succeed(*words: str | Path, cwd: Path) -> str:
    done = run(*words, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def install(source: Path, environment: Path) -> None:
    """As locked, mostly from the cache that uv has since it installed the lock."""
    if uv := shutil.which("uv"):
        succeed(uv, "venv", "--quiet", "--python", sys.executable, environment, cwd=source)
        locked = ("--python", environment / "bin" / "python", "--constraint", ROOT / "requirements.lock")
        if run(uv, "pip", "install", *locked, source, cwd=source).returncode == 0:
            return
    succeed(sys.executable, "-m", "venv", "--clear", environment, cwd=source)
    succeed(environment / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check", source, cwd=source)


@pytest.mark.slow
def test_a_base_install_runs_a_packaged_task(tmp_path: Path):
    source = tmp_path / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "examples", source / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    place = tmp_path / "environment"
    install(source, place)

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert set(json.loads(succeed(place / "bin" / "python", "-c", REQUIRED, cwd=elsewhere))) == ALLOWED
    output = succeed(place / "bin" / "midcourse", "run", "notepad", "--json", cwd=elsewhere)
    result = json.loads(output.splitlines()[-1])
    assert (result["success"], result["verified"]) == (True, True)
