"""Document 001, Similar Situations and Learning from Mistakes: what is saved of a failure, and when it is found again."""

from pathlib import Path

import pytest

from midcourse import Agent, BaseWorld, Draft, Outcome, PlanDraft, Scene, Zone, skill
from midcourse.domain.records.lesson import Lesson, Recalled
from midcourse.ports.planner import PlanningContext
from tests.cli.conftest import Cli


class Arm(BaseWorld):
    """Reaches the near tray and not the far one, and says how far away it is in its own way."""

    name = "arm"

    def __init__(self, output: str) -> None:
        super().__init__()
        self.said = output

    def look(self) -> Scene:
        return Scene("Table", *(Zone(id=name, role="tray", label=name) for name in ("far", "near")))

    @skill(effect="set_state")
    def put(self, zone: Zone, cube: str) -> Outcome | None:
        failed = Outcome(status="failed", reason="error", detail=self.said)
        return failed if zone.id == "far" else None


class Planner:
    """Takes the far tray first and the near one after a failure, and keeps what it was told about similar failures."""

    def __init__(self) -> None:
        self.similar: tuple[Recalled, ...] = ()

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.similar = context.recovery.similar if context.recovery else ()
        tray = "near" if context.attempts else "far"
        return PlanDraft(steps=(Draft(zone=tray, skill="put", arguments={"cube": "red"}),))


def run(output: str, goal: str = "Put the red cube away") -> tuple[Recalled, ...]:
    planner = Planner()
    assert Agent(Arm(output), planner).run_sync(goal).success
    return planner.similar


REACH = "IK did not converge in 400 iters (pos_err={}m > tol=0.001m)"


@pytest.mark.slow
def test_a_failure_is_found_again_although_a_number_with_a_unit_differs(home: Path) -> None:
    assert run(REACH.format("0.7052")) == ()
    (found,) = run(REACH.format("0.3450"))
    assert found.alike == 1.0, "the same signature"
    for output in ("voltage is 3.3V", "moved by 12 mm", "at 21.5°C", "12px off", "1.5e-05m away", "took 2.5 m/s"):
        run(output)
        other = output.replace("3.3", "4.1").replace("12", "7").replace("21.5", "9").replace("1.5e-05", "0.2")
        (found,) = run(other.replace("2.5", "31"))
        assert found.alike == 1.0, output


def test_error_type_root_cause_and_the_arguments_of_the_fix_are_saved(home: Path, cli: Cli) -> None:
    run("PermissionError: cannot write to /far")
    (lesson,) = [lesson["untrusted"] | lesson for lesson in cli("lessons", "--json").json]
    assert lesson["error_type"] == "permission"
    assert "cannot write to /far" in lesson["root_cause"]
    assert lesson["fix"] == "put tray 'near' (cube=red)"
    assert lesson["task"] == "Put the red cube away"


def test_a_failure_of_the_same_type_is_found_by_a_similar_task(home: Path) -> None:
    run("PermissionError: cannot write to /far")
    other = "403 Forbidden: the drawer belongs to Bob"
    assert run(other, goal="Order a desk lamp") == (), "another task, and nothing alike in the message"
    found = run("Access denied by zone control", goal="Put the red cube away today")
    assert [one.lesson.said.text for one in found] == ["PermissionError: cannot write to /far"]
    assert found[0].alike < 1.0
    assert run("KeyError: 'tray'", goal="Put the red cube away") == (), "the same task, but another type of error"


def test_an_old_lesson_without_the_new_fields_can_be_read() -> None:
    old = Lesson(key="k", signature="s")
    assert (old.error_type, old.task.text) == ("", "")
