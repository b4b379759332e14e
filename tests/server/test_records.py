"""Records of a run over HTTP: plans, differences, observations, what was sent with its evidence, replays, forks, audit."""

import asyncio
from pathlib import Path

import httpx2 as httpx
import pytest

from midcourse.home.stores import open_store
from midcourse.pictures import read_picture
from tests.server.serving import RunningServer, decide, start, start_run_that_asks, wait_for_end, wait_until


@pytest.fixture(scope="module")
def reader(server: RunningServer) -> httpx.Client:
    """A viewer who can read three ended runs: `lamp`, `stored` (504 after the order was stored) and `doubt` (nothing decides)."""
    operator, approver = server.client("operator"), server.client("approver")
    start(server.client(), "stored", "stored", settings={"approvals": "never"})
    asked = start_run_that_asks(operator, "lamp")
    assert decide(approver, asked).status_code == 200
    wait_for_end(operator, "stored")
    wait_for_end(operator, "lamp")
    return server.client("viewer")


@pytest.mark.slow
def test_plans_say_why_they_were_made_and_how_far_they_got(reader: httpx.Client) -> None:
    plans = reader.get("/runs/lamp/plans").json()
    assert [plan["plan"]["version"] for plan in plans] == [1, 2, 3]
    assert [plan["reason"] for plan in plans] == ["first plan", "after a transition", "after a transition"]
    assert plans[1]["steps"][:2] == ["Fill in the address", "Fill in the reference"]
    assert all(plan["made_at"] and plan["carried_out"] == len(plan["plan"]["steps"]) for plan in plans[:1])


def test_a_diff_says_what_was_done_and_what_is_new(reader: httpx.Client) -> None:
    found = reader.get("/runs/lamp/plans/2/diff").json()
    assert (found["before"], found["after"]) == (1, 2)
    assert [step["says"] for step in found["done"]] == ["Put one into the basket", "Go to the checkout"]
    assert [step["says"] for step in found["new"]][-1] == "Place the order"
    assert reader.get("/runs/lamp/plans/1/diff").status_code == 404
    assert reader.get("/runs/lamp/plans/9/diff").status_code == 404


def test_observations_come_in_pages(reader: httpx.Client) -> None:
    everything = reader.get("/runs/lamp/observations").json()
    assert everything["next"] is None
    paged, above = [], 0
    while True:
        page = reader.get("/runs/lamp/observations", params={"limit": 2, "above": above}).json()
        paged += page["looks"]
        if page["next"] is None:
            break
        above = page["next"]
    assert paged == everything["looks"]
    one = reader.get(f"/runs/lamp/observations/{paged[0]['seen']['id']}").json()
    assert one["surface"]["title"] == "Catalogue"
    assert one["zones"]
    assert reader.get("/runs/lamp/observations/o999").status_code == 404
    assert reader.get(f"/runs/lamp/observations/{paged[0]['seen']['id']}/picture").status_code == 404


def test_a_picture_is_served_through_the_observation_that_names_it(server: RunningServer, reader: httpx.Client) -> None:
    start(server.client(), "pictured", "changeable", settings={"approvals": "never"})
    wait_for_end(reader, "pictured")
    look = reader.get("/runs/pictured/observations").json()["looks"][0]
    place = f"observations/{look['seen']['id']}/picture"
    answer = reader.get(f"/runs/pictured/{place}")
    picture = read_picture(answer.content)
    assert picture is not None
    assert (picture.digest, picture.width, picture.height) == (look["picture"], 64, 48)
    assert (answer.headers["content-type"], answer.headers["x-content-type-options"]) == ("image/webp", "nosniff")
    assert reader.get(f"/runs/lamp/{place}").status_code == 404
    assert server.client("viewer", "umbrella").get(f"/runs/pictured/{place}").status_code == 404
    assert server.anonymous_client().get(f"/runs/pictured/{place}").status_code == 401


def test_effects_have_every_look_for_evidence(reader: httpx.Client) -> None:
    found = reader.get("/runs/stored/effects").json()
    (effect,) = [one for one in found["sent"] if one["act"]["consequence"]["effect"] == "irreversible"]
    act = effect["act"]
    assert {row["name"]: row["value"] for row in effect["rows"]}["total"] == 49.0
    assert act["looks"][0]["finding"] == "unknown"
    assert act["looks"][-1]["finding"] == "happened"
    assert (act["status"], act["evidence"], act["words"]) == ("ok", "probe", "a probe found it")
    assert len(found["world"]) == 1


def test_a_replay_under_other_settings_says_what_would_have_been(reader: httpx.Client) -> None:
    same = reader.post("/runs/lamp/replay", json={})
    assert same.json()["verdict"] == "identical", same.text
    fewer = reader.post("/runs/lamp/replay", json={"settings": {"max_calls": 1, "ask_for_more": False}}).json()
    assert fewer["verdict"] == "ends_earlier"
    assert "would have ended earlier" in fewer["headline"]
    wrong = reader.post("/runs/lamp/replay", json={"settings": {"home": "/tmp"}})
    assert wrong.status_code == 422


def test_a_fork_continues_as_a_new_run_that_asks_again(server: RunningServer, reader: httpx.Client) -> None:
    operator = server.client("operator")
    made = operator.post("/runs/lamp/fork", json={"at": 8, "run_id": "forked"})
    assert made.status_code == 201, made.text
    question = wait_until(
        lambda: next((q for q in reader.get("/questions").json()["questions"] if q["run"] == "forked"), None)
    )
    assert decide(server.client("approver"), question).status_code == 200
    assert wait_for_end(operator, "forked")["forked_from"] == "lamp"


def test_the_audit_log_names_who_decided_and_holds(reader: httpx.Client) -> None:
    rows = reader.get("/audit", params={"run": "lamp"}).json()["rows"]
    assert [row["says"].partition(" question")[0] for row in rows] == ["acme-approver approved"]
    assert reader.get("/audit/verdict").json()["holds"] is True


def test_lessons_are_listed_shared_and_forgotten(server: RunningServer, reader: httpx.Client) -> None:
    admin = server.client("admin")
    lessons = reader.get("/lessons").json()
    assert isinstance(lessons, list)
    assert admin.post(f"/lessons/{'0' * 16}/share", json={"agent": "default"}).status_code == 404
    assert admin.delete(f"/lessons/{'0' * 16}").status_code == 404


def test_settings_and_worlds_are_described(server: RunningServer, reader: httpx.Client) -> None:
    settings = {row["name"]: row for row in reader.get("/settings").json()}
    assert settings["max_calls"]["default"] == "30"
    assert settings["home"]["value"] == ""
    assert {row["name"]: row for row in server.client().get("/settings").json()}["home"]["value"]
    assert {"name": "shop", "simulated": True} in reader.get("/worlds").json()
    assert reader.get("/fleet").json()["kind"] == "local"
    assert {"lamp", "order"} <= {row["name"] for row in reader.get("/tasks").json()}


def test_records_of_a_pruned_run_are_gone_and_its_result_is_not(server: RunningServer, reader: httpx.Client) -> None:
    start(server.client(), "pruned", "stored", settings={"approvals": "never"})
    wait_for_end(reader, "pruned")
    asyncio.run(_prune(server.home / "acme", "pruned"))
    view = reader.get("/runs/pruned").json()
    assert (view["pruned_at"], view["plans"], view["result"]["run"]) == (50.0, [], "pruned")
    assert reader.get("/runs/pruned/result").status_code == 200
    for part in ("plans", "lines", "observations", "observations/o1", "effects", "journal", "export.html", "events"):
        answer = reader.get(f"/runs/pruned/{part}")
        assert (answer.status_code, answer.json()["code"]) == (410, "pruned"), part
    assert "pruned" in [run["id"] for run in reader.get("/runs").json()["runs"]]


async def _prune(home: Path, run_id: str) -> None:
    with open_store(home) as store:
        assert await store.prune((run_id,), at=50.0) == 1
