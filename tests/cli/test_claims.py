"""A 'done' that nothing supports, as people and programs see it: verified, claimed or contradicted."""

from collections.abc import Generator
from pathlib import Path

import pytest

from midcourse.testing.models import ModelServer
from tests.cli.conftest import ORDER, Cli
from tests.cli.test_terminal import run_in_terminal

pytestmark = pytest.mark.slow

LIES = {"verdict": "done", "reason": "I have ordered the desk lamp"}
STORED_BUT_ERROR = '[[world.faults]]\nkind = "stored_but_error"\nskill = "place_order"'


@pytest.fixture
def lying_model(monkeypatch: pytest.MonkeyPatch) -> Generator[ModelServer]:
    """A model that says 'done' whatever it is asked."""
    with ModelServer([LIES]) as server:
        monkeypatch.setenv("MIDCOURSE_MODEL", "openai:scripted")
        monkeypatch.setenv("MIDCOURSE_MODEL_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        yield server


def write_task(name: str = "lamp.toml", more: str = "") -> str:
    Path(name).write_text(f'goal = "Order one desk lamp"\n{more}\n[world]\nname = "shop"\n')
    return name


def test_a_claim_exits_with_0_or_with_3_if_it_must_be_verified(cli: Cli, lying_model: ModelServer, home: Path):
    task = write_task()
    output = cli("run", task, "--run-id", "lamp")
    assert output.code == 0
    assert "done, but nothing checked it; nothing was sent\n" in output.out
    assert "run it again with --sends" in output.out
    assert not (home / "runs" / "lamp" / "effects.jsonl").exists(), "the shop has no order"
    told = cli("run", task, "--json", "--require-verified")
    assert (told.code, told.json["success"], told.json["verified"], told.json["sending"]) == (3, True, False, "nothing")
    assert cli("resume", "lamp", "--quiet", "--require-verified").code == 3
    assert cli("watch", "lamp", "--quiet", "--require-verified").code == 3
    (listed, _) = cli("runs", "--json").json[::-1]
    assert (listed["state"], listed["verified"], listed["sending"]) == ("done, not verified", False, "nothing")


@pytest.mark.parametrize("way", ["option", "file"])
def test_a_task_that_must_send_something_is_contradicted(cli: Cli, lying_model: ModelServer, way: str):
    task = write_task(more="sends = true" if way == "file" else "")
    output = cli("run", task, "--json", *(["--sends"] if way == "option" else []), "--run-id", "lamp")
    assert (output.code, output.json["success"], output.json["verified"]) == (1, False, False)
    assert output.json["final_reason"] == "contradicted"
    shown = cli("resume", "lamp")
    assert shown.code == 1
    assert "failed: it says that it is done, but the records contradict it; nothing was sent\n" in shown.out
    assert "contradicted — the task must send something, and nothing was sent" in shown.out
    assert [run["state"] for run in cli("runs", "--json").json] == ["failed"]


def test_an_order_that_the_task_says_how_to_find_is_verified(cli: Cli):
    head, _, tail = ORDER.replace("{world}", STORED_BUT_ERROR).partition("[done_when]")
    source = head + tail[tail.index("[world]") :]
    asked = (
        'says = "Place the order"\nprobe = { name = "order_placed", arguments = { reference = "$input.reference" } }'
    )
    Path("order.toml").write_text(source.replace('says = "Place the order"', asked))
    output = cli("run", "order.toml", "--json", "--require-verified", "--set", "approvals=never", "--run-id", "lamp")
    assert (output.code, output.json["verified"], output.json["final_reason"]) == (0, True, "plan_complete"), output.out
    assert output.json["sending"] == "effects"
    assert cli("runs", "--json").json[0]["state"] == "done, verified"
    assert "done, and verified\n" in cli("resume", "lamp").out


def test_rows_that_only_claim_are_told_apart(cli: Cli, lying_model: ModelServer, home: Path):
    task = write_task(more='[inputs]\nreference = "PO-1"')
    Path("rows.csv").write_text("reference\nPO-1\nPO-2\n")
    words = ["run", task, "--inputs", "rows.csv", "--batch", "week"]
    assert cli(*words).code == 0
    output = cli(*words, "--json", "--require-verified")
    assert (output.code, output.json["succeeded"], output.json["verified"]) == (3, 2, 0)
    head, first, _ = (home / "batches" / "week" / "results.csv").read_text().splitlines()
    row = dict(zip(head.split(","), first.split(","), strict=True))
    assert (row["success"], row["verified"], row["sending"]) == ("true", "false", "nothing")


def test_the_end_must_be_awaited_to_be_verified(cli: Cli):
    output = cli("run", write_task(), "--durable", "--detach", "--require-verified")
    assert output.code == 2
    assert "midcourse watch" in output.err


def test_a_claim_has_no_green_tick(tmp_path: Path, lying_model: ModelServer):
    with run_in_terminal(tmp_path, "run", write_task()) as user:
        user.wait_for("done, but nothing checked it")
        assert user.wait_for_exit() == 0
    assert "○ done, but nothing checked it; nothing was sent" in user.output
    assert "✓ done" not in user.output
