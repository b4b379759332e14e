"""Runs over HTTP: started, listed in pages, paused, guided, resumed, cancelled, taken over."""

import httpx2 as httpx
import pytest

from tests.server.serving import (
    RunningServer,
    decide,
    read_stream,
    start,
    start_run_that_asks,
    wait_for_end,
    wait_until,
)

SLOW = {"step_delay_seconds": 0.3}


@pytest.fixture(scope="module")
def operator(server: RunningServer) -> httpx.Client:
    return server.client("operator")


@pytest.fixture(scope="module", autouse=True)
def start_runs(server: RunningServer, operator: httpx.Client) -> None:
    """Runs that are done, failed and asking."""
    start(server.client(), "done", settings={"approvals": "never"})
    rejected = start_run_that_asks(operator, "failed")
    decide(server.client("approver"), rejected, "rejected")
    wait_for_end(operator, "done")
    wait_for_end(operator, "failed")
    start_run_that_asks(operator, "asking")


def list_ids(client: httpx.Client, **query: str | list[str]) -> list[str]:
    answer = client.get("/runs", params=query)
    assert answer.status_code == 200, answer.text
    return [run["id"] for run in answer.json()["runs"]]


def test_rows_say_what_runs_came_to_and_wait_for(operator: httpx.Client) -> None:
    rows = {run["id"]: run for run in operator.get("/runs").json()["runs"]}
    done, failed, asking = rows["done"], rows["failed"], rows["asking"]
    assert (done["state"], done["verified"], done["sentence"]) == ("done", True, "Done, and verified.")
    assert (done["task"], done["world"], done["calls"]) == ("lamp", "shop", 3)
    assert done["began_at"] < done["ended_at"] == done["updated_at"]
    assert (failed["state"], failed["final_reason"]) == ("failed", "rejected")
    assert failed["sentence"] == "Failed: it was not approved; nothing was sent."
    assert asking["sentence"] == "It waits for an approval: Place the order. Nothing has been sent."
    assert asking["began_at"] <= asking["waiting_since"] <= asking["updated_at"]


def test_runs_are_filtered(operator: httpx.Client) -> None:
    assert list_ids(operator, state="done") == ["done"]
    assert sorted(list_ids(operator, state=["done", "failed"])) == ["done", "failed"]
    assert list_ids(operator, state="interrupted") == []
    assert list_ids(operator, q="FAIL") == ["failed"]
    assert list_ids(operator, world="erp") == []
    assert "asking" in list_ids(operator, world="shop", state="asking")
    counts = operator.get("/runs").json()["counts"]
    assert (counts["done"], counts["failed"], counts["asking"]) == (1, 1, 1)


def test_pages_have_every_run_once(operator: httpx.Client) -> None:
    found: list[str] = []
    after = ""
    while True:
        page = operator.get("/runs", params={"limit": 1, "after": after}).json()
        found += [run["id"] for run in page["runs"]]
        if page["next"] is None:
            break
        after = page["next"]
    assert found == list_ids(operator)
    assert operator.get("/runs", params={"after": "x"}).status_code == 422


def test_a_view_says_what_the_caller_may_do(server: RunningServer, operator: httpx.Client) -> None:
    assert operator.get("/runs/asking").json()["may"] == ["pause", "cancel", "guide"]
    assert server.client("approver").get("/runs/asking").json()["may"] == ["take_over", "decide"]
    assert server.client("admin").get("/runs/asking").json()["may"] == [
        "pause",
        "cancel",
        "guide",
        "take_over",
        "decide",
    ]
    assert server.client("viewer").get("/runs/asking").json()["may"] == []
    view = operator.get("/runs/asking").json()
    assert (view["question"], view["by"]) == (view["question"], "acme-operator")
    assert [step["status"] for step in view["plan"]["steps"]][:3] == ["done", "done", "current"]


@pytest.mark.slow
def test_a_run_is_paused_guided_and_resumed(server: RunningServer, operator: httpx.Client) -> None:
    start(operator, "paused", "notepad", settings=SLOW)
    assert operator.post("/runs/paused/pause").status_code == 200
    wait_until(lambda: operator.get("/runs/paused").json()["state"] == "paused")
    assert operator.post("/runs/paused/guide", json={"text": "no hurry"}).status_code == 200
    assert operator.post("/runs/paused/resume").status_code == 200
    view = wait_for_end(operator, "paused")
    assert view["result"]["success"] is True
    said = [
        one.data["line"]["text"] for one in read_stream(operator, "paused") if one.type == "turn" and one.data["line"]
    ]
    assert "guidance: no hurry" in said
    late = operator.post("/runs/paused/pause")
    assert (late.status_code, late.json()["code"]) == (409, "refused")
    assert "ended" in late.json()["detail"]


def test_a_run_is_cancelled(operator: httpx.Client) -> None:
    start(operator, "cancelled", "notepad", settings=SLOW)
    assert operator.post("/runs/cancelled/cancel").status_code == 200
    assert wait_for_end(operator, "cancelled")["final_reason"] == "cancelled"
    result = operator.get("/runs/cancelled/result").json()
    assert result["final_reason"] == "cancelled"


def test_a_result_and_a_journal_are_exported(operator: httpx.Client) -> None:
    assert operator.get("/runs/asking/result").status_code == 409
    assert operator.get("/runs/done/result").json()["success"] is True
    journal = operator.get("/runs/done/journal")
    assert journal.headers["content-type"].startswith("application/jsonl")
    assert journal.text.startswith('{"journal":1')


@pytest.mark.slow
def test_a_take_over_waits_for_the_pause(server: RunningServer, operator: httpx.Client) -> None:
    start(operator, "taken", "notepad", settings=SLOW)
    taken = server.client("admin").post("/runs/taken/take-over")
    assert operator.get("/runs/taken").json()["state"] == "paused"
    assert (taken.status_code, taken.json()["says"]) == (
        200,
        "you have taken over the world; resume the run when you are done",
    )
    assert operator.post("/runs/taken/resume").status_code == 200
    wait_for_end(operator, "taken")


def test_guidance_that_says_nothing_is_refused(operator: httpx.Client) -> None:
    assert operator.post("/runs/asking/guide", json={"text": "  "}).status_code == 422
