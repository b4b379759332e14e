"""What a release and a deployment are made from: linted, and the same commit gives the same package."""

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent
SCHEMAS = {
    "compose.yaml": "vendor.compose-spec",
    "action.yml": "vendor.github-actions",
    ".github/workflows/ci.yml": "vendor.github-workflows",
    ".github/workflows/release.yml": "vendor.github-workflows",
}


def run(*command: str, **variables: str) -> str:
    environment = {**os.environ, **variables}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_dockerfile_passes_its_linter() -> None:
    run(str(PROGRAMS / "hadolint"), "Dockerfile")


@pytest.mark.parametrize("file", SCHEMAS)
def test_files_match_their_schema(file: str) -> None:
    run(str(PROGRAMS / "check-jsonschema"), "--builtin-schema", SCHEMAS[file], file)


def test_image_gets_every_file_that_it_copies() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copies = [
        word.split("/")[0]
        for line in (ROOT / "Dockerfile").read_text().splitlines()
        if line.startswith("COPY ") and "--from" not in line
        for word in line.split()[1:-1]
    ]
    assert set(copies) == kept
    assert all((ROOT / name).exists() for name in copies)


def test_action_runs_a_task(tmp_path: Path) -> None:
    """Its shell step, with the package of this checkout."""
    step = next(
        one for one in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"] if one.get("id") == "run"
    )
    output = tmp_path / "output"
    variables = {
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(output),
        "MIDCOURSE": f"{sys.executable} -m midcourse",
        "MIDCOURSE_HOME": str(tmp_path / "home"),
        "TASK": "order",
        "INPUTS": "reference=PO-7\n",
        "SETTINGS": "max_calls=9\n",
    }
    run("bash", "-c", step["run"], **variables)
    assert '"final_reason": "goal_reached"' in output.read_text()


@pytest.mark.skipif(not shutil.which("uv"), reason="type: pip install uv")
def test_package_is_the_same_each_time(tmp_path: Path) -> None:
    digests = []
    for folder in (tmp_path / "first", tmp_path / "second"):
        run(
            "uv",
            "build",
            "--quiet",
            "--wheel",
            "--out-dir",
            str(folder),
            SOURCE_DATE_EPOCH="1790000000",
        )
        (wheel,) = folder.glob("*.whl")
        digests.append(hashlib.sha256(wheel.read_bytes()).hexdigest())
    assert digests[0] == digests[1]
    with ZipFile(wheel) as archive:
        folders = {name.split("/")[0].partition("-")[0] for name in archive.namelist()}
    assert folders == {"midcourse"}, "the package and what describes it: no test, and no benchmark"


def test_a_source_archive_has_no_benchmark() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert included
    assert "/" not in included
    assert not [path for path in included if "benchmarks" in path]
