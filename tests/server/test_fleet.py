"""Durable runs over HTTP: real Temporal, PostgreSQL, workers and a host behind the server; two tenants, four roles; kill -9."""

import asyncio
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from midcourse.agent.start import new_run_of
from midcourse.agent.wiring import encode_job, load_job, make_portable
from midcourse.config.settings import Settings
from midcourse.home.fleet_store import open_fleet_store
from midcourse.server.access.identity import RIGHTS
from midcourse.server.access.keys import add_key
from midcourse.tenants.tenants import FleetTenants
from tests.server.fleet import SmallFleet, run_small_fleet
from tests.server.serving import (
    RunningServer,
    StreamMessage,
    decide,
    find_question,
    read_stream,
    run_server,
    start,
    start_run_that_asks,
    wait_for_end,
    wait_until,
)
from tests.server.test_access import NEEDED, call
from tests.server.test_restart import Process, run_midcourse_serve

pytestmark = pytest.mark.slow
LISTS = {"/api/v1/runs": "runs", "/api/v1/questions": "questions", "/api/v1/audit": "rows"}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory, postgres: str, temporal: str) -> Generator[SmallFleet]:
    with run_small_fleet(Path(tmp_path_factory.mktemp("fleet")), postgres, temporal) as up:
        yield up


@pytest.fixture(scope="module")
def fleet_server(fleet: SmallFleet) -> Generator[RunningServer]:
    """A server for the fleet."""
    home = Settings.load(overrides={"home": str(fleet.folder / "home")})
    with run_server(fleet.folder, served=lambda: FleetTenants(fleet.settings, home), tenants=fleet.tenants) as server:
        yield server


def list_seqs(messages: list[StreamMessage]) -> list[int]:
    return [one.data["seq"] for one in messages if one.type == "turn"]


def test_a_durable_run_is_started_watched_decided_and_finished(fleet_server: RunningServer, fleet: SmallFleet) -> None:
    operator, approver = fleet_server.client("operator"), fleet_server.client("approver")
    assert operator.get("/session").json()["desk"] == "fleet"
    assert httpx.get(f"{fleet_server.url}/readyz", verify=False).json()["ok"] is True
    question = start_run_that_asks(operator, "lamp")
    row = next(run for run in operator.get("/runs").json()["runs"] if run["id"] == "lamp")
    assert (row["state"], row["task"], row["world"]) == ("asking", "lamp", "shop")
    messages: list[StreamMessage] = []
    answers: list[int] = []
    for one in read_stream(fleet_server.client("viewer"), "lamp"):
        messages.append(one)
        if not answers and one.data["standing"]["question"] == question["id"]:
            answers = [decide(approver, question).status_code for _ in range(2)]
    assert answers == [200, 409]
    view = wait_for_end(operator, "lamp")
    assert (view["state"], view["verified"], view["durable"], view["by"]) == (
        *("done", True, True),
        f"{fleet.tenants[0]}-operator",
    )
    assert list_seqs(messages) == list(range(1, len(messages)))
    assert messages[-1].type == "end"
    assert len(fleet.read_effects("lamp")) == 1
    rows = operator.get("/audit", params={"run": "lamp"}).json()["rows"]
    assert [row["event"]["by"] for row in rows] == [f"{fleet.tenants[0]}-approver"]
    sent = operator.get("/runs/lamp/effects").json()["sent"]
    assert [one["act"]["status"] for one in sent if one["rows"]] == ["ok"]
    assert operator.get("/fleet").json()["workers"] is True
    refused = operator.post("/runs/lamp/fork", json={"at": 5})
    assert (refused.status_code, refused.json()["code"]) == (409, "refused")


def test_a_durable_run_is_paused_guided_resumed_and_cancelled(fleet_server: RunningServer) -> None:
    operator = fleet_server.client("operator")
    start(operator, "slow", "notepad", settings={"step_delay_seconds": 0.3})
    assert operator.post("/runs/slow/pause").status_code == 200
    wait_until(lambda: operator.get("/runs/slow").json()["state"] == "paused")
    assert operator.post("/runs/slow/guide", json={"text": "no hurry"}).status_code == 200
    assert operator.post("/runs/slow/resume").status_code == 200
    wait_until(lambda: operator.get("/runs/slow").json()["state"] in ("running", "done"))
    operator.post("/runs/slow/cancel")
    view = wait_for_end(operator, "slow")
    late = operator.post("/runs/slow/pause")
    assert (view["guidance"], late.status_code) == (["no hurry"], 409)


def test_roles_and_tenants_hold_at_every_address_of_a_fleet(fleet_server: RunningServer) -> None:
    other = fleet_server.tenants[1]
    question = start_run_that_asks(fleet_server.client("operator"), "guarded")
    theirs = fleet_server.client("operator", other)
    start_run_that_asks(theirs, "guarded")  # the same name, and another run
    start(fleet_server.client("admin", other), "theirs", settings={"approvals": "never"})
    for (method, path), needed in NEEDED.items():
        if needed is None:
            continue
        assert (
            call(
                fleet_server.anonymous_client(headers={"Origin": fleet_server.url}), method, path, "guarded"
            ).status_code
            == 401
        )
        for role, rights in RIGHTS.items():
            answer = call(fleet_server.client(role), method, path, "guarded" if needed == "read" else "none")
            assert (answer.status_code == 403) == (needed not in rights), (method, path, role, answer.status_code)
        if "{run_id}" in path:
            answer = call(fleet_server.client("admin"), method, path, "theirs")
            assert answer.status_code == 404, (method, path, answer.text)
    for path, name in LISTS.items():
        rows = fleet_server.client("admin").get(f"{fleet_server.url}{path}").json()[name]
        assert "theirs" not in {row.get("id") or row.get("run") for row in rows}
    assert decide(fleet_server.client("admin", other), {**question, "id": question["id"] + 1}).status_code == 409
    assert find_question(fleet_server.client("viewer"), "guarded")
    assert decide(fleet_server.client("approver"), question).status_code == 200
    assert wait_for_end(fleet_server.client("viewer"), "guarded")["result"]["success"] is True
    assert find_question(theirs, "guarded"), "the decision of one tenant does not concern the run of the other"


def test_a_start_that_was_cut_off_is_continued_by_the_same_request(
    fleet_server: RunningServer, fleet: SmallFleet
) -> None:
    """The server died after the run was stored and before Temporal knew of it: the key still stands for that run."""
    operator = fleet_server.client("admin")
    body = {"task": "lamp", "run_id": "cut", "settings": {"approvals": "never"}}

    async def store_run() -> None:
        job = load_job(str(fleet_server.home / "tasks" / "lamp.toml"), {"approvals": "never"})
        async with open_fleet_store(fleet.settings) as store:
            run, task = new_run_of(job, "cut")
            await store.begin(run, task, job=encode_job(make_portable(job)))

    asyncio.run(store_run())
    answer = operator.post("/runs", json=body, headers={"Idempotency-Key": "once"})
    assert (answer.status_code, answer.json()) == (201, {"run": "cut", "earlier": True})
    assert wait_for_end(operator, "cut")["result"]["success"] is True
    assert len(fleet.read_effects("cut")) == 1


def test_a_killed_server_of_a_fleet_loses_no_event_and_no_decision(fleet: SmallFleet, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    secrets = {role: add_key(keys, role, fleet.tenants[0], role) for role in ("operator", "approver")}
    options = ("--port", "0", "--durable", "--keys", str(keys), *fleet.make_options())

    def client(up: Process, role: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {secrets[role]}"}
        return httpx.Client(base_url=f"{up.url}/api/v1", timeout=300, verify=False, headers=headers)

    messages: list[StreamMessage] = []
    body: dict[str, Any] = {"task": "lamp", "run_id": "killed", "settings": {"approvals": "always"}}
    with run_midcourse_serve(tmp_path, *options) as first, client(first, "operator") as operator:
        assert operator.post("/runs", json=body, headers={"Idempotency-Key": "k"}).status_code == 201
        question = wait_until(lambda: find_question(operator, "killed"))
        for one in read_stream(operator, "killed"):
            messages.append(one)
            if one.data.get("standing", {}).get("question"):
                break
        with client(first, "approver") as approver:
            assert decide(approver, question).status_code == 200
        first.kill()
    with run_midcourse_serve(tmp_path, *options) as second, client(second, "operator") as operator:
        again = operator.post("/runs", json=body, headers={"Idempotency-Key": "k"})
        assert (again.status_code, again.json()) == (201, {"run": "killed", "earlier": True})
        messages += list(read_stream(operator, "killed", messages[-1].id))
        whole = list(read_stream(operator, "killed"))
        view = wait_for_end(operator, "killed")
    assert view["result"]["success"] is True
    assert messages == whole
    assert list_seqs(messages) == list(range(1, len(messages)))
    decisions = [
        one.data["event"] for one in messages if one.type == "turn" and one.data["event"]["kind"] == "approval_decided"
    ]
    assert [(one["by"], one["shown"]) for one in decisions] == [("approver", question["shown"])]
    assert len(fleet.read_effects("killed")) == 1
