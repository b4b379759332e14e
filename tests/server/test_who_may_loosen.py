"""Who may switch asking off: no request of an operator makes a run ask less, and under four eyes no request of its starter does."""

import json
import sqlite3
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from starlette.datastructures import Headers

from midcourse.config.bounds import BOUNDS
from midcourse.config.settings import Settings
from midcourse.errors import TaskInvalid
from midcourse.server.access.doorway import COOKIE, SECRET_HEADER, Doorway, Proxy
from midcourse.server.access.identity import LONGEST_NAME, Caller, NotSignedIn, check_name
from midcourse.server.access.keys import KeyFile, digest_of
from midcourse.server.models.runs import StartRun
from midcourse.server.problems import Refusal
from midcourse.server.starting import SERVER_ONLY, job_for, list_task_rows
from tests.server.serving import (
    RunningServer,
    decide,
    find_question,
    run_server,
    start,
    start_run_that_asks,
    wait_for_end,
    wait_until,
    write_tasks,
)


@pytest.fixture(scope="module")
def other_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    with run_server(Path(tmp_path_factory.mktemp("two_people"))) as server:
        yield server


@pytest.fixture
def two_people(other_server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> RunningServer:
    """A server whose own settings require four eyes."""
    require_four_eyes(other_server.home, monkeypatch)
    return other_server


def require_four_eyes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "policy.toml").write_text("four_eyes = true\n")
    monkeypatch.setenv("MIDCOURSE_APPROVAL_POLICY", str(folder / "policy.toml"))


def count_orders(server: RunningServer, run_id: str) -> int:
    """The orders in the log of the run's world."""
    log = server.home / "acme" / "runs" / run_id / "effects.jsonl"
    return len(log.read_text().splitlines()) if log.is_file() else 0


def refuse(answer: httpx.Response) -> dict[str, Any]:
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), answer.text
    return answer.json()


# --- settings of a request


def test_an_operator_does_not_switch_approval_off(server: RunningServer) -> None:
    operator = server.client("operator")
    body = {"task": "lamp", "run_id": "unasked", "settings": {"approvals": "never"}}
    refused = refuse(operator.post("/runs", json=body))
    assert "settings.approvals would be never" in refused["detail"]
    assert "say always" in refused["detail"]
    assert "the role operator may not loosen it" in refused["detail"]
    assert refused["next"] == "send a value within the bound, or have a user with the role admin start the run"
    assert operator.get("/runs/unasked").status_code == 404
    assert count_orders(server, "unasked") == 0
    start(server.client("admin"), "unasked", settings={"approvals": "never"})
    wait_for_end(operator, "unasked")
    assert count_orders(server, "unasked") == 1


def test_a_rule_of_the_policy_holds_even_against_an_administrator_who_loosens_approvals(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "policy.toml").write_text('[[rules]]\nask = "always"\neffect = "irreversible"\n')
    monkeypatch.setenv("MIDCOURSE_APPROVAL_POLICY", str(tmp_path / "policy.toml"))
    admin = server.client("admin")
    start(admin, "ruled", settings={"approvals": "never"})
    assert wait_until(lambda: find_question(admin, "ruled"))["about"] == "approve"
    assert count_orders(server, "ruled") == 0


def test_what_a_preset_or_a_ceiling_loosens_is_refused_all_at_once(server: RunningServer) -> None:
    settings = {"max_calls": 100_000, "model": "openai:gpt-5", "max_cost_usd": 1e9}
    refused = refuse(server.client("operator").post("/runs", json={"task": "lamp", "settings": settings}))
    assert "max_calls" in refused["detail"]
    assert "settings.model would be openai:gpt-5" in refused["detail"]
    assert "max_cost_usd" not in refused["detail"], "a ceiling where there was none is lower"
    start(server.client("operator"), "cheap", settings={"max_calls": 3, "approvals": "adaptive"})


LOOSER: dict[str, object] = {
    "approvals": "never", "ask_for_more": True, "approval_seconds": 10**6, "human_after": "none", "monitor": "off",
    "replan_admission": False, "structural_stop": False, "count_extensions": False, "auto_replan": True, "final_looks": "last",
    "failures": '[{"reason": "x", "severity": "LOW"}]', "look_calls": 1, "plan_tokens": 1, "plan_cost_usd": 0.001,
    "visible_plans": 0, "model": "openai:gpt-5", "role_models": "judge=rules", "embedder": "openai:x", "agent": "other",
    "images": "on", "vision": True, "reads_words": False, "trace_content": True, "retention_days": 1, "lesson_tries": 1.0,
}  # fmt: skip
"""For settings that are not a number with a ceiling: a value that is looser than that of the task below."""
STRICT = """
approvals = "adaptive"
ask_for_more = false
approval_seconds = 60
monitor = "proposals"
human_after = 1
count_extensions = true
auto_replan = false
"""


@pytest.mark.parametrize("name", sorted(name for name, bound in BOUNDS.items() if bound.change != "free"))
def test_no_setting_of_an_operator_makes_a_run_ask_less_or_cost_more(name: str, tmp_path: Path) -> None:
    folder = write_tasks(tmp_path / "tasks")
    lamp = folder / "lamp.toml"
    lamp.write_text(lamp.read_text().replace("[settings]\n", f"[settings]\n{STRICT}"))
    home = Settings.load(overrides={"home": str(tmp_path / "home")})
    operator, admin = (Caller(name="x", id="key:x", tenant="local", role=role) for role in ("operator", "admin"))
    bound = job_for(StartRun(task="lamp"), operator, home, folder).settings
    before: Any = getattr(bound, name)
    value: Any = LOOSER.get(name, "none" if before is None else before + 1 if isinstance(before, int | float) else "x")
    body = StartRun(task="lamp", settings={name: value})
    if name in SERVER_ONLY:
        for caller in (operator, admin):
            with pytest.raises(TaskInvalid, match="only the server's own settings"):
                job_for(body, caller, home, folder)
        return
    if before is None and BOUNDS[name].change == "only lower":
        assert getattr(job_for(body, operator, home, folder).settings, name) is None
        return
    with pytest.raises(Refusal, match=rf"settings\.{name} would be"):
        job_for(body, operator, home, folder)
    assert getattr(job_for(body, admin, home, folder).settings, name) != before


def test_only_an_administrator_raises_a_ceiling(server: RunningServer) -> None:
    write_costly_task(server)
    start(server.client("operator"), "costly", "costly")
    admin = server.client("admin")
    question = wait_until(lambda: find_question(admin, "costly"))
    assert (question["about"], question["verdicts"]) == ("more", ["spend_more", "stop"])
    assert question["more"] == {"calls": 0, "tokens": 0, "cost_usd": 0.1}
    assert (
        "the role approver may not raise a ceiling"
        in refuse(decide(server.client("approver"), question, "spend_more"))["detail"]
    )
    assert decide(admin, question, "spend_more").status_code == 200
    assert wait_for_end(admin, "costly")["final_reason"] == "goal_reached"


def test_an_approver_may_say_no_to_more(server: RunningServer) -> None:
    write_costly_task(server)
    start(server.client("operator"), "too_costly", "costly")
    approver = server.client("approver")
    question = wait_until(lambda: find_question(approver, "too_costly"))
    assert decide(approver, question, "stop").status_code == 200
    assert wait_for_end(approver, "too_costly")["final_reason"] == "budget_exhausted"


def write_costly_task(server: RunningServer) -> None:
    """A task whose first plan may cost more than its ceiling, so that it asks for $0.10 more and needs no more after that."""
    lamp = (server.home / "tasks" / "lamp.toml").read_text()
    approved = '[[rules]]\nask = "never"\nskill = "*"\neffect = "irreversible"\n'
    (server.home / "tasks" / "policy.txt").write_text(approved)
    settings = f'[settings]\nmax_cost_usd = 0.1\nplan_cost_usd = 0.2\napproval_policy = "{server.home / "tasks" / "policy.txt"}"\n'
    (server.home / "tasks" / "costly.toml").write_text(lamp.replace("[settings]\n", settings))


def test_a_tenants_ceiling_is_not_for_its_people_to_raise(tmp_path: Path) -> None:
    """The settings with which a server starts runs of another tenant hold against the request."""
    folder = write_tasks(tmp_path / "tasks")
    theirs = Settings.load(overrides={"home": str(tmp_path / "home"), "ask_for_more": "false"})
    admin = Caller(name="x", id="key:x", tenant="theirs", role="admin")
    job = job_for(StartRun(task="lamp", settings={"ask_for_more": True}), admin, theirs, folder)
    assert not job.settings.ask_for_more


def test_only_an_administrator_may_start_a_task_again(server: RunningServer) -> None:
    refused = refuse(server.client("operator").post("/runs", json={"task": "lamp", "again": True}))
    assert "may not decide that what an earlier run did may be done once more" in refused["detail"]
    assert server.client("admin").post("/runs", json={"task": "lamp", "again": True}).status_code == 201


def test_a_fork_is_bound_by_the_task_and_not_by_what_an_administrator_had_loosened(server: RunningServer) -> None:
    admin, operator = server.client("admin"), server.client("operator")
    start(admin, "loose", settings={"approvals": "never"})
    wait_for_end(admin, "loose")
    assert "settings.approvals" in refuse(operator.post("/runs/loose/fork", json={"at": 3}))["detail"]
    loosened = operator.post("/runs/loose/fork", json={"at": 3, "settings": {"approvals": "always", "max_replans": 50}})
    assert "settings.max_replans would be 50" in refuse(loosened)["detail"]
    strict = operator.post("/runs/loose/fork", json={"at": 3, "run_id": "strict", "settings": {"approvals": "always"}})
    assert strict.status_code == 201, strict.text
    wait_until(lambda: find_question(operator, "strict"))
    assert count_orders(server, "strict") == 0
    assert admin.post("/runs/loose/fork", json={"at": 3, "run_id": "again"}).status_code == 201


# --- four eyes


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"settings": {"approvals": "never"}}, "settings.approvals would be never"),
        ({"settings": {"max_calls": 1000}}, "settings.max_calls would be 1000"),
        ({"again": True}, "again: it says that what an earlier run did may be done once more"),
    ],
)
def test_under_four_eyes_not_even_an_administrator_loosens_a_run_that_they_start(
    two_people: RunningServer, body: dict[str, Any], said: str
) -> None:
    refused = refuse(two_people.client("admin").post("/runs", json={"task": "lamp", "run_id": "own", **body}))
    assert said in refused["detail"]
    assert "not even an administrator" in refused["detail"]
    assert count_orders(two_people, "own") == 0


def test_under_four_eyes_a_task_is_not_sent_as_text(two_people: RunningServer) -> None:
    text = (two_people.home / "tasks" / "lamp.toml").read_text()
    text = text.replace("[settings]\n", '[settings]\napprovals = "never"\n')
    refused = refuse(two_people.client("admin").post("/runs", json={"text": text, "run_id": "text"}))
    assert "in the folder of --tasks" in refused["next"]
    assert count_orders(two_people, "text") == 0


def call_mcp(client: httpx.Client, server: RunningServer, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool of `/mcp` as a host does that knows the protocol."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    accept = {"Accept": "application/json, text/event-stream"}
    return client.post(f"{server.url}/mcp", json=body, headers=accept).json()["result"]


@pytest.mark.slow
def test_a_run_started_through_mcp_is_not_approved_with_the_same_key(two_people: RunningServer) -> None:
    admin = two_people.client("admin")
    started = call_mcp(admin, two_people, "start_run", task="lamp", key="k")["structuredContent"]["run"]
    question = wait_until(lambda: find_question(admin, started))
    assert question["not_by"] == "acme-admin (mcp)"
    assert "acme-admin started the run" in refuse(decide(admin, question))["detail"]
    assert count_orders(two_people, started) == 0
    assert decide(two_people.client("approver"), question).status_code == 200
    wait_for_end(admin, started)
    assert count_orders(two_people, started) == 1
    decided = [row["event"] for row in admin.get("/audit", params={"run": started}).json()["rows"]]
    assert [(event["by"], event["by_id"]) for event in decided] == [("acme-approver", "key:acme-approver")]
    assert admin.get("/audit/verdict").json()["holds"] is True


def test_under_four_eyes_the_starter_neither_takes_over_nor_forks_around_it(two_people: RunningServer) -> None:
    admin, approver = two_people.client("admin"), two_people.client("approver")
    question = start_run_that_asks(admin, "held")
    assert "take_over" not in admin.get("/runs/held").json()["may"]
    assert "take_over" in approver.get("/runs/held").json()["may"]
    assert "must decide" in refuse(admin.post("/runs/held/take-over", json={}))["detail"]
    assert decide(admin, question, "take_over").status_code == 403
    assert "an operator resumes the run" in approver.post("/runs/held/take-over", json={}).json()["says"]
    assert admin.post("/runs/held/cancel", json={}).status_code == 200
    wait_for_end(admin, "held")

    fork = {"at": 3, "run_id": "forked"}
    loosened = refuse(admin.post("/runs/held/fork", json={**fork, "settings": {"approvals": "never"}}))
    assert "not even an administrator" in loosened["detail"]
    other = two_people.anonymous_client(headers={"Authorization": f"Bearer {two_people.token}"})
    assert other.post("/runs/held/fork", json=fork).status_code == 201
    asked = wait_until(lambda: find_question(admin, "forked"))
    assert asked["not_by"] == "owner", "the one who forked it has started it"
    assert decide(other, asked).status_code == 403
    assert decide(admin, asked).status_code == 200
    wait_for_end(admin, "forked")
    assert count_orders(two_people, "forked") == 1


def test_a_run_that_was_recorded_under_another_policy_is_not_forked_under_four_eyes(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = server.client("admin")
    start_run_that_asks(admin, "before")
    admin.post("/runs/before/cancel", json={})
    wait_for_end(admin, "before")
    require_four_eyes(tmp_path, monkeypatch)
    refused = refuse(admin.post("/runs/before/fork", json={"at": 3, "run_id": "after"}))
    assert "the approval policy has changed" in refused["detail"]


def test_a_run_of_an_earlier_version_knows_its_starter_by_name(two_people: RunningServer) -> None:
    """Its records have no identity: a user with the starter's name is refused, and another approver decides."""
    admin = two_people.client("admin")
    question = start_run_that_asks(admin, "old")
    with sqlite3.connect(two_people.home / "acme" / "midcourse.db") as database:
        changed = database.execute(
            "UPDATE questions SET body = replace(body, :new, :old) WHERE instr(body, :new)",
            {"new": '"not_by_id":"key:acme-admin"', "old": '"not_by_id":""'},
        )
    assert changed.rowcount >= 1
    assert "acme-admin started the run" in refuse(decide(admin, question))["detail"]
    assert decide(two_people.client("approver"), question).status_code == 200
    wait_for_end(admin, "old")
    assert count_orders(two_people, "old") == 1


# --- taking over


def test_an_operator_does_not_take_over(server: RunningServer) -> None:
    operator = server.client("operator")
    start_run_that_asks(operator, "watched-only")
    assert "take_over" not in operator.get("/runs/watched-only").json()["may"]
    refuse(operator.post("/runs/watched-only/take-over", json={}))
    assert operator.get("/runs/watched-only").json()["state"] == "asking"


# --- identities


def test_one_name_at_four_entrances_is_four_identities(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text(f"root local admin {digest_of('key')}\n")
    owner = Caller(name="root", id="account:root", tenant="local", role="admin")
    proxy = Proxy(user_header="X-User", secret="s", tenant="local", role="admin")
    doorway = Doorway(tmp_path, token="token", owner=owner, keys=KeyFile(keys), proxy=proxy)
    at_the_proxy = doorway.caller_of(Headers({"X-User": "root", SECRET_HEADER: "s"}), {})
    provided = Caller(name="root", id="oidc:https://login.example 1", tenant="local", role="admin", means="session")
    through_session = doorway.caller_of(Headers({}), {COOKIE: doorway.open_session(provided)})
    found = [doorway.sign_in("token"), doorway.sign_in("key"), at_the_proxy, through_session]
    assert [caller and caller.name for caller in found] == ["root"] * 4
    assert [caller and caller.id for caller in found] == [
        "account:root",
        "key:root",
        "proxy:root",
        "oidc:https://login.example 1",
    ]
    doorway.close()


def test_a_session_of_an_earlier_version_ends_because_nothing_says_whose_it_is(tmp_path: Path) -> None:
    doorway = Doorway(tmp_path)
    doorway.close()
    with sqlite3.connect(tmp_path / "server.db") as database:
        database.execute("ALTER TABLE browser_sessions DROP COLUMN identity")
        database.execute(
            "INSERT INTO browser_sessions VALUES (?, 'ada', 'local', 'admin', '', 9e9)", (digest_of("old"),)
        )
    doorway = Doorway(tmp_path)
    assert doorway.caller_of(Headers({}), {COOKIE: "old"}) is None
    ada = Caller(name="ada", id="account:ada", tenant="local", role="admin", means="session")
    assert doorway.caller_of(Headers({}), {COOKIE: doorway.open_session(ada)}) == ada
    doorway.close()


@pytest.mark.parametrize("name", ["\x1b[31mada", "a\u202eda", "ada\u200b", "ada\u2028x", "x" * (LONGEST_NAME + 1), " "])
def test_a_name_that_is_not_shown_as_it_is_does_not_sign_in(name: str) -> None:
    with pytest.raises(NotSignedIn, match="name of the user"):
        check_name(name)


@pytest.mark.parametrize("name", ["Ada Lovelace", "josé@example.org", "李雷", "o'hara+ci"])
def test_ordinary_names_sign_in(name: str) -> None:
    assert check_name(f" {name} ") == name


def test_a_proxy_that_sends_such_a_name_is_told_so(tmp_path: Path) -> None:
    doorway = Doorway(tmp_path, proxy=Proxy(user_header="X-User", secret="s", tenant="local", role="admin"))
    with pytest.raises(NotSignedIn, match=r"U\+0085"):
        doorway.caller_of(Headers(raw=[(b"x-user", b"a\x85da"), (SECRET_HEADER.lower().encode(), b"s")]), {})
    doorway.close()


# --- bodies and tasks


@pytest.mark.parametrize(
    "body",
    [
        '{"verdict": "rejected", "shown": SHOWN, "verdict": "approved"}',
        '{"verdict": "rejected", "shown": SHOWN, "verd\\u0069ct": "approved"}',
        '{"verdict": "changed", "shown": SHOWN, "changes": [{"step": 0, "arguments": {"to": "a", "to": "b"}}]}',
    ],
)
def test_a_decision_with_a_key_twice_decides_nothing(server: RunningServer, body: str) -> None:
    approver = server.client("approver")
    run_id = f"twice-{len(body)}"
    question = start_run_that_asks(server.client("operator"), run_id)
    content = body.replace("SHOWN", json.dumps(question["shown"])).encode()
    path = f"/runs/{run_id}/questions/{question['id']}"
    answer = approver.post(path, content=content, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    key = "to" if "to" in body else "verdict"
    assert answer.json()["detail"] == f"the body has the key '{key}' twice"
    assert find_question(approver, run_id) == question
    assert count_orders(server, run_id) == 0


def test_a_key_may_be_in_two_objects_and_what_is_not_json_is_refused_as_before(server: RunningServer) -> None:
    client = server.client()
    json_body = {"Content-Type": "application/json"}
    twice = client.post("/runs", json={"task": "lamp", "inputs": {"task": "x"}})
    assert "inputs" in twice.json()["detail"]
    for content in (b'{"task": "lamp"', b"[" * 100_000, b"\xff", b"1" * 10_000):
        assert client.post("/runs", content=content, headers=json_body).status_code in (400, 422)


def test_a_broken_task_file_has_a_row_and_takes_no_other_away(tmp_path: Path) -> None:
    folder = write_tasks(tmp_path / "tasks")
    (folder / "broken.toml").write_text("goal = \n")
    (folder / "policy.toml").write_text("four_eyes = true\n")
    (folder / "latin.toml").write_bytes(b'goal = "\xff"')
    (folder / "folder.toml").mkdir()
    (folder / "gone.toml").symlink_to(folder / "nowhere")
    rows = {row.name: row for row in list_task_rows(folder)}
    assert {name: row.problem for name, row in rows.items() if row.problem}.keys() == {
        "broken",
        "policy",
        "latin",
        "folder",
        "gone",
    }
    assert "not TOML" in rows["broken"].problem
    assert "four_eyes" in rows["policy"].problem
    assert rows["lamp"].goal


@pytest.mark.slow
def test_a_server_with_a_broken_task_file_lists_and_starts_the_others(tmp_path: Path) -> None:
    tasks = write_tasks(tmp_path / "tasks")
    (tasks / "broken.toml").write_text("goal = \n")
    with run_server(tmp_path, tasks=tasks) as server:
        admin = server.client("admin")
        listed = admin.get("/tasks")
        assert listed.status_code == 200, listed.text
        assert {row["name"] for row in listed.json() if row["problem"]} == {"broken"}
        start(admin, "fine")
        assert admin.post("/runs", json={"task": "broken"}).status_code == 422
        told = call_mcp(admin, server, "list_tasks")["structuredContent"]["tasks"]
        assert {row["name"] for row in told if row["problem"]} == {"broken"}
        assert "run" in call_mcp(admin, server, "start_run", task="lamp", key="k")["structuredContent"]
        refused = call_mcp(admin, server, "start_run", task="broken", key="b")
        assert refused["isError"]
        assert (
            "cannot be started until its file is corrected: broken.toml: is not TOML" in refused["content"][0]["text"]
        )
