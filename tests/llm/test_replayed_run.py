"""A run with a model, again without one: the cassette answers, and the run comes to the same."""

import json
from pathlib import Path
from typing import Any

import pytest

from midcourse.cli.main import main
from midcourse.testing.models import ChatRequest, Fails, ModelServer
from midcourse.testing.models.script import Line
from midcourse.worlds.simulated.effects import read_effects

TASK = """
goal = "Order one desk lamp"
secrets = ["card"]
[inputs]
reference = "PO-1001"
[done_when]
probe = "order_placed"
arguments = { reference = "$input.reference" }
[world]
name = "shop"
[planner]
model = "openai:scripted"
base_url = "ADDRESS"
[settings]
approvals = "never"
"""


SEEN = {"page": "Thank you*"}


class Buyer:
    """Knows its way about the shop. The provider is in a bad mood at first."""

    def __init__(self) -> None:
        self.rude: list[Line] = [Fails(429, retry_after=0.2), "no JSON"]

    def __call__(self, request: ChatRequest) -> Line:
        if self.rude:
            return self.rude.pop(0)
        if 'surface "Catalogue"' in request.text:
            basket = {"zone": "product_desk-lamp", "skill": "set_quantity", "arguments": {"quantity": 1}}
            return make_steps(basket, {"zone": "__global__", "skill": "go", "arguments": {"page": "checkout"}})
        if 'surface "Checkout"' in request.text:
            return make_steps(
                {"zone": "field_address", "skill": "fill", "arguments": {"text": "1 Harbour Street"}},
                {"zone": "field_reference", "skill": "fill", "arguments": {"text": "$input.reference"}},
                {"zone": "place_order", "skill": "place_order", "expect": SEEN},
            )
        return {"verdict": "done"}


def make_steps(*each: dict[str, Any]) -> dict[str, Any]:
    return {"steps": [*each, {"zone": "__replan__"}]}


@pytest.fixture(autouse=True)
def _without_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("MIDCOURSE_SECRET_CARD", "4929-1234-5678")


def run(capsys: pytest.CaptureFixture[str], *options: str, run_id: str) -> dict[str, Any]:
    main(["run", "task.toml", "--run-id", run_id, "--json", *options])
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def record_run(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    with ModelServer(Buyer()) as server:
        Path("task.toml").write_text(TASK.replace("ADDRESS", server.url))
        return run(capsys, "--record", "tape.jsonl", run_id="first")


@pytest.mark.slow
def test_replayed_run_has_the_same_result_and_calls_no_model(capsys: pytest.CaptureFixture[str]):
    first = record_run(capsys)
    assert first["final_reason"] == "goal_reached", first
    again = run(capsys, "--cassette", "tape.jsonl", run_id="second")
    assert {**again["budget"], "wall_seconds": 0} == {**first["budget"], "wall_seconds": 0}
    for name in ("final_reason", "verified", "steps", "executions", "planner_calls"):
        assert again[name] == first[name], name
    effects = [
        [one.effect for one in read_effects(Path(f".midcourse/runs/{name}/effects.jsonl"))]
        for name in ("first", "second")
    ]
    assert effects[0] == effects[1]
    assert effects[0].count("order") == 1


@pytest.mark.slow
def test_another_question_than_those_recorded_ends_it_and_says_what_differs(capsys: pytest.CaptureFixture[str]):
    record_run(capsys)
    Path("task.toml").write_text(Path("task.toml").read_text().replace("one desk lamp", "two desk lamps"))
    error = run(capsys, "--cassette", "tape.jsonl", run_id="second")["error"]
    assert "was not recorded" in error
    assert "+" in error
    assert "two desk lamps" in error


def test_neither_a_secret_nor_a_key_is_on_the_tape(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    refusal = Fails(401, "Incorrect key sk-very-secret-key; your card is 4929-1234-5678")
    with ModelServer([refusal]) as server:
        Path("task.toml").write_text(TASK.replace("ADDRESS", server.url))
        run(capsys, "--record", "tape.jsonl", "--set", "max_step_retries=0", run_id="first")
    tape = Path("tape.jsonl").read_text()
    assert "<secret OPENAI_API_KEY>" in tape
    assert "<secret card>" in tape
    assert "very-secret" not in tape
    assert "4929" not in tape
