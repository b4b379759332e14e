"""What the API and the page of a run say of a 'done' that nothing supports."""

from collections.abc import Generator
from pathlib import Path

import pytest

from midcourse.testing.models import ModelServer
from tests.server.serving import RunningServer, run_server, wait_for_end

pytestmark = pytest.mark.slow
TASK = 'goal = "Order one desk lamp"\nsends = {sends}\n[world]\nname = "shop"\n[planner]\nmodel = "openai:scripted"\n'


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[RunningServer]:
    with ModelServer([{"verdict": "done", "reason": "I have ordered it"}]) as liar:
        monkeypatch.setenv("MIDCOURSE_MODEL_BASE_URL", liar.url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        with run_server(tmp_path) as server:
            yield server


def test_an_unsupported_done_is_shown_as_not_verified_or_contradicted(server: RunningServer):
    admin = server.client("admin")
    for run_id, sends in (("claim", "false"), ("must", "true")):
        body = {"text": TASK.format(sends=sends), "run_id": run_id}
        started = admin.post("/runs", json=body, headers={"Idempotency-Key": run_id})
        assert started.status_code == 201, started.text
        wait_for_end(admin, run_id)
    claim, must = admin.get("/runs/claim").json(), admin.get("/runs/must").json()
    assert (claim["verified"], claim["sending"], claim["final_reason"]) == (False, "nothing", "plan_complete")
    assert claim["sentence"] == "Done; nothing was sent."
    assert claim["result"]["success"] is True
    assert (must["verified"], must["final_reason"], must["result"]["success"]) == (False, "contradicted", False)
    assert must["result"]["final_detail"] == "the task must send something, and nothing was sent"
    page = admin.get("/runs/claim/export.html").text
    assert 'class="pill doubt">not verified' in page
    assert 'class="pill good">verified' not in page
