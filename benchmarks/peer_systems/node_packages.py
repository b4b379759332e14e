"""Packages from npm, pinned by `node/package-lock.json`, and a Node to run them."""

import hashlib
import shutil
import subprocess
from functools import cache
from pathlib import Path

from benchmarks.harness.environments import CACHE, made_once

PINS = Path(__file__).parent / "node"


@cache
def node() -> str:
    found = shutil.which("node")
    if found is None:
        raise SystemExit("pydantic-ai with Playwright's MCP server needs Node")
    return found


@cache
def installed() -> Path:
    """The folder of the packages, installed at first use."""
    pins = hashlib.blake2b((PINS / "package-lock.json").read_bytes(), digest_size=6).hexdigest()
    folder = CACHE / f"peers-node-{pins}"
    with made_once(folder) as missing:
        if missing:
            shutil.copytree(PINS, folder)
            quietly = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
            subprocess.run(["npm", "ci", *quietly], cwd=folder, check=True, stdin=subprocess.DEVNULL)
    return folder / "node_modules"


def playwright_mcp() -> str:
    return str(installed() / "@playwright" / "mcp" / "cli.js")
