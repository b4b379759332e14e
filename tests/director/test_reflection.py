"""Reflection: when the reflector explains a failure, which plans get the explanation, and that it decides nothing."""

from typing import Any

import pytest

from midcourse.domain.budget import Cost, Spent
from midcourse.domain.commands import MakePlan
from midcourse.domain.events import CancelAsked, PauseAsked, ResumeAsked
from midcourse.domain.failure import Failure
from tests.harness import REPLAN_STEP, Drill, a_step

WHY = "The folder is protected"


def failing(reason: str = "broken", **more: Any) -> Drill:
    run = Drill(**({"has_reflector": True} | more)).to_acting(a_step())
    return run.acts("failed", reason=reason, detail="no way", fingerprint="f2")


def root_cause_for_planner(run: Drill) -> str:
    """The root cause in the request for the plan under way; empty if the rules explain the failure."""
    found = run.pending(MakePlan).reflection
    return found.analysis.root_cause if found else ""


def failure_asked_about(run: Drill) -> Failure:
    failure = run.pending_advice("reflector").failure
    assert failure is not None
    return failure


def test_a_failure_is_explained_before_the_next_plan() -> None:
    run = failing()
    asked = run.pending_advice("reflector")
    assert asked.failure is not None
    assert (asked.failure.reason, asked.failure.detail, asked.version, asked.seen) == ("broken", "no way", 2, "o-f2")
    assert root_cause_for_planner(run.reflects(WHY)) == WHY
    assert run.pending(MakePlan).failure == asked.failure


def test_without_a_reflector_no_additional_command_is_issued() -> None:
    run = failing(has_reflector=False)
    assert run.phase.kind == "planning"
    assert run.pending(MakePlan).reflection is None


def test_a_plan_without_a_failure_needs_no_explanation() -> None:
    run = Drill(has_reflector=True).to_acting(a_step(), REPLAN_STEP)
    assert run.acts().sees("f2").phase.kind == "planning"


def test_every_failure_gets_its_own_explanation() -> None:
    run = failing().reflects(WHY).plans(a_step("other")).acts("failed", reason="odd", fingerprint="f3")
    assert failure_asked_about(run).reason == "odd"
    assert root_cause_for_planner(run.reflects("Something else")) == "Something else"


def test_a_plan_without_steps_is_explained_as_a_failure() -> None:
    run = Drill(has_reflector=True).to_planning().plans()
    assert failure_asked_about(run).reason == "no_steps"
    assert root_cause_for_planner(run.reflects(WHY)) == WHY


def test_a_planner_asked_again_gets_the_same_explanation() -> None:
    run = failing().reflects(WHY).plans(verdict="transport", wait=0.0)
    assert root_cause_for_planner(run) == WHY
    assert len(run.advice_requests("reflector")) == 1


def test_the_explanation_comes_before_the_review_of_the_path() -> None:
    run = failing(monitor="path").reflects(WHY)
    assert run.pending_advice("monitor")
    assert root_cause_for_planner(run.reviews()) == WHY


# --- it decides nothing


@pytest.mark.parametrize("reason", ["broken", "permission", "unreachable", "not_needed", "grasp_slipped"])
def test_recovery_is_the_same_with_and_without_a_reflector(reason: str) -> None:
    alone, explained = failing(reason, has_reflector=False), failing(reason)
    if explained.phase.kind == "advising":
        explained.reflects(WHY)
    assert explained.phase.kind == alone.phase.kind
    assert explained.run.counts == alone.run.counts


def test_a_failure_that_is_retried_or_ends_the_run_is_not_explained() -> None:
    assert failing("grasp_slipped").phase.kind == "backing_off"
    assert failing("unreachable").phase.kind == "planning", "the proof says enough"
    assert failing(max_error_replans=0).ended[0] == "replan_exhausted"


# --- nothing stands in a plan's way


@pytest.mark.parametrize(
    "answer", [{}, {"verdict": "garbage"}, {"verdict": "garbage", "cause": WHY}, {"verdict": "transport", "cause": WHY}]
)
def test_without_an_explanation_the_rules_explain_the_failure(answer: dict[str, Any]) -> None:
    run = failing().reflects(**answer)
    assert root_cause_for_planner(run) == ""
    assert len(run.advice_requests("reflector")) == 1


def test_an_explanation_never_spends_the_budget_of_a_plan() -> None:
    assert failing(max_calls=2).phase.kind == "planning"
    assert failing(max_calls=3).pending_advice("reflector")
    assert failing(max_calls=3).reflects(WHY).phase.kind == "planning"


def test_the_cost_of_an_explanation_is_reserved_and_booked_to_its_role() -> None:
    run = failing(plan_tokens=500)
    assert run.run.budget.reserved == Cost(calls=1, tokens=500)
    spent = Spent(role="reflector", version=2, model="m", cost=Cost(calls=1, tokens=80))
    assert spent in run.reflects(WHY, cost=spent.cost, spent=(spent,)).run.spent


def test_an_explanation_may_take_a_share_of_the_replan_timeout() -> None:
    assert failing(replan_timeout_seconds=40.0).pending_advice("reflector").timeout == 10.0


def test_a_stale_screen_is_left_out_of_the_explanation() -> None:
    run = Drill(has_reflector=True).to_acting(a_step()).acts("failed", reason="broken", fingerprint=None)
    assert run.sees_nothing().pending_advice("reflector").seen == ""


def test_pause_and_cancel_work_during_an_explanation_which_is_kept() -> None:
    paused = failing().tell(PauseAsked()).reflects(WHY)
    assert paused.phase.kind == "paused"
    assert root_cause_for_planner(paused.records().tell(ResumeAsked()).sees("f2")) == WHY
    assert failing().tell(CancelAsked()).ended[0] == "cancelled"


@pytest.mark.parametrize(
    ("reason", "detail", "times", "asked"),
    [
        ("bad_arguments", "type_text refuses line breaks: press Enter with press_keys", 1, False),
        ("missing_dependency", "it needs 'create_invoice'", 1, False),
        ("error", "ValueError: the date must be YYYY-MM-DD", 1, False),
        ("bad_arguments", "", 1, True),
        ("bad_arguments", "no such value", 2, True),
        ("broken", "something went wrong", 1, True),
        ("expectation_unmet", "it showed something else", 1, True),
    ],
    ids=["arguments", "result", "exception", "without words", "again", "unclassified", "unmet"],
)
def test_the_reflector_is_not_asked_if_the_error_is_the_answer(
    reason: str, detail: str, times: int, asked: bool
) -> None:
    run = Drill(has_reflector=True, max_step_retries=0).to_planning()
    before = 0
    for number in range(times):
        before = len(run.advice_requests("reflector"))
        run.plans(a_step(f"s{number}")).acts("failed", reason=reason, detail=detail, fingerprint=f"f{number}")
        if run.phase.kind == "looking":
            run.sees(f"f{number}")
    assert (len(run.advice_requests("reflector")) > before) == asked
