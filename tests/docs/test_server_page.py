"""The page about the server is true: its commands start a server and carry out a whole run with curl."""

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.test_docs import BLOCK, ROOT

PAGE = ROOT / "docs" / "server.md"


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="needs curl and jq, as its reader does")
def test_the_commands_of_the_page_carry_out_a_run(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    blocks = [match[2] for match in BLOCK.finditer(PAGE.read_text()) if match[1] == "sh"]
    script = "set -eo pipefail\ntrap 'kill $(jobs -p)' EXIT\n" + "\n".join(blocks).replace("8321", str(port))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "MIDCOURSE_HOME": str(tmp_path / ".midcourse")}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for line in ('"earlier":true', "event: end", '"success": true', '"verified": true', "refused, as it should be"):
        assert line in done.stdout, done.stdout
    assert (tmp_path / "lamp.html").read_text().startswith("<!doctype html>")
    assert len((tmp_path / ".midcourse" / "runs" / "lamp" / "effects.jsonl").read_text().splitlines()) == 1


def test_every_role_is_in_the_table() -> None:
    from midcourse.server.access.identity import RIGHTS

    rows = re.findall(r"^\| `(\w+)` \|(.*)\|$", PAGE.read_text(), re.MULTILINE)
    given = {role: tuple("yes" in cell for cell in cells.split("|")) for role, cells in rows if role in RIGHTS}
    rights = ("read", "operate", "decide", "administer")
    assert given == {role: tuple(right in has for right in rights) for role, has in RIGHTS.items()}
