"""Virtual environments for packages that the project does not depend on, pinned by hash.

Made at first use under `benchmarks/.cache`, which is not in git, and again when the pins change.
"""

import fcntl
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import ROOT

CACHE = ROOT / "benchmarks" / ".cache"


def environment(requirements: Path) -> Path:
    """A virtual environment with exactly these packages, and no dependency that is not among them."""
    pins = hashlib.blake2b(requirements.read_bytes(), digest_size=6).hexdigest()
    folder = CACHE / f"{requirements.stem}-{pins}"
    with made_once(folder) as missing:
        if missing:
            _install(requirements, folder)
    return folder


def packages(environment: Path) -> Path:
    """The folder of its packages, to read files from."""
    return next(environment.glob("lib/python*/site-packages"))


@contextmanager
def made_once(made: Path) -> Iterator[bool]:
    """Whether it must be made. One process at a time; the remains of an interrupted try are removed."""
    CACHE.mkdir(exist_ok=True)
    finished = made.with_name(f"{made.name}.made")
    with made.with_name(f"{made.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = not finished.exists()
        if missing:
            shutil.rmtree(made, ignore_errors=True)
        yield missing
        finished.touch()


def _install(requirements: Path, folder: Path) -> None:
    pinned = ["--quiet", "--require-hashes", "--requirement", str(requirements)]
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = str(folder / "bin" / "python")
    uv = shutil.which("uv")
    if (
        uv
        and subprocess.run(
            [uv, "pip", "install", "--compile-bytecode", "--no-deps", "--python", python, *pinned], check=False
        ).returncode
        == 0
    ):
        return
    pip = [
        shutil.which("python3") or sys.executable,
        "-m",
        "pip",
        "--python",
        python,
    ]  # it may know another way to an index
    subprocess.run([*pip, "install", "--no-deps", *pinned], check=True)
