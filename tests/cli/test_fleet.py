"""A fleet from the command line, with everything real: PostgreSQL, Temporal, a host and workers that are killed."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.up_file import read_up
from midcourse.home.fleet_store import open_fleet_store
from midcourse.policy.audit import verify_log
from midcourse.terminal.approver import user
from midcourse.worlds.simulated.effects import read_effects
from tests.cli.conftest import Cli, write_order

pytestmark = pytest.mark.slow

ASKING = ("--durable", "--detach", "--set", "approvals=always")
DOUBTFUL = '[[world.faults]]\nkind = "error_not_stored"\nskill = "place_order"'


@pytest.fixture
def home(home: Path, fleet_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Everything is below it, and every command finds the fleet in it. However slow the machine is, no worker counts as lost."""
    monkeypatch.setenv("MIDCOURSE_HOME", str(fleet_home))
    monkeypatch.setenv("MIDCOURSE_HEARTBEAT_SECONDS", "120")
    monkeypatch.setenv("MIDCOURSE_SESSION_SECONDS", "60")
    return fleet_home


@pytest.fixture
def run_id(home: Path) -> str:
    return f"r-{uuid4().hex[:8]}"


def wait_until(condition: Callable[[], object], seconds: float = 600.0) -> None:
    give_up_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up_at
        time.sleep(0.05)


def read_state(cli: Cli, run_id: str) -> str:
    return cli("show", run_id, "--json").json["state"]


def wait_for_state(cli: Cli, run_id: str, wanted: str) -> None:
    wait_until(lambda: read_state(cli, run_id) == wanted)


def count_orders(home: Path, run_id: str) -> int:
    """As the shop itself has them."""
    logs = [*home.glob(f"runs/{run_id}/effects.jsonl"), *home.glob(f"tenants/*/runs/{run_id}/effects.jsonl")]
    return len([one for log in logs for one in read_effects(log) if one.effect == "order"])


async def read_audit_log(home: Path, run_id: str) -> list[dict[str, object]]:
    """What people decided about it, as it stands in a chain that holds."""
    settings = FleetSettings.load(home)
    async with open_fleet_store(settings) as store:
        log = await store.audit()
    assert verify_log(log).problem == ""
    return [json.loads(row.body) for row in log.rows if row.run == run_id]


def test_it_asks_is_approved_and_does_it_once(cli: Cli, home: Path, run_id: str) -> None:
    begun = cli("run", "order", *ASKING, "--run-id", run_id, "--json")
    assert (begun.code, begun.json) == (0, {"run": run_id})
    wait_for_state(cli, run_id, "asking")
    assert run_id in {run["run"] for run in cli("runs", "--durable", "--json").json if run["state"] == "asking"}
    waiting = next(question for question in cli("approve", "--json").json if question["run"] == run_id)
    would = waiting["would"][0]
    assert {"kind": "value", "name": "reference", "value": "PO-1001"} in would["shows"]
    assert (would["abridged"], waiting["needs_all_values"]) == (False, False)
    refused = cli("approve", run_id, "--yes", "--shown", "0" * 32, "--json")
    assert refused.code == 1
    assert "ever asked about" in refused.json["error"]
    assert count_orders(home, run_id) == 0

    shown = cli("approve", run_id, "--yes", "--shown", would["digest"])
    assert shown.code == 0
    assert re.search(r"sends +address", shown.out)
    assert "1 Harbour Street" in shown.out
    wait_for_state(cli, run_id, "done, verified")
    assert count_orders(home, run_id) == 1

    result = cli("resume", run_id, "--json")
    assert (result.code, result.json["final_reason"]) == (0, "goal_reached")
    (decided,) = asyncio.run(read_audit_log(home, run_id))
    assert (decided["verdict"], decided["by"]) == ("approved", user())
    assert cli("audit", "verify", "--durable", "--json").json["holds"] is True
    assert [row["event"]["verdict"] for row in cli("audit", "show", run_id, "--durable", "--json").json] == ["approved"]
    assert [plan["cause"] for plan in cli("show", run_id, "--plans", "--json").json][:2] == ["initial", "adaptive"]
    assert cli("show", run_id, "--json").json["task_state"] == "COMPLETED"


def test_four_eyes_whoever_began_it_cannot_approve_it(cli: Cli, home: Path, run_id: str, tmp_path: Path) -> None:
    policy = tmp_path / "approvals.toml"
    policy.write_text("four_eyes = true\n")
    cli("run", "order", *ASKING, "--run-id", run_id, "--set", f"approval_policy={policy}", "--json")
    policy.unlink()  # it was read when the run began
    wait_for_state(cli, run_id, "asking")
    refused = cli("approve", run_id, "--yes", "--json")
    assert (refused.code, refused.json["taken"]) == (1, False)
    assert refused.json["error"] == f"{user()} started the run: another person must decide"
    taken = cli("take-over", run_id, "--json")
    assert (taken.code, taken.json["error"]) == (1, refused.json["error"]), "nothing would be held meanwhile"
    assert cli("reject", run_id, "--json").code == 0
    wait_for_state(cli, run_id, "failed")
    assert count_orders(home, run_id) == 0


def test_it_is_followed_to_its_end_as_if_it_were_driven_here(cli: Cli, home: Path, run_id: str) -> None:
    followed = cli("run", "order", "--durable", "--run-id", run_id)
    assert followed.code == 0
    expected = ("the world is open", "plan 1 (first plan): 2 steps", "done: Place the order", "done, and verified")
    places = [followed.out.index(words) for words in expected]
    assert places == sorted(places)
    assert count_orders(home, run_id) == 1
    assert json.loads((home / "runs" / run_id / "result.json").read_text())["success"] is True


def test_a_pause_guidance_and_a_resume_reach_it(cli: Cli, home: Path, run_id: str) -> None:
    cli("run", "order", *ASKING, "--run-id", run_id)
    wait_for_state(cli, run_id, "asking")
    assert cli("pause", run_id, "--json").json == {"run": run_id, "taken": True}
    assert cli("guide", run_id, "mind the step").code == 0
    assert cli("approve", run_id, "--yes", "--json").json["verdict"] == "approved"
    wait_for_state(cli, run_id, "paused")
    assert "you have taken over the world" in cli("take-over", run_id).out
    assert count_orders(home, run_id) == 0
    assert "paused; to continue it: midcourse resume" in cli("show", run_id).out.replace("is paused", "paused")

    resumed = cli("resume", run_id, "--json")
    assert (resumed.code, resumed.json["final_reason"]) == (0, "goal_reached")
    assert count_orders(home, run_id) == 1
    journal = [row["event"]["kind"] for row in cli("show", run_id, "--json").json["journal"]]
    output = [kind for kind in journal if kind in ("pause_asked", "guided", "approval_decided", "resume_asked")]
    assert output == ["pause_asked", "guided", "approval_decided", "pause_asked", "resume_asked"]


def test_a_cancel_ends_it_and_from_then_on_everything_is_refused(cli: Cli, home: Path, run_id: str) -> None:
    cli("run", "order", *ASKING, "--run-id", run_id)
    wait_for_state(cli, run_id, "asking")
    assert cli("cancel", run_id).code == 0
    wait_for_state(cli, run_id, "failed")
    for command in (("pause",), ("cancel",), ("approve", "--yes"), ("reject",)):
        refused = cli(command[0], run_id, *command[1:], "--json")
        assert refused.code == 1
        assert "ended" in refused.json["error"]
    assert cli("pause", run_id).out.startswith("refused: the run has ended: cancelled")
    assert count_orders(home, run_id) == 0


def test_a_rejection_sends_nothing(cli: Cli, home: Path, run_id: str) -> None:
    cli("run", "order", *ASKING, "--run-id", run_id)
    wait_for_state(cli, run_id, "asking")
    wrong = cli("answer", run_id, "happened")
    assert wrong.code == 1
    assert f"midcourse approve {run_id}" in wrong.out
    assert cli("reject", run_id).code == 0
    wait_for_state(cli, run_id, "failed")
    assert cli("show", run_id, "--json").json["result"]["final_reason"] == "rejected"
    assert count_orders(home, run_id) == 0


def test_a_doubt_is_answered_by_a_person(cli: Cli, home: Path, run_id: str, tmp_path: Path) -> None:
    doubtful = write_order(tmp_path, "doubtful.toml", DOUBTFUL)
    cli("run", doubtful, "--durable", "--detach", "--run-id", run_id, "--set", "approvals=never")
    wait_for_state(cli, run_id, "asking")
    wrong = cli("approve", run_id, "--yes")
    assert wrong.code == 1
    assert f"midcourse answer {run_id} happened|did_not_happen|stop" in wrong.out
    assert cli("answer", run_id, "maybe").code == 2
    shown = cli("answer", run_id, "stop")
    assert "Did this happen?" in shown.out
    wait_for_state(cli, run_id, "failed")
    assert cli("show", run_id, "--json").json["result"]["final_reason"] == "needs_human"


def test_approve_without_a_terminal_needs_yes(cli: Cli, run_id: str) -> None:
    cli("run", "order", *ASKING, "--run-id", run_id)
    wait_for_state(cli, run_id, "asking")
    output = cli("approve", run_id)
    assert output.code == 2
    assert "--yes" in output.err
    assert read_state(cli, run_id) == "asking"
    cli("cancel", run_id)


def test_unknown_run_lists_existing_ones(cli: Cli, run_id: str) -> None:
    cli("run", "order", *ASKING, "--run-id", run_id)
    for command in ("approve", "reject", "pause", "cancel", "take-over", "show", "resume"):
        output = cli(command, "nobody")
        assert output.code == 2
        assert run_id in output.err
    cli("cancel", run_id)


def test_a_local_run_is_found_beside_the_runs_of_a_fleet(cli: Cli, home: Path) -> None:
    name = f"local-{uuid4().hex[:8]}"
    assert cli("run", "notepad", "--run-id", name, "--json").code == 0
    late = cli("pause", name)
    assert late.code == 1
    assert "the run has ended" in late.out
    taken_over = cli("take-over", name)
    assert taken_over.code == 1
    assert "the run has ended" in taken_over.out
    assert cli("watch", name, "--json").json["success"] is True
    assert cli("show", name, "--json").json["durable"] is False


def test_task_with_a_key_is_done_once(cli: Cli, home: Path, run_id: str, tmp_path: Path) -> None:
    text = Path(write_order(tmp_path, "keyed.toml")).read_text()
    (tmp_path / "keyed.toml").write_text(f'key = "deed {run_id}"\n{text}')
    keyed = ("run", "keyed.toml", *ASKING, "--json")
    assert cli(*keyed, "--run-id", run_id).json == {"run": run_id}
    assert cli(*keyed).json == {"run": run_id}, "the second call continues the run of the first"
    wait_for_state(cli, run_id, "asking")
    cli("approve", run_id, "--yes")
    wait_for_state(cli, run_id, "done, verified")
    again = cli(*keyed)
    assert (again.json["run"], again.json["again"], again.json["final_reason"]) == (run_id, True, "goal_reached")
    assert count_orders(home, run_id) == 1


def test_what_worked_is_done_again_by_any_worker(cli: Cli, run_id: str) -> None:
    reusing = ("run", "quest", "--durable", "--json", "--set", "reuse=on")
    first = cli(*reusing, "--run-id", run_id).json
    second = cli(*reusing, "--run-id", f"{run_id}-again").json
    assert (first["verified"], first["reused"], first["planner_calls"]) == (True, 0, 5)
    assert (second["verified"], second["reused"], second["planner_calls"]) == (True, 5, 0)
    kept = [one for one in cli("kept", "--durable", "--json").json if one["run"] == run_id]
    assert {one["worked"] for one in kept} == {2}
    assert cli("kept", "drop", kept[0]["segment"], "--durable").out == "dropped 1 segment\n"


def test_another_tenant_sees_nothing_of_it(cli: Cli, run_id: str) -> None:
    cli("run", "order", *ASKING, "--run-id", run_id)
    wait_for_state(cli, run_id, "asking")
    others = ("--set", "tenant=somebody-else")
    assert cli("runs", "--durable", "--json", *others).json == []
    assert cli("approve", "--json", *others).json == []
    for command in (("approve", run_id, "--yes"), ("pause", run_id), ("cancel", run_id), ("show", run_id)):
        output = cli(*command, *others)
        assert output.code == 2
        assert "no run is called" in output.err
    assert read_state(cli, run_id) == "asking"
    cli("cancel", run_id)


# --- workers that come and go


@contextmanager
def run_worker(home: Path, tenant: str, *arguments: str, cwd: Path | None = None) -> Iterator["subprocess.Popen[str]"]:
    settings = FleetSettings.load(home)
    usual = {name: value for name, value in os.environ.items() if not name.startswith("MIDCOURSE_")}
    given = {
        "MIDCOURSE_HOME": str(home),
        "MIDCOURSE_DATABASE_URL": settings.database_url.get_secret_value(),
        "MIDCOURSE_TEMPORAL_ADDRESS": settings.temporal_address,
        "MIDCOURSE_HOST_FILE": str(settings.host_file),
        "MIDCOURSE_KEYS_FILE": str(settings.keys_file),
        "MIDCOURSE_TENANT": tenant,
        "MIDCOURSE_STICKY_SECONDS": "1",
    }
    command = [sys.executable, "-m", "midcourse", "fleet", "worker", "--json", *arguments]
    nothing = subprocess.DEVNULL
    with subprocess.Popen(
        command, cwd=cwd, env={**usual, **given}, stdin=nothing, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert json.loads(process.stdout.readline())["tenant"] == tenant
            yield process
        finally:
            process.kill()


def test_a_worker_is_killed_and_another_goes_on(
    cli: Cli, home: Path, run_id: str, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIDCOURSE_TENANT", tenant)
    quick = ("--set", "heartbeat_seconds=2", "--set", "step_delay_seconds=0.2")
    with run_worker(home, tenant) as first:
        cli("run", "order", "--durable", "--detach", "--run-id", run_id, *quick)
        wait_until(lambda: len(cli("show", run_id, "--json").json["journal"]) > 8)
        first.send_signal(signal.SIGKILL)
        assert read_state(cli, run_id) == "running"
    with run_worker(home, tenant) as second:
        result = cli("resume", run_id, "--json")
        assert (result.code, result.json["final_reason"]) == (0, "goal_reached")
        assert count_orders(home, run_id) == 1
        second.send_signal(signal.SIGTERM)
        assert second.wait(30) == 0


def test_broken_run_continues_after_the_repair(
    cli: Cli, home: Path, run_id: str, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planner is a module that this process can import and the worker, in another folder, cannot."""
    monkeypatch.setenv("MIDCOURSE_TENANT", tenant)
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    module = f"planner_{run_id[2:]}"
    source = (
        "from midcourse import PlanDraft\n"
        "from midcourse.testing import Scripted\n"
        'make = lambda: Scripted(PlanDraft(verdict="done"))\n'
    )
    (here / f"{module}.py").write_text(source)
    (tmp_path / "task.toml").write_text(f'goal = "Order"\n[world]\nname = "shop"\n[planner]\nname = "{module}:make"\n')
    monkeypatch.syspath_prepend(here)
    with run_worker(home, tenant, cwd=there):
        broke = cli("run", "task.toml", "--durable", "--run-id", run_id, "--json")
        assert broke.code == 1
        assert f"planner '{module}:make' cannot be loaded" in broke.json["error"]
        assert [run["state"] for run in cli("runs", "--durable", "--json").json] == ["broken"]
        (there / f"{module}.py").write_text(source)
        assert "broke" not in cli("resume", run_id, "--json").json.get("error", "")
    assert cli("show", run_id, "--json").json["result"]["planner_calls"] > 0


def test_up_a_second_time_starts_only_what_is_missing(cli: Cli, home: Path) -> None:
    before = {part.name: part.process for part in read_up(home).parts}
    assert cli("up", "--json").json["already"] is True
    os.kill(before["worker"].pid, signal.SIGKILL)
    wait_until(lambda: not before["worker"].alive)
    assert cli("up", "--detach", "--json").json["already"] is False
    after = {part.name: part.process for part in read_up(home).parts}
    assert after["worker"] != before["worker"]
    assert [name for name in before if after[name] != before[name]] == ["worker"]
