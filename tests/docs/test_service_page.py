"""The service of docs/service.md: started with uvicorn, killed with -9 at a question, started again, and asked to continue."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.docs.test_docs import BLOCK, ROOT


@contextmanager
def serving(folder: Path) -> Generator["Service"]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, "-m", "uvicorn", "service:app", "--port", str(port), "--log-level", "warning"]
    process = subprocess.Popen(words, cwd=folder, env={**os.environ, "MIDCOURSE_HOME": str(folder / "home")})
    service = Service(f"http://127.0.0.1:{port}", process)
    try:
        service.wait_until(lambda: service.ask("GET", "/openapi.json"))
        yield service
    finally:
        process.kill()
        process.wait()


class Service:
    def __init__(self, url: str, process: "subprocess.Popen[bytes]") -> None:
        self._url, self.process = url, process

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(self._url + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read().decode()
        return text if text.startswith("data:") else json.loads(text)

    def wait_until(self, found: Any) -> Any:
        deadline = time.monotonic() + 120
        while True:
            try:
                if answer := found():
                    return answer
            except urllib.error.URLError:
                assert self.process.poll() is None, "the service ended"
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.mark.slow
def test_the_service_places_an_approved_order_once_although_it_is_killed(tmp_path: Path) -> None:
    code = next(
        match[2] for match in BLOCK.finditer((ROOT / "docs" / "service.md").read_text()) if match[1] == "python"
    )
    (tmp_path / "service.py").write_text(code)
    order = {"product": "Desk lamp", "reference": "PO-1"}
    with serving(tmp_path) as service:
        for _ in range(2):
            assert service.ask("PUT", "/runs/po-1", order) == {"run": "po-1"}
        asked = service.wait_until(lambda: service.ask("GET", "/runs/po-1/question"))
        assert asked["sends"] == [order]
        service.process.kill()
    with serving(tmp_path) as service:
        assert service.ask("PUT", "/runs/po-1", order) == {"run": "po-1"}
        asked = service.wait_until(lambda: service.ask("GET", "/runs/po-1/question"))
        with pytest.raises(urllib.error.HTTPError, match="409"):
            service.ask("POST", "/runs/po-1/decision", {"id": asked["id"] + 1, "approved": True})
        service.ask("POST", "/runs/po-1/decision", {"id": asked["id"], "approved": True})
        log = service.ask("GET", "/runs/po-1/log")
    assert "picked up again at a question" in log
    assert "Place the order" in log
    assert (tmp_path / "orders.txt").read_text() == "PO-1 Desk lamp\n"
