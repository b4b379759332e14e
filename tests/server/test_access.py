"""Who may do what: every operation against every role, the other tenant, and no credentials at all."""

import json
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from midcourse.server.access.identity import RIGHTS, Right, Role
from midcourse.server.app import build_api
from tests.server.serving import (
    RunningServer,
    decide,
    find_question,
    start,
    start_run_that_asks,
    wait_for_end,
    wait_until,
)

RUN = "/api/v1/runs/{run_id}"
NEEDED: dict[tuple[str, str], Right | None] = {
    ("get", "/healthz"): None,
    ("get", "/readyz"): None,
    ("post", "/api/v1/session"): None,
    ("get", "/api/v1/session/oidc"): None,
    ("get", "/api/v1/session/ways"): None,
    ("get", "/api/v1/session/oidc/callback"): None,
    ("get", "/api/v1/session"): "read",
    ("delete", "/api/v1/session"): "read",
    ("get", "/api/v1/runs"): "read",
    ("post", "/api/v1/runs"): "operate",
    ("get", RUN): "read",
    ("get", f"{RUN}/result"): "read",
    ("get", f"{RUN}/journal"): "read",
    ("get", f"{RUN}/export.html"): "read",
    ("get", f"{RUN}/lines"): "read",
    ("get", f"{RUN}/events"): "read",
    ("get", f"{RUN}/live"): "read",
    ("get", f"{RUN}/plans"): "read",
    ("get", f"{RUN}/plans/{{version}}/diff"): "read",
    ("get", f"{RUN}/observations"): "read",
    ("get", f"{RUN}/observations/{{observation}}"): "read",
    ("get", f"{RUN}/observations/{{observation}}/picture"): "read",
    ("get", f"{RUN}/effects"): "read",
    ("post", f"{RUN}/replay"): "read",
    ("post", f"{RUN}/fork"): "operate",
    ("post", f"{RUN}/pause"): "operate",
    ("post", f"{RUN}/resume"): "operate",
    ("post", f"{RUN}/cancel"): "operate",
    ("post", f"{RUN}/guide"): "operate",
    ("post", f"{RUN}/take-over"): "decide",
    ("get", f"{RUN}/take-over/picture"): "decide",
    ("post", f"{RUN}/take-over/input"): "decide",
    ("get", f"{RUN}/questions/{{question}}"): "read",
    ("post", f"{RUN}/questions/{{question}}"): "decide",
    ("get", "/api/v1/questions"): "read",
    ("get", "/api/v1/tasks"): "read",
    ("get", "/api/v1/lessons"): "read",
    ("post", "/api/v1/lessons/{key}/share"): "administer",
    ("delete", "/api/v1/lessons/{key}"): "administer",
    ("get", "/api/v1/audit"): "read",
    ("get", "/api/v1/audit/verdict"): "read",
    ("get", "/api/v1/settings"): "read",
    ("get", "/api/v1/worlds"): "read",
    ("get", "/api/v1/fleet"): "read",
    ("get", "/api/v1/webhooks"): "administer",
}
"""The right that each operation needs. A new operation has to be added here."""

BODIES: dict[str, Any] = {
    "/api/v1/session": {"token": "wrong"},
    "/api/v1/runs": {"task": "no such task"},
    f"{RUN}/fork": {"at": 10**6},
    f"{RUN}/guide": {"text": "hurry"},
    f"{RUN}/take-over/input": {"gestures": []},
    f"{RUN}/questions/{{question}}": {"verdict": "approved", "shown": ["0" * 32]},
    f"{RUN}/replay": {"settings": {}},
    "/api/v1/lessons/{key}/share": {"agent": "default"},
}
PLACES = {"version": "2", "observation": "o2", "question": "11", "key": "0" * 16}


def list_operations() -> list[tuple[str, str]]:
    paths = build_api().openapi()["paths"]
    return [(method, path) for path, methods in paths.items() for method in methods]


def call(client: httpx.Client, method: str, path: str, run_id: str = "asked") -> httpx.Response:
    address = path.format(run_id=run_id, **PLACES)
    body = BODIES.get(path, {}) if method in ("post", "put") else None
    url = str(client.base_url).removesuffix("/api/v1/").rstrip("/")
    if path.endswith("/events"):
        with client.stream(method.upper(), url + address) as response:
            return response
    return client.request(method.upper(), url + address, json=body)


@pytest.fixture(scope="module", autouse=True)
def open_question(server: RunningServer) -> dict[str, Any]:
    """A run of the first tenant that waits for an approval."""
    return start_run_that_asks(server.client("operator"), "asked")


@pytest.mark.slow
def test_every_operation_is_listed_with_the_right_that_it_needs() -> None:
    assert set(list_operations()) == set(NEEDED)


@pytest.mark.parametrize(("method", "path"), sorted(NEEDED))
def test_operations_need_credentials_and_the_right(server: RunningServer, method: str, path: str) -> None:
    needed = NEEDED[method, path]
    if needed is None:
        assert call(server.anonymous_client(headers={"Authorization": "Bearer x"}), method, path).status_code in (
            200,
            401,
            404,
        )
        return
    for wrong in (
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic eDp5"},
        {"Cookie": "midcourse_session=x"},
    ):
        stranger = server.anonymous_client(headers={"Origin": server.url, **wrong})
        assert call(stranger, method, path).status_code == 401, wrong
    for role, rights in RIGHTS.items():
        answer = call(server.client(role), method, path, "asked" if needed == "read" else "none")
        assert (answer.status_code == 403) == (needed not in rights), (role, answer.status_code)


@pytest.mark.parametrize(("method", "path"), sorted(one for one in NEEDED if "{run_id}" in one[1]))
def test_the_other_tenant_finds_no_run(server: RunningServer, method: str, path: str) -> None:
    answer = call(server.client("admin", "umbrella"), method, path)
    assert answer.status_code == 404, answer.text


def test_lists_show_only_the_own_tenant(server: RunningServer, open_question: dict[str, Any]) -> None:
    other = server.client("admin", "umbrella")
    assert other.get("/runs").json()["runs"] == []
    assert other.get("/questions").json()["questions"] == []
    assert other.get("/audit").json()["rows"] == []
    assert [one["run"] for one in server.client("viewer").get("/questions").json()["questions"]] == ["asked"]


def test_who_starts_a_run_does_not_decide_it_where_four_eyes_are_wanted(server: RunningServer, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text("four_eyes = true\n")
    text = (server.home / "tasks" / "lamp.toml").read_text()
    text = text.replace("[settings]\n", f"[settings]\napproval_policy = {json.dumps(str(policy))}\n")
    admin = server.client("admin")
    answer = admin.post("/runs", json={"text": text, "run_id": "eyes", "settings": {"approvals": "always"}})
    assert answer.status_code == 201, answer.text
    question = wait_until(lambda: find_question(admin, "eyes"))
    assert question["not_by"] == "acme-admin"
    own = decide(admin, question)
    assert (own.status_code, own.json()["code"]) == (403, "forbidden")
    assert decide(server.client("approver"), question).status_code == 200
    assert wait_for_end(admin, "eyes")["result"]["success"] is True


# --- tasks


def test_only_administrators_send_task_files(server: RunningServer) -> None:
    text = (server.home / "tasks" / "lamp.toml").read_text()
    assert server.client("operator").post("/runs", json={"text": text}).status_code == 403


@pytest.mark.parametrize("name", ["/etc/passwd", "../tasks/lamp.toml", "lamp.toml", "./lamp", "tasks/lamp"])
def test_a_task_is_not_named_by_a_path(server: RunningServer, name: str) -> None:
    answer = server.client().post("/runs", json={"task": name})
    assert answer.status_code == 422
    assert "not named by its path" in answer.json()["detail"]


@pytest.mark.parametrize("setting", ["home", "record", "cassette", "approval_policy", "model_base_url"])
def test_settings_of_the_server_are_not_for_requests(server: RunningServer, setting: str, tmp_path: Path) -> None:
    answer = server.client().post("/runs", json={"task": "lamp", "settings": {setting: str(tmp_path / "x")}})
    assert answer.status_code == 422
    assert setting in answer.json()["detail"]
    assert not (tmp_path / "x").exists()


# --- idempotency


def test_the_same_key_and_body_start_one_run(server: RunningServer) -> None:
    client = server.client("admin")
    body = {"task": "lamp", "settings": {"approvals": "never"}}
    first = client.post("/runs", json=body, headers={"Idempotency-Key": "k1"})
    again = client.post("/runs", json=body, headers={"Idempotency-Key": "k1"})
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json()["run"] == again.json()["run"]
    assert (first.json()["earlier"], again.json()["earlier"]) == (False, True)
    other = client.post("/runs", json={**body, "again": True}, headers={"Idempotency-Key": "k1"})
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")
    elsewhere = server.client("admin", "umbrella").post("/runs", json=body, headers={"Idempotency-Key": "k1"})
    assert elsewhere.json()["run"] != first.json()["run"]
    wait_for_end(client, first.json()["run"])


def test_a_request_that_failed_leaves_its_key_free(server: RunningServer) -> None:
    client = server.client("operator")
    wrong = client.post("/runs", json={"task": "lamp", "inputs": {"reference": 5}}, headers={"Idempotency-Key": "k2"})
    assert wrong.status_code == 422
    right = client.post(
        "/runs", json={"task": "lamp", "inputs": {"reference": "PO-5"}}, headers={"Idempotency-Key": "k2"}
    )
    assert right.status_code == 201


def test_roles_are_typed() -> None:
    roles: tuple[Role, ...] = ("viewer", "operator", "approver", "admin")
    assert set(RIGHTS) == set(roles)
    assert "decide" not in RIGHTS["operator"]
    assert "operate" not in RIGHTS["approver"]


def test_starting_needs_a_task(server: RunningServer) -> None:
    client = server.client()
    assert client.post("/runs", json={}).status_code == 422
    assert client.post("/runs", json={"task": "lamp", "text": "goal = 'x'"}).status_code == 422
    assert start(client, "named") == "named"
    again = client.post("/runs", json={"task": "lamp", "run_id": "named"})
    assert again.status_code == 422
    assert "already" in again.json()["detail"]
