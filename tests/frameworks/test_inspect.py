"""The solver for Inspect: real evaluations with a scripted model, whose tools lose answers, refuse and run into limits.

They need the environment that `just frameworks` makes, and run in one process of it.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from midcourse.testing.models import ChatRequest, ModelServer
from tests.docs.test_docs import ROOT
from tests.frameworks.test_examples import OWN_ENVIRONMENT, PLAN, PYTHON, run_example

pytestmark = [pytest.mark.slow, OWN_ENVIRONMENT]
ANSWER = "The lamp is on its way."
TASK = """\
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import use_tools
from inspect_ai.tool import ToolDef

async def order(product: str) -> str:
    with open("orders.txt", "a") as orders:
        orders.write(product + "\\n")
    raise TimeoutError("504 Gateway Timeout")

@task
def lamp():
    tool = ToolDef(order, description="Order a product.", parameters={"product": "Its name."})
    return Task(dataset=[Sample("Order a desk lamp", target="lamp")], setup=use_tools(tool), scorer=includes())
"""
CHAT_COMPLETIONS = """\
from functools import partial
import inspect_ai
inspect_ai.eval = partial(inspect_ai.eval, model_args={"responses_api": False}, display="none")
"""
"""The protocol that the scripted model speaks."""


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of `inspect_evaluations.py`, by the names of its evaluations."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    words = [PYTHON, str(Path(__file__).with_name("inspect_evaluations.py"))]
    folder = tmp_path_factory.mktemp("inspect")
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_model_plans_and_its_answer_is_the_completion(evaluated: dict[str, Any]) -> None:
    it = evaluated["ordered"]
    assert it["orders"] == ["desk lamp gift blue"]
    assert (it["run"]["success"], it["run"]["final_reason"]) == (True, "plan_complete")
    assert (it["completion"], it["score"]) == (ANSWER, {"includes": "C"})


def test_inspect_sees_every_call_and_counts_every_token(evaluated: dict[str, Any]) -> None:
    it = evaluated["looked_up"]
    assert it["tool_events"] == ["find_product", "order"]
    assert it["roles"] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert (it["model_events"], it["tokens"]) == (3, 300)


def test_the_model_reads_long_descriptions_and_results_in_full(evaluated: dict[str, Any]) -> None:
    assert evaluated["looked_up"]["orders"] == [f"L-{'0' * 500}-7"]


def test_an_order_whose_answer_is_lost_is_placed_once(evaluated: dict[str, Any]) -> None:
    for name in ("lost", "lost_and_found", "lost_and_assumed", "crashed", "error_after_order"):
        assert evaluated[name]["orders"] == ["desk lamp"], name
    assert evaluated["inspects_own_loop"]["orders"] == ["desk lamp"] * 3  # the same model, without Midcourse


def test_a_doubt_is_decided_by_a_function_or_by_the_parameter(evaluated: dict[str, Any]) -> None:
    for name, reason in (("lost_and_found", "plan_complete"), ("lost_and_assumed", "plan_complete")):
        assert evaluated[name]["run"]["final_reason"] == reason
    for name in ("lost", "crashed", "error_after_order"):
        assert evaluated[name]["run"]["final_reason"] == "needs_human"
        assert evaluated[name]["completion"] == ANSWER


def test_nothing_is_sent_without_approval(evaluated: dict[str, Any]) -> None:
    assert evaluated["not_approved"]["run"]["final_reason"] == "rejected"
    for name in ("not_approved", "rejected_by_inspect", "terminated_by_inspect"):
        assert evaluated[name]["orders"] == [], name
    assert evaluated["terminated_by_inspect"]["limit"] == "operator"


def test_a_refusal_of_the_tool_is_not_a_doubt(evaluated: dict[str, Any]) -> None:
    it = evaluated["sold_out"]
    assert (it["orders"], it["run"]["success"]) == (["floor lamp"], True)


def test_limits_and_failures_of_the_model_reach_inspect(evaluated: dict[str, Any]) -> None:
    assert (evaluated["over_limit"]["limit"], evaluated["over_limit"]["orders"]) == ("message", [])
    assert "the provider rejected the key" in evaluated["model_failed"]["error"]
    assert evaluated["without_tools"]["completion"] == ANSWER


def plan_or_answer(request: ChatRequest) -> Any:
    return PLAN if "You plan the next steps" in request.text else ANSWER


def test_the_inspect_example_places_one_order(tmp_path: Path) -> None:
    assert run_example("inspect_evaluation.py", tmp_path, plan_or_answer, CHAT_COMPLETIONS) == f"{ANSWER}\n"
    assert (tmp_path / "orders.txt").read_text() == "Desk lamp\n"


def test_the_command_line_finds_the_solver_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text(TASK)
    words = [
        "eval",
        "task.py",
        "--solver",
        "midcourse/agent",
        "-S",
        "doubt=happened",
        "-S",
        "read=get_*,find_*",
        "--model",
        "openai/gpt-5",
    ]
    options = ["-M", "responses_api=false", "--display", "plain", "--log-format", "json"]
    with ModelServer(plan_or_answer) as server:
        environment = {**os.environ, "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "any"}
        program = str(Path(PYTHON).with_name("inspect"))
        done = subprocess.run(
            [program, *words, *options], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stdout + done.stderr
    [log] = [json.loads(path.read_text()) for path in (tmp_path / "logs").glob("*.json")]
    assert (log["status"], log["eval"]["solver"]) == ("success", "midcourse/agent")
    assert log["eval"]["solver_args"] == {"doubt": "happened", "read": ["get_*", "find_*"]}
    assert (tmp_path / "orders.txt").read_text() == "Desk lamp\n"
