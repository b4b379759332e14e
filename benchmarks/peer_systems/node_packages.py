"""Packages from npm, pinned by a system's `package-lock.json`, and a Node to run them."""

import hashlib
import shutil
import subprocess
from functools import cache
from pathlib import Path

from benchmarks.harness.environments import CACHE, make_once


@cache
def find_node() -> str:
    found = shutil.which("node")
    if found is None:
        raise SystemExit("Stagehand, and pydantic-ai with Playwright's MCP server, need Node")
    return found


@cache
def install_packages(folder: Path) -> Path:
    """Install the packages of this folder's lock file at first use, and return their folder."""
    lock = folder / "package-lock.json"
    target = CACHE / f"{folder.name}-{hashlib.blake2b(lock.read_bytes(), digest_size=6).hexdigest()}"
    with make_once(target) as missing:
        if missing:
            target.mkdir()
            for pins in (folder / "package.json", lock):
                shutil.copy(pins, target)
            quiet_options = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
            subprocess.run(["npm", "ci", *quiet_options], cwd=target, check=True, stdin=subprocess.DEVNULL)
    return target / "node_modules"
