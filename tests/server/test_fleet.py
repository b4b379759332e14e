"""Durable runs over HTTP: real Temporal, PostgreSQL, workers and a host behind the server; two tenants, four roles; kill -9."""

import asyncio
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from midcourse.app.desk.desks import FleetDesks
from midcourse.app.fleet.store import open_fleet_store
from midcourse.app.settings.run import Settings
from midcourse.app.start import new_run_of
from midcourse.app.wiring import encode_job, load_job, make_portable
from midcourse.server.access.identity import RIGHTS, Caller
from midcourse.server.access.keys import add_key
from tests.server.fleet import SmallFleet, small_fleet
from tests.server.serving import (
    Heard,
    Served,
    decide,
    ended,
    listening,
    question_of,
    serving,
    start,
    start_asking,
    until,
)
from tests.server.test_access import NEEDED, call
from tests.server.test_restart import Process, midcourse_serve

pytestmark = pytest.mark.slow
LISTS = {"/api/v1/runs": "runs", "/api/v1/questions": "questions", "/api/v1/audit": "rows"}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory, postgres: str, temporal: str) -> Generator[SmallFleet]:
    with small_fleet(Path(tmp_path_factory.mktemp("fleet")), postgres, temporal) as up:
        yield up


@pytest.fixture(scope="module")
def durable(fleet: SmallFleet) -> Generator[Served]:
    """A server for the fleet."""
    home = Settings.load(overrides={"home": str(fleet.folder / "home")})
    with serving(fleet.folder, desks=lambda: FleetDesks(fleet.settings, home), tenants=fleet.tenants) as served:
        yield served


def seqs(heard: list[Heard]) -> list[int]:
    return [one.data["seq"] for one in heard if one.type == "turn"]


def test_a_durable_run_is_started_watched_decided_and_finished(durable: Served, fleet: SmallFleet) -> None:
    operator, approver = durable.client("operator"), durable.client("approver")
    assert operator.get("/session").json()["desk"] == "fleet"
    assert httpx.get(f"{durable.url}/readyz", verify=False).json()["ok"] is True
    question = start_asking(operator, "lamp")
    row = next(run for run in operator.get("/runs").json()["runs"] if run["id"] == "lamp")
    assert (row["state"], row["task"], row["world"]) == ("asking", "lamp", "shop")
    heard: list[Heard] = []
    answers: list[int] = []
    for one in listening(durable.client("viewer"), "lamp"):
        heard.append(one)
        if not answers and one.data["standing"]["question"] == question["id"]:
            answers = [decide(approver, question).status_code for _ in range(2)]
    assert answers == [200, 409]
    view = ended(operator, "lamp")
    assert (view["state"], view["verified"], view["durable"], view["by"]) == (
        *("done", True, True),
        f"{fleet.tenants[0]}-operator",
    )
    assert seqs(heard) == list(range(1, len(heard)))
    assert heard[-1].type == "end"
    assert len(fleet.effects("lamp")) == 1
    rows = operator.get("/audit", params={"run": "lamp"}).json()["rows"]
    assert [row["event"]["by"] for row in rows] == [f"{fleet.tenants[0]}-approver"]
    sent = operator.get("/runs/lamp/effects").json()["sent"]
    assert [one["act"]["status"] for one in sent if one["rows"]] == ["ok"]
    assert operator.get("/fleet").json()["workers"] is True
    refused = operator.post("/runs/lamp/fork", json={"at": 5})
    assert (refused.status_code, refused.json()["code"]) == (409, "refused")


def test_a_durable_run_is_paused_guided_resumed_and_cancelled(durable: Served) -> None:
    operator = durable.client("operator")
    start(operator, "slow", "notepad", settings={"step_delay_seconds": 0.3})
    assert operator.post("/runs/slow/pause").status_code == 200
    until(lambda: operator.get("/runs/slow").json()["state"] == "paused")
    assert operator.post("/runs/slow/guide", json={"text": "no hurry"}).status_code == 200
    assert operator.post("/runs/slow/resume").status_code == 200
    until(lambda: operator.get("/runs/slow").json()["state"] in ("running", "done"))
    operator.post("/runs/slow/cancel")
    view = ended(operator, "slow")
    late = operator.post("/runs/slow/pause")
    assert (view["guidance"], late.status_code) == (["no hurry"], 409)


def test_roles_and_tenants_hold_at_every_address_of_a_fleet(durable: Served) -> None:
    other = durable.tenants[1]
    question = start_asking(durable.client("operator"), "guarded")
    theirs = durable.client("operator", other)
    start_asking(theirs, "guarded")  # the same name, and another run
    start(theirs, "theirs", settings={"approvals": "never"})
    for (method, path), needed in NEEDED.items():
        if needed is None:
            continue
        assert call(durable.anyone(headers={"Origin": durable.url}), method, path, "guarded").status_code == 401
        for role, rights in RIGHTS.items():
            answer = call(durable.client(role), method, path, "guarded" if needed == "read" else "none")
            assert (answer.status_code == 403) == (needed not in rights), (method, path, role, answer.status_code)
        if "{run_id}" in path:
            answer = call(durable.client("admin"), method, path, "theirs")
            assert answer.status_code == 404, (method, path, answer.text)
    for path, name in LISTS.items():
        rows = durable.client("admin").get(f"{durable.url}{path}").json()[name]
        assert "theirs" not in {row.get("id") or row.get("run") for row in rows}
    assert decide(durable.client("admin", other), {**question, "id": question["id"] + 1}).status_code == 409
    assert question_of(durable.client("viewer"), "guarded")
    assert decide(durable.client("approver"), question).status_code == 200
    assert ended(durable.client("viewer"), "guarded")["result"]["success"] is True
    assert question_of(theirs, "guarded"), "the decision of one tenant does not concern the run of the other"


def test_a_start_that_was_cut_off_is_continued_by_the_same_request(durable: Served, fleet: SmallFleet) -> None:
    """The server died after the run was stored and before Temporal knew of it: the key still stands for that run."""
    operator = durable.client("operator")
    body = {"task": "lamp", "run_id": "cut", "settings": {"approvals": "never"}}

    async def store_only() -> None:
        job = load_job(str(durable.home / "tasks" / "lamp.toml"), {"approvals": "never"})
        async with open_fleet_store(fleet.settings) as store:
            run, task = new_run_of(job, "cut")
            await store.begin(run, task, job=encode_job(make_portable(job)))

    asyncio.run(store_only())
    answer = operator.post("/runs", json=body, headers={"Idempotency-Key": "once"})
    assert (answer.status_code, answer.json()) == (201, {"run": "cut", "earlier": True})
    assert ended(operator, "cut")["result"]["success"] is True
    assert len(fleet.effects("cut")) == 1


def test_a_killed_server_of_a_fleet_loses_no_event_and_no_decision(fleet: SmallFleet, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    secrets = {
        role: add_key(keys, Caller(name=role, tenant=fleet.tenants[0], role=role)) for role in ("operator", "approver")
    }
    options = ("--port", "0", "--durable", "--keys", str(keys), *fleet.options())

    def client(up: Process, role: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {secrets[role]}"}
        return httpx.Client(base_url=f"{up.url}/api/v1", timeout=300, verify=False, headers=headers)

    heard: list[Heard] = []
    body: dict[str, Any] = {"task": "lamp", "run_id": "killed", "settings": {"approvals": "always"}}
    with midcourse_serve(tmp_path, *options) as first, client(first, "operator") as operator:
        assert operator.post("/runs", json=body, headers={"Idempotency-Key": "k"}).status_code == 201
        question = until(lambda: question_of(operator, "killed"))
        for one in listening(operator, "killed"):
            heard.append(one)
            if one.data.get("standing", {}).get("question"):
                break
        with client(first, "approver") as approver:
            assert decide(approver, question).status_code == 200
        first.kill()
    with midcourse_serve(tmp_path, *options) as second, client(second, "operator") as operator:
        again = operator.post("/runs", json=body, headers={"Idempotency-Key": "k"})
        assert (again.status_code, again.json()) == (201, {"run": "killed", "earlier": True})
        heard += list(listening(operator, "killed", heard[-1].id))
        whole = list(listening(operator, "killed"))
        view = ended(operator, "killed")
    assert view["result"]["success"] is True
    assert heard == whole
    assert seqs(heard) == list(range(1, len(heard)))
    decisions = [
        one.data["event"] for one in heard if one.type == "turn" and one.data["event"]["kind"] == "approval_decided"
    ]
    assert [(one["by"], one["shown"]) for one in decisions] == [("approver", question["shown"])]
    assert len(fleet.effects("killed")) == 1
