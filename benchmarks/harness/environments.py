"""Virtual environments for packages that the project does not depend on, pinned by hash.

They are installed at first use under `benchmarks/.cache`, which is not in git, and again when the pins change. Several checkouts on one
machine share them if `BENCHMARKS_CACHE` names a folder.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import ROOT

CACHE = Path(os.environ.get("BENCHMARKS_CACHE") or ROOT / "benchmarks" / ".cache").resolve()


def install_environment(requirements: Path) -> Path:
    """Install exactly these packages into a virtual environment, without further dependencies, and return its folder."""
    pins = hashlib.blake2b(requirements.read_bytes(), digest_size=6).hexdigest()
    folder = CACHE / f"{requirements.stem}-{pins}"
    with make_once(folder) as missing:
        if missing:
            _install(requirements, folder)
    return folder


def find_packages_folder(environment: Path) -> Path:
    """Return the folder of an environment's packages, to read files from."""
    return next(environment.glob("lib/python*/site-packages"))


@contextmanager
def make_once(folder: Path) -> Iterator[bool]:
    """Yield whether the caller must make this folder. One process at a time; what an interrupted try left is removed."""
    CACHE.mkdir(parents=True, exist_ok=True)
    finished = folder.with_name(f"{folder.name}.made")
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = not finished.exists()
        if missing:
            shutil.rmtree(folder, ignore_errors=True)
        yield missing
        finished.touch()


def _install(requirements: Path, folder: Path) -> None:
    pinned = ["--quiet", "--require-hashes", "--requirement", str(requirements)]
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = str(folder / "bin" / "python")
    uv = shutil.which("uv")
    if (
        uv
        and subprocess.run([uv, "pip", "install", "--no-deps", "--python", python, *pinned], check=False).returncode
        == 0
    ):
        return
    pip = [
        shutil.which("python3") or sys.executable,
        "-m",
        "pip",
        "--python",
        python,
    ]  # its configuration may name another index
    subprocess.run([*pip, "install", "--no-deps", *pinned], check=True)
