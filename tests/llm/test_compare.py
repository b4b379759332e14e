"""Two models or prompts on the same recorded situations: what a run would have made of each, and what each cost."""

import json
from pathlib import Path
from typing import Any

import pytest

from midcourse.app.models.comparison import judge
from midcourse.cli.main import main
from midcourse.domain.plan import Draft
from midcourse.llm.cassette import Recorder
from midcourse.llm.prompt.template import template
from midcourse.ports.planner import PlanDraft
from midcourse.testing.models import ChatRequest, Fails, ModelServer, Says, Usage
from midcourse.testing.models.answer import Line
from tests.llm.situations import FIRST, REPLAN

FILL = {"zone": "z2", "skill": "fill", "arguments": {"text": "1 Harbour Street"}}
SHIPPED = Path(__file__).parents[2] / "src" / "midcourse" / "llm" / "roles" / "planner.md"


@pytest.fixture(autouse=True)
def tape(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Two situations that were answered, and one in which nobody was reached."""
    monkeypatch.chdir(tmp_path)
    recorder = Recorder(tmp_path / "tape.jsonl", lambda text: text)
    recorder.situation(FIRST, PlanDraft(verdict="transport"))
    recorder.situation(
        FIRST, PlanDraft(steps=(Draft(zone="z2", skill="fill", arguments=(("text", "1 Harbour Street"),)),))
    )
    recorder.situation(REPLAN, PlanDraft(verdict="gave_up", detail="no idea"))
    return tmp_path / "tape.jsonl"


def compared(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(["compare", "tape.jsonl", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_what_was_recorded_against_another_model(capsys: pytest.CaptureFixture[str]):
    script = [
        Says({"steps": [FILL]}, usage=Usage(1000, 50)),
        Says({"steps": [{"zone": "z99", "skill": "click"}]}, usage=Usage(2000, 60)),
    ]
    with ModelServer(script) as server:
        found = compared(capsys, "recorded", "openai:other", "--set", f"model_base_url={server.url}")
    first, second = found["situations"]
    assert first["same"]
    assert first["A"]["steps"] == first["B"]["steps"] == [{**FILL, "on": "Address"}]
    assert not second["same"]
    assert (second["A"]["verdict"], second["A"]["usable"]) == ("gave_up", False)
    assert (second["B"]["verdict"], second["B"]["usable"], second["B"]["drafted"]) == ("steps", False, 1)
    assert "not visible" in second["B"]["repairs"][0]
    assert found["arms"]["B"] == {"name": "openai:other", "usable": 1, "tokens": 3110, "cost_usd": 0.0}
    assert (found["same"], found["unanswered"]) == (1, 1)
    assert len(server.requests) == 2


def test_the_same_model_with_another_prompt(capsys: pytest.CaptureFixture[str]):
    text = SHIPPED.read_text()
    version = template("planner").version
    wording = text.replace(f"%% planner {version}\n", "%% planner 99\nBe bold.\n")
    assert "Be bold." in wording
    Path("bold.md").write_text(wording)

    def script(request: ChatRequest) -> Line:
        return {"steps": [FILL]} if "Be bold." in request.system else {"verdict": "gave_up"}

    with ModelServer(script) as server:
        setting = ("--set", f"model_base_url={server.url}", "--set", "model=openai:m")
        found = compared(capsys, "openai:m", "@bold.md", *setting)
    assert [found["arms"][arm]["usable"] for arm in "AB"] == [0, 2]


def test_money_is_counted_where_the_price_is_known(capsys: pytest.CaptureFixture[str]):
    with ModelServer([Says({"verdict": "done"}, usage=Usage(1_000_000, 0))]) as server:
        found = compared(capsys, "recorded", "openai:gpt-4o", "--set", f"model_base_url={server.url}")
    assert found["arms"]["B"]["cost_usd"] > 1
    assert found["arms"]["A"]["cost_usd"] == 0


def test_whoever_cannot_be_reached_is_no_reason_to_stop(capsys: pytest.CaptureFixture[str]):
    with ModelServer([Fails(500), {"verdict": "done"}]) as server:
        found = compared(capsys, "recorded", "openai:m", "--set", f"model_base_url={server.url}")
    assert [each["B"]["verdict"] for each in found["situations"]] == ["transport", "done"]


def test_the_table_names_both_and_says_what_each_came_to(capsys: pytest.CaptureFixture[str]):
    with ModelServer([{"steps": [FILL, {"zone": "z99", "skill": "click"}]}]) as server:
        main(["compare", "tape.jsonl", "recorded", "openai:m", "--set", f"model_base_url={server.url}"])
    told = capsys.readouterr().out
    assert "Checkout" in told
    assert "A  recorded: usable in 1 of 2 situations" in told
    assert "B  openai:m: usable in 2 of 2 situations" in told
    assert "1 of 2" in told
    assert "nobody was reached" in told


@pytest.mark.parametrize(
    ("wording", "problem"),
    [
        ("Plan!", "begins with '%% planner NUMBER'"),
        ("%% planner 7\n{{zones}}", "unknown place {{zones}}"),
    ],
)
def test_a_prompt_that_cannot_be_filled_in_is_refused(capsys: pytest.CaptureFixture[str], wording: str, problem: str):
    Path("odd.md").write_text(wording)
    assert (
        main(["compare", "tape.jsonl", "recorded", "openai:m@odd.md", "--set", "model_base_url=http://127.0.0.1:9"])
        == 2
    )
    assert problem in capsys.readouterr().err


def test_a_cassette_without_situations_is_refused(capsys: pytest.CaptureFixture[str]):
    Recorder(Path("bare.jsonl"), lambda text: text).exchange("openai:m", {}, {})
    assert main(["compare", "bare.jsonl", "recorded", "recorded"]) == 2
    assert "no situation was recorded" in capsys.readouterr().err


def test_done_is_usable_and_giving_up_is_not():
    usable = {verdict: judge(PlanDraft(verdict=verdict), FIRST).usable for verdict in ("done", "gave_up", "garbage")}
    assert usable == {"done": True, "gave_up": False, "garbage": False}
