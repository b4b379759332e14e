"""What `midcourse do` brings back: an answer in words, and values of the types that were asked for."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import midcourse
from midcourse.agent.wiring import load_saved_job
from midcourse.errors import OutputInvalid
from midcourse.testing.models import ModelServer
from midcourse.testing.sites import Response, serve
from midcourse.testing.sites.server import Request
from tests.cli.conftest import Cli

pytestmark = pytest.mark.slow

GOAL = "What do the lamps cost, and how many are there?"
PAGE = "<title>Lamps</title><h1>Lamps</h1><p>Desk lamp: EUR 1.049,50</p><p>Floor lamp: EUR 10.50</p>"
ANSWER = "Two lamps:\n- Desk lamp: 1049.50\n- Floor lamp: 10.50"
SUM = {"name": "sum", "value": "1060"}
PRICE = {"name": "price", "value": "1049.50", "source": '"Desk lamp: EUR 1.049,50"'}
FIRST = {"name": "first", "value": "  desk  LAMP"}


class Lamps:
    def answer(self, request: Request) -> Response:
        return Response(body=PAGE)


def done(*data: dict[str, str]) -> dict[str, Any]:
    return {"reason": "The page lists them.", "verdict": "done", "answer": ANSWER, "data": [*data]}


@pytest.fixture
def at(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The address of the page."""
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    with serve(Lamps()) as address:
        yield address


def test_the_result_begins_with_the_answer_and_says_where_values_come_from(
    at: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value of the wrong type is told to the model while it can still correct it: one more call, and no more."""
    wrong = {**PRICE, "value": "EUR 1.049,50"}
    with ModelServer([done(wrong, FIRST, SUM), done(PRICE, FIRST, SUM)]) as server:
        monkeypatch.setenv("MIDCOURSE_MODEL_BASE_URL", server.url)
        words = ["--output", "price:number", "--output", "first", "--output", "sum:number"]
        found = cli("do", GOAL, "--at", at, "--model", "openai:gpt-5", "--run-id", "lamps", *words)
        assert len(server.requests) == 2
        assert "'price' in 'data' must be number, not 'EUR 1.049,50'" in server.requests[1].text
    assert found.code == 0, found.out
    shown = found.out[found.out.index("answered; nothing was sent") :].splitlines()
    assert shown[1:7] == [
        "answer  Two lamps:",
        "        - Desk lamp: 1049.50",
        "        - Floor lamp: 10.50",
        'data    price = 1049.5  (from "Desk lamp: EUR 1.049,50")',
        "        first =   desk  LAMP",
        "        sum = 1060  (not seen on any screen; computed or worded by the model)",
    ]
    assert "answer  Two lamps:" in cli("show", "lamps").out
    stored = cli("resume", "lamps", "--json").json
    assert (stored["answer"], stored["data"]["sum"], stored["unseen"]) == (ANSWER, 1060, ["sum"])
    assert [field.type for field in load_saved_job(Path(".midcourse/runs/lamps")).task.output] == [
        "number",
        "string",
        "number",
    ]


def test_a_goal_in_words_is_answered_in_words(at: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer([done()]) as server:
        monkeypatch.setenv("MIDCOURSE_MODEL_BASE_URL", server.url)
        found = cli("do", GOAL, "--at", at, "--model", "openai:gpt-5")
    assert "\nanswer  Two lamps:\n        - Desk lamp: 1049.50\n" in found.out


class Lamp(BaseModel):
    name: str
    price: float


class Found(BaseModel):
    count: int
    lamps: list[Lamp]


LAMPS = [{"name": "Desk lamp", "price": 1049.5}, {"name": "Floor lamp", "price": 10.5}]


def test_the_output_is_of_the_type_that_was_asked_for(at: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    data = ({"name": "count", "value": "2"}, {"name": "lamps", "value": json.dumps(LAMPS)})
    with ModelServer([done(*data)]) as server:
        monkeypatch.setenv("MIDCOURSE_MODEL_BASE_URL", server.url)
        result = asyncio.run(midcourse.do(GOAL, at=at, model="openai:gpt-5", output_type=Found))
        assert len(server.requests) == 1
        assert "lamps json" in server.requests[0].text
    assert result.output == Found(count=2, lamps=[Lamp.model_validate(each) for each in LAMPS])
    assert (result.answer, result.unseen) == (ANSWER, ("count",))


def test_without_the_values_there_is_no_output(at: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that does not correct itself is not asked for ever, and the run ends with what is missing."""
    with ModelServer(lambda asked: done({"name": "count", "value": "two"})) as server:
        monkeypatch.setenv("MIDCOURSE_MODEL_BASE_URL", server.url)
        result = asyncio.run(midcourse.do(GOAL, at=at, model="openai:gpt-5", output_type=Found))
    assert (result.success, result.missing) == (True, ("count", "lamps"))
    with pytest.raises(OutputInvalid, match="missing: count, lamps"):
        _ = result.output


def test_a_json_schema_says_what_is_to_be_returned(at: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("lamps.json").write_text(json.dumps(Found.model_json_schema()))
    data = ({"name": "count", "value": "2"}, {"name": "lamps", "value": json.dumps(LAMPS)})
    with ModelServer([done(*data)]) as server:
        monkeypatch.setenv("MIDCOURSE_MODEL_BASE_URL", server.url)
        found = cli("do", GOAL, "--at", at, "--model", "openai:gpt-5", "--output-schema", "lamps.json", "--json")
    assert (found.json["data"]["count"], json.loads(found.json["data"]["lamps"])) == (2, LAMPS)
