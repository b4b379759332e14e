"""The natural mistakes of a first program, and what is said about each."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from midcourse import (
    Agent,
    BaseWorld,
    Decision,
    Draft,
    Expectation,
    Outcome,
    PlanDraft,
    Probe,
    Scene,
    Settings,
    Task,
    Zone,
    skill,
)
from midcourse.domain.expectation import TextContains
from midcourse.domain.result import Result
from midcourse.errors import TaskInvalid
from midcourse.planners import Playbook, Rule
from midcourse.testing import MemoryStore


class Lamp(BaseWorld):
    on = False

    def look(self) -> Scene:
        return Scene("Room", Zone(id="lamp", role="switch", label="Desk lamp", state={"on": self.on}))

    @skill
    def turn(self, zone: Zone, on: bool) -> Outcome:
        self.on = on
        return Outcome(data={"on": on})

    @skill(effect="irreversible")
    def sell(self, zone: Zone) -> None: ...

    @skill
    def smash(self, zone: Zone) -> None:
        raise ValueError("it is not mine")


class Plans:
    """The planner of a test: answers with what a function returns."""

    def __init__(self, answer: Callable[[], Any]) -> None:
        self._answer = answer

    async def plan(self, context: Any) -> Any:
        return self._answer()


def run(planner: Any, world: BaseWorld | None = None, **more: Any) -> Result:
    settings = Settings.load(overrides={"retry_delay_seconds": 0.0, "max_error_replans": 1})
    agent = Agent(world or Lamp(), planner, store=MemoryStore(), settings=settings, **more)
    return agent.run_sync("Turn on the lamp")


def turning(**changes: Any) -> PlanDraft:
    given: dict[str, Any] = {"zone": "lamp", "skill": "turn", "arguments": {"on": True}, **changes}
    return PlanDraft(steps=[Draft(**given)])


# --- mappings and lists


def test_plans_may_be_written_with_mappings_and_lists() -> None:
    lamp = Lamp()
    assert run(Plans(turning), lamp).final_reason == "plan_complete"
    assert lamp.on


def test_what_was_given_as_a_mapping_or_list_is_the_same_value() -> None:
    task = Task(goal="Turn", inputs={"room": "Study", "on": True}, secrets=["door"], files=["plan.pdf"])
    assert task == Task(goal="Turn", inputs=(("room", "Study"), ("on", True)), secrets=("door",), files=("plan.pdf",))
    assert hash(task)
    assert Probe(name="lit", arguments={"room": "Study"}) == Probe(name="lit", arguments=(("room", "Study"),))
    lit = TextContains(text="lit")
    assert Expectation(checks=[lit]) == Expectation(checks=(lit,)) == Expectation(checks=lit)  # pyrefly: ignore[bad-argument-type]
    assert Task(goal="Turn", secrets="door").secrets == ("door",), "and not its letters"
    assert Playbook([Rule(steps=[Draft(zone="lamp")])]).rules == (Rule(steps=(Draft(zone="lamp"),)),)


def test_an_argument_that_is_no_mapping_or_list_is_refused_at_construction() -> None:
    with pytest.raises(
        TypeError, match=r"Draft\(arguments=…\) takes named values, such as {'name': 'value'}, not 'on'"
    ):
        Draft(zone="lamp", arguments="on")  # pyrefly: ignore[bad-argument-type]
    with pytest.raises(TypeError, match=r"PlanDraft\(steps=…\) takes a list, not 3"):
        PlanDraft(steps=3)  # pyrefly: ignore[bad-argument-type]


# --- exceptions in the user's own code


def divide() -> float:
    return 1 / 0


LINE = divide.__code__.co_firstlineno + 1
HERE = f"test_mistakes.py:{LINE})"


def test_a_bug_in_the_planner_is_shown_with_its_line_and_traceback(caplog: pytest.LogCaptureFixture) -> None:
    detail = run(Plans(divide)).final_detail
    assert "the planner's answer cannot be used: Plans.plan raised ZeroDivisionError: division by zero (" in detail
    assert HERE in detail
    assert "garbage" not in detail
    assert "Traceback" in caplog.text
    assert "return 1 / 0" in caplog.text


def test_a_bug_in_the_world_is_shown_with_its_line_and_traceback(caplog: pytest.LogCaptureFixture) -> None:
    result = run(Plans(lambda: turning(skill="smash", arguments={})))
    assert "ValueError: it is not mine (" in result.final_detail
    assert "test_mistakes.py:" in result.final_detail
    assert "lamp.smash raised" in caplog.text
    assert "Traceback" in caplog.text


def test_a_message_that_cannot_be_written_down_is_logged_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    def answer() -> None:
        raise ValueError("half of a pair: \ud800")

    run(Plans(answer))
    assert "half of a pair: ?" in caplog.text
    caplog.text.encode()


def test_a_bug_in_look_is_shown_with_its_line(caplog: pytest.LogCaptureFixture) -> None:
    class Dark(Lamp):
        def look(self) -> Scene:
            divide()
            raise AssertionError

    result = run(Plans(turning), Dark())
    assert (result.final_reason, HERE in result.final_detail) == ("world_lost", True)
    assert "Traceback" in caplog.text


def test_a_bug_in_the_approver_is_shown_with_its_line_and_traceback(caplog: pytest.LogCaptureFixture) -> None:
    class Owner:
        async def ask(self, question: object) -> Decision:
            divide()
            raise AssertionError

    result = run(Plans(lambda: turning(skill="sell", arguments={})), approver=Owner())
    assert result.final_reason == "rejected"
    assert "Owner.ask raised ZeroDivisionError: division by zero (" in result.final_detail
    assert HERE in result.final_detail
    assert "Traceback" in caplog.text


def test_a_plain_function_in_place_of_async_is_named(caplog: pytest.LogCaptureFixture) -> None:
    class Planner:
        def plan(self, context: object) -> PlanDraft:
            return turning()

    class Owner:
        def ask(self, question: object) -> Decision:
            return Decision(verdict="approved")

    assert "Planner.plan is a plain function: write `async def plan`" in run(Planner()).final_detail
    selling = run(Plans(lambda: turning(skill="sell", arguments={})), approver=Owner())
    assert "Owner.ask is a plain function: write `async def ask`" in selling.final_detail
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR], "it says all there is to say"


# --- names


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"zone": "Desk lamp"}, "zone 'Desk lamp' is not visible; did you mean 'lamp'?"),
        ({"zone": "switch:Desk lamp"}, "did you mean 'lamp'?"),
        ({"skill": "trun"}, "no such skill: 'trun'; did you mean 'turn'?"),
        ({"arguments": {"onn": True}}, "no such argument: 'onn'; did you mean 'on'?"),
        ({"arguments": {}}, "missing argument: 'on'"),
    ],
)
def test_a_misspelt_name_is_told_what_was_meant(changes: dict[str, Any], message: str) -> None:
    detail = run(Plans(lambda: turning(**changes))).final_detail
    assert message in detail
    assert "garbage" not in detail


# --- the agent and its settings


def test_settings_take_values_as_well_as_text(tmp_path: Path) -> None:
    given = {"max_calls": 3, "approvals": "never", "max_cost_usd": 0.5, "lessons": False, "home": tmp_path}
    settings = Settings.load(overrides=given)
    assert settings == Settings.load(overrides={name: str(value) for name, value in given.items()})
    assert (settings.max_calls, settings.lessons, settings.home) == (3, False, tmp_path)
    with pytest.raises(TaskInvalid, match="max_calls = 0: has to be greater than or equal to 1"):
        Settings.load(overrides={"max_calls": 0})


def test_a_class_in_place_of_an_object_is_named() -> None:
    with pytest.raises(TypeError, match=r"world: Lamp is a class; give an object of it, Lamp\(\)"):
        Agent(Lamp, Plans(turning))  # pyrefly: ignore[bad-argument-type]


async def test_run_sync_in_a_notebook_says_what_to_write() -> None:
    agent = Agent(Lamp(), Plans(turning), store=MemoryStore())
    with pytest.raises(RuntimeError, match=r"as in a notebook: write `await agent\.run\(…\)`"):
        agent.run_sync("Turn on the lamp")
    with pytest.raises(RuntimeError, match=r"as in a notebook: write `await agent\.resume\(…\)`"):
        agent.resume_sync("lamp")


def test_without_planner_and_model_it_says_so() -> None:
    with pytest.raises(TaskInvalid, match="planner"):
        Agent(Lamp(), store=MemoryStore()).run_sync("Turn on the lamp")
