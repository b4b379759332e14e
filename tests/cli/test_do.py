"""`midcourse do` on a site of ours, planned by a scripted model behind a real server. The site says what was done."""

import asyncio
from collections.abc import Generator
from pathlib import Path

import pytest

import midcourse
from midcourse.agent.wiring import load_saved_job
from midcourse.testing import Approves
from midcourse.testing.models import ModelServer
from midcourse.testing.sites import PASSWORD, Tickets, serve
from tests.cli.conftest import Cli
from tests.cli.test_terminal import run_in_terminal
from tests.llm.clerk import Clerk

pytestmark = pytest.mark.slow

GOAL = "Report that the lamp of customer C-4711 hums"


class Desk:
    """A ticket system, and the words of a command that works in it. Signing in with the bound secret is no question."""

    def __init__(self, site: Tickets, address: str) -> None:
        self.site = site
        self.address = address
        common = ["--at", address, "--model", "openai:gpt-5", "--secret", "password"]
        self.words = ["do", GOAL, *common, "--input", "customer=C-4711", "--run-id", "lamp"]

    @property
    def tickets(self) -> list[str]:
        return [effect.values["customer"] for effect in self.site.effects if effect.name == "ticket"]


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Generator[Desk]:
    site = Tickets()
    with serve(site) as address, ModelServer(Clerk()) as server:
        monkeypatch.setenv("MIDCOURSE_SECRET_PASSWORD", PASSWORD)
        monkeypatch.setenv("MIDCOURSE_MODEL_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        yield Desk(site, address)


def test_a_dry_run_drops_the_request_although_the_settings_say_never_to_ask(desk: Desk, cli: Cli):
    output = cli(*desk.words, "--dry-run", "--set", "approvals=never", "--json")
    assert (output.code, output.json["dry_run"]) == (0, True)
    (would,) = output.json["would"]
    assert {"kind": "address", "name": "", "value": f"POST {desk.address}/tickets"} in would["shows"]
    customer = {"kind": "value", "name": "customer", "value": "C-4711", "label": "Customer number"}
    assert customer in would["shows"], would["shows"]
    assert desk.tickets == []


def test_the_terminal_asks_and_shows_the_evidence_at_the_end(desk: Desk, tmp_path: Path):
    with run_in_terminal(tmp_path, *desk.words) as user:
        user.wait_for("May this be done?")
        user.wait_for("C-4711")
        user.type("y\n")
        code = user.wait_for_exit()
    assert code == 0, user.output
    assert desk.tickets == ["C-4711"]
    for words in ("$0.", "POST", "seen afterwards:", "midcourse init task"):
        assert words in user.output, user.output


@pytest.mark.parametrize(("more", "code"), [([], 0), (["--require-verified"], 3), (["--sends"], 1)])
def test_a_done_without_any_act_is_not_verified(
    desk: Desk, cli: Cli, monkeypatch: pytest.MonkeyPatch, more: list[str], code: int
):
    with ModelServer([{"verdict": "done", "reason": "I have reported it"}]) as liar:
        monkeypatch.setenv("MIDCOURSE_MODEL_BASE_URL", liar.url)
        output = cli(*desk.words, *more, "--json")
    assert desk.tickets == []
    assert (output.code, output.json["success"], output.json["verified"]) == (code, code != 1, False)
    assert (output.json["sending"], output.json["sent"]) == ("nothing", [])
    shown = cli("resume", "lamp", "--quiet").out
    assert ("records contradict it" in shown) == (code == 1)
    assert "; nothing was sent (" in shown


def test_do_from_python_returns_what_was_sent(desk: Desk, cli: Cli):
    running = midcourse.do(
        GOAL,
        at=desk.address,
        model="openai:gpt-5",
        inputs={"customer": "C-4711"},
        secrets=["password"],
        record="tape.jsonl",
        max_cost=1.0,
        approver=Approves(),
        run_id="ours",
    )
    result = asyncio.run(running)
    assert (result.success, result.budget.max_cost_usd, desk.tickets) == (True, 1.0, ["C-4711"])
    assert '"kind": "exchange"' in Path("tape.jsonl").read_text()
    assert PASSWORD not in Path("tape.jsonl").read_text()
    assert load_saved_job(Path(".midcourse/runs/ours")).task.goal == GOAL
    (sent,) = cli("resume", "ours", "--json").json["sent"]
    assert (sent["what"], sent["happened"]) == (f"POST {desk.address}/tickets", True)
