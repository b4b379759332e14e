"""The OpenAPI document: generated requests never make the server fail, and every answer is one that it describes."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from midcourse.server.app import build_api
from tests.server.serving import RunningServer, decide, start_run_that_asks, wait_for_end

pytestmark = pytest.mark.slow

CONFIG = """
[checks.positive_data_acceptance]
# whether a task, setting or input of this name exists is not in the schema; 422 says so
expected-statuses = ["2xx", "401", "403", "404", "409", "422"]
"""


def test_generated_requests_get_only_documented_answers(server: RunningServer, tmp_path: Path) -> None:
    """All checks of Schemathesis, as an administrator, with runs that have the shortest names that it tries."""
    operator = server.client("operator")
    decide(server.client("approver"), start_run_that_asks(operator, "0"))
    wait_for_end(operator, "0")
    assert operator.get("/openapi.json").status_code == 200  # made at the first request, which may take long
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    command = [str(Path(sys.executable).with_name("st")), "--config-file", str(tmp_path / "schemathesis.toml")]
    command += ["run", f"{server.url}/api/v1/openapi.json", "--checks", "all", "--phases", "coverage,fuzzing"]
    command += ["-H", f"Authorization: Bearer {server.keys['acme', 'admin']}", "--max-examples", "1"]
    command += ["--generation-deterministic", "--no-color", "--request-timeout", "300"]
    with cancel_runs(server):
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=1100, check=False)
    assert done.returncode == 0, done.stdout[-6000:]
    operations = sum(map(len, build_api().openapi()["paths"].values()))
    assert f"Tested: {operations}" in done.stdout, done.stdout[-2000:]


@contextmanager
def cancel_runs(server: RunningServer) -> Generator[None]:
    """Cancel every run that was started meanwhile: the stream of one that waits for an answer would never end."""
    operator, over = server.client("operator"), Event()

    def cancel_all() -> None:
        while not over.wait(0.5):
            for run in operator.get("/runs").json()["runs"]:
                if run["ended_at"] is None:
                    operator.post(f"/runs/{run['id']}/cancel")

    thread = Thread(target=cancel_all)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_events_and_problems_are_described() -> None:
    document = build_api().openapi()
    stream = document["paths"]["/api/v1/runs/{run_id}/events"]["get"]["responses"]["200"]["content"][
        "text/event-stream"
    ]
    messages = stream["itemSchema"]["properties"]["data"]["contentSchema"]["discriminator"]["mapping"]
    assert sorted(messages) == ["end", "notice", "rewind", "turn"]
    schemas = document["components"]["schemas"]
    kinds = schemas["TurnMessage"]["properties"]["event"]["discriminator"]["mapping"]
    assert {"acted", "planned", "approval_decided", "verified"} <= set(kinds)
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            refusals = {code: one for code, one in operation["responses"].items() if code[0] in "45"}
            for code, one in refusals.items():
                assert list(one["content"]) == ["application/problem+json"], (method, path, code)
            assert operation.get("description"), (method, path)


def test_fields_are_described_by_their_docstrings() -> None:
    """Those of models, of dataclasses in them, and of refusals, which no operation returns."""
    schemas = build_api().openapi()["components"]["schemas"]
    described = {
        "RunRow": ("waiting_since", "When the open question was asked."),
        "Acted": ("alike", "If held: earlier effects that it resembles."),
        "Problem": ("next", "What the caller can do about it."),
    }
    assert {name: schemas[name]["properties"][field]["description"] for name, (field, _) in described.items()} == {
        name: text for name, (_, text) in described.items()
    }


def test_the_document_is_printed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "midcourse.server.openapi"], capture_output=True, text=True, check=True
    )
    assert '"/api/v1/runs"' in done.stdout
