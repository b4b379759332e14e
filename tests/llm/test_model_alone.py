"""What `model` alone switches on, and what that costs in calls: nothing, one for each failure, and an outline once a run is stuck."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from midcourse import Agent, Result, Settings
from midcourse.testing import MemoryStore
from midcourse.testing.models import ChatRequest, ModelServer
from midcourse.worlds.simulated import MAIN, Application, Control, View, Windows

DESK = Application(
    views=(
        View(
            name=MAIN,
            title="Desk",
            kind="window",
            controls=(
                *(Control(label=label, role="text") for label in ("One", "Two", "Three", "Four")),
                Control(label="Locked", forbidden="Permission denied: '/locked'"),
                Control(label="Open", opens="drawer"),
            ),
        ),
        View(name="drawer", title="Drawer", controls=(Control(label="Close", closes="keep"),)),
    )
)
GOALS = ["Explore the desk", "Find the drawer"]
ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "reflector": {"root_cause": "It is locked", "severity": "HIGH", "fix": "Open the other one"},
    "outliner": {"goals": GOALS},
    "judge": {"current": 2, "evidence": "Locked"},
}


class ScriptedRoles:
    """Answers for all roles; the planner clicks these, one a plan, and then says that it is done."""

    def __init__(self, *labels: str) -> None:
        self._left = list(labels)

    def __call__(self, request: ChatRequest) -> Mapping[str, Any]:
        role = request.role
        if role != "planner":
            return ANSWERS[role]
        if not self._left:
            return {"verdict": "done", "reason": "nothing is left"}
        return {"steps": [{"zone": f"main/{self._left.pop(0)}", "skill": "click"}]}


def count_calls(*labels: str, **settings: Any) -> Mapping[str, int]:
    """Calls by role of a run with these plans."""
    spent: Counter[str] = Counter()
    for each in run(*labels, **settings).spent:
        spent[each.role] += each.cost.calls
    return spent


def run(*labels: str, **settings: Any) -> Result:
    with ModelServer(ScriptedRoles(*labels)) as server:
        chosen = Settings.load(overrides={"model_base_url": server.url, "replan_interval_seconds": 0, **settings})
        agent = Agent(Windows(DESK), model="openai:any", settings=chosen, store=MemoryStore())
        return agent.run_sync("Open the drawer")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "any-key-will-do")


@pytest.mark.slow
def test_a_run_without_trouble_costs_no_call_more():
    assert count_calls("Open") == count_calls("Open", outline="off", role_models="reflector=rules") == {"planner": 2}


def test_each_failure_that_is_planned_for_costs_one_call():
    assert count_calls("Locked", "Open") == {"planner": 3, "reflector": 1}
    assert count_calls("Locked", "Open", role_models="reflector=rules") == {"planner": 3}


@pytest.mark.slow
def test_a_run_that_is_stuck_costs_an_outline_and_no_judgement_of_a_screen_that_stays():
    stuck = ("One", "Two", "Three", "Open")
    assert count_calls(*stuck, outline="off") == {"planner": 5}
    assert count_calls(*stuck) == {"planner": 5, "outliner": 1}
