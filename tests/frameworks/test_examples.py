"""The examples of `examples/frameworks`, each against the real package, with a scripted model behind the real protocol.

Those of LangGraph, the OpenAI Agents SDK and Inspect need an environment of their own, and those of CrewAI, which needs an older OpenAI client than
`midcourse[llm]`, another one: `just frameworks` makes them and names their Pythons in `FRAMEWORKS_PYTHON` and `CREWAI_PYTHON`.
"""

import ast
import json
import os
import re
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from midcourse.testing.models import Calls, ChatRequest, ModelServer, Says
from tests.docs.test_docs import AGREES, ROOT
from tests.forked import run_forked

EXAMPLES = ROOT / "examples" / "frameworks"
PYTHON = os.environ.get("FRAMEWORKS_PYTHON", "")
CREWAI_PYTHON = os.environ.get("CREWAI_PYTHON", "")
LONGEST = 12
OWN_ENVIRONMENT = pytest.mark.skipif(not PYTHON, reason="needs the environment that `just frameworks` makes")
CREWAI_ENVIRONMENT = pytest.mark.skipif(not CREWAI_PYTHON, reason="needs the environment that `just frameworks` makes")
CHAT_COMPLETIONS = """\
import agents
agents.set_default_openai_api("chat_completions")
agents.set_tracing_disabled(True)
"""
"""The protocol that the scripted model speaks, and nothing that would be sent to another host."""
PLAN = {
    "steps": [{"skill": "order", "arguments": {"product": "Desk lamp"}, "says": "Order a desk lamp"}],
    "final": True,
}


def run_example(name: str, folder: Path, script: Callable[[ChatRequest], Any], first: str = "") -> str:
    """What it prints. `script` plays the model of the assistant and of the planner."""
    code = (EXAMPLES / name).read_text()
    (folder / name).write_text(first + (AGREES if "TerminalApprover" in code else "") + code)
    with ModelServer(script) as server:
        served = {"MIDCOURSE_MODEL_BASE_URL": server.url, "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "any"}
        environment = {**os.environ, **served}
        if (
            own := CREWAI_PYTHON
            if "crewai" in code
            else PYTHON
            if re.search("langchain|agents|inspect_ai", code)
            else ""
        ):
            environment |= {
                "PYTHONPATH": str(ROOT / "src"),
                "CREWAI_DISABLE_TELEMETRY": "true",
                "CREWAI_STORAGE_DIR": "crew",
            }
            words = [own, name]
            done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        else:
            done = run_forked("python", name, cwd=folder, environment=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def plays(call: Calls) -> Callable[[ChatRequest], Any]:
    """A model that plans the order when it is asked for a plan; else it makes this call and repeats what it is answered."""

    def answer(request: ChatRequest) -> Any:
        if "You plan the next steps" in request.text:
            return PLAN
        last = request.messages[-1]
        return Says(last["content"]) if last["role"] == "tool" else call

    return answer


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_examples_are_short(path: Path) -> None:
    """Lines of code: without the docstring and empty lines."""
    text = path.read_text()
    docstring = len((ast.get_docstring(ast.parse(text)) or "").splitlines())
    assert len([line for line in text.splitlines() if line.strip()]) - docstring <= LONGEST


def read_answer(printed: str) -> Any:
    """The answer of the tool. CrewAI draws boxes around it, from another thread."""
    answers: list[Any] = []
    for found in re.finditer(r'{"status"', printed):
        with suppress(ValueError):  # it is inside a box, in several lines
            answers.append(json.JSONDecoder().raw_decode(printed, found.start())[0])
    return answers[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "first"),
    [
        pytest.param("pydantic_ai_agent.py", "", id="pydantic-ai"),
        pytest.param("langgraph_graph.py", "", id="langgraph", marks=OWN_ENVIRONMENT),
        pytest.param("openai_agent.py", CHAT_COMPLETIONS, id="openai", marks=OWN_ENVIRONMENT),
        pytest.param("crewai_crew.py", "", id="crewai", marks=CREWAI_ENVIRONMENT),
    ],
)
def test_a_framework_orders_once_and_only_after_a_person_agreed(name: str, first: str, tmp_path: Path) -> None:
    ordering = plays(Calls("order", {"product": "Desk lamp"}, id="call_a"))
    pending = read_answer(run_example(name, tmp_path, ordering, first))
    assert pending["status"] == "pending"
    orders = tmp_path / "orders.txt"
    assert not orders.exists()
    approved = run_forked("midcourse", "approve", pending["run"], "--yes", cwd=tmp_path, environment={**os.environ})
    assert approved.returncode == 0, approved.stdout
    continuing = plays(Calls("order", {"run": pending["run"]}, id="call_b"))
    done = read_answer(run_example(name, tmp_path, continuing, first))
    assert (done["status"], done["run"]) == ("done", pending["run"])
    assert read_answer(run_example(name, tmp_path, ordering, first)) == done  # as after a crash of the framework
    assert orders.read_text() == "Desk lamp\n"


@pytest.mark.slow
def test_a_function_whose_answer_is_lost_is_called_once(tmp_path: Path) -> None:
    for _ in range(2):
        assert run_example("function.py", tmp_path, lambda request: {}) == "PO-1 Desk lamp\n\n"


@pytest.mark.slow
def test_a_model_commits_with_an_mcp_server(tmp_path: Path) -> None:
    commit = {"skill": "git_commit", "arguments": {"repo_path": ".", "message": "Add a note"}, "says": "Commit"}
    plan = {"steps": [commit], "final": True}
    assert run_example("mcp_server.py", tmp_path, lambda request: plan) == "plan_complete\n"
    log = subprocess.run(["git", "log", "--format=%s"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert log.stdout == "Add a note\n"


@pytest.mark.slow
@OWN_ENVIRONMENT
@pytest.mark.parametrize(
    ("name", "first"),
    [("langgraph_planner.py", ""), ("openai_planner.py", CHAT_COMPLETIONS)],
    ids=["langgraph", "openai"],
)
def test_another_framework_plans(name: str, first: str, tmp_path: Path) -> None:
    answers = iter(["I do not know.", f"Here it is:\n```json\n{json.dumps(PLAN)}\n```"])
    assert run_example(name, tmp_path, lambda request: next(answers), first) == "plan_complete\n"
    assert (tmp_path / "orders.txt").read_text() == "Desk lamp\n"
