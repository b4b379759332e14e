"""Packages from npm, pinned by a system's `package-lock.json`, and a Node to run them."""

import hashlib
import shutil
import subprocess
from functools import cache
from pathlib import Path

from benchmarks.harness.environments import CACHE, make_once


@cache
def node() -> str:
    found = shutil.which("node")
    if found is None:
        raise SystemExit("Stagehand, and pydantic-ai with Playwright's MCP server, need Node")
    return found


@cache
def installed(folder: Path) -> Path:
    """The packages of the lock in this folder, installed at first use."""
    lock = folder / "package-lock.json"
    made = CACHE / f"{folder.name}-{hashlib.blake2b(lock.read_bytes(), digest_size=6).hexdigest()}"
    with make_once(made) as missing:
        if missing:
            made.mkdir()
            for pins in (folder / "package.json", lock):
                shutil.copy(pins, made)
            quietly = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
            subprocess.run(["npm", "ci", *quietly], cwd=made, check=True, stdin=subprocess.DEVNULL)
    return made / "node_modules"
