"""A planner that cannot be reached is asked again, each time by a new command, after the wait that it requested."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from midcourse.director.outage import postpone
from midcourse.domain.budget import FREE, Cost
from midcourse.domain.commands import MakePlan, Wait
from midcourse.domain.events import Resumed
from midcourse.domain.moves import AskPlanner, Consult, Look, Move, Open
from tests.harness import Drill, a_step


def asked(**limits: Any) -> Drill:
    return Drill(**limits).starts().opens().sees()


def unreachable(drill: Drill, wait: float | None = None, cost: Cost = FREE) -> Drill:
    return drill.plans(verdict="transport", detail="nobody there", wait=wait, cost=cost)


def test_a_requested_wait_counts_neither_as_a_try_nor_as_a_failure():
    drill = asked(max_step_retries=0)
    for _ in range(20):
        unreachable(drill, wait=30.0)
        assert 30.0 <= drill.pending(Wait).seconds <= 33.0
        drill.waits()
    drill.plans(a_step())
    assert (drill.run.budget.spent.calls, drill.run.counts.replans, drill.run.counts.error_replans) == (1, 0, 0)


def test_waiting_ends_with_the_time_of_the_run():
    drill = asked(max_wall_seconds=100.0)
    while drill.run.phase.kind != "ended":
        unreachable(drill, wait=30.0)
        if drill.run.phase.kind != "ended":
            drill.waits()
    assert drill.ended[0] == "budget_exhausted"


@pytest.mark.parametrize("wait", [1e-9, 0.5])
def test_a_requested_wait_lasts_at_least_a_second(wait: float):
    drill = unreachable(asked(), wait=wait)
    assert 1.0 <= drill.pending(Wait).seconds <= 1.1


def test_another_model_is_asked_at_once_but_not_for_ever():
    drill = unreachable(asked(max_step_retries=3), wait=0.0)
    assert [command.turn for command in drill.sent(MakePlan)] == [0, 1]
    for _ in range(2):
        unreachable(drill, wait=0.0)
    assert drill.phase.kind == "planning"
    assert unreachable(drill, wait=0.0).pending(Wait).seconds >= 1.0


def test_a_request_that_is_rejected_is_not_waited_for():
    assert asked().plans(verdict="rejected", detail="401").ended == ("planner_unavailable", "401")
    another = asked().plans(verdict="rejected", detail="401", wait=0.0)
    assert [command.turn for command in another.sent(MakePlan)] == [0, 1]


@pytest.mark.parametrize("wait", [float("nan"), float("inf"), -5.0])
def test_an_invalid_wait_does_no_harm(wait: float):
    drill = unreachable(asked(), wait=wait)
    assert drill.run.phase.kind in ("planning", "backing_off", "ended")


def test_every_try_has_a_reservation_of_its_own():
    drill = asked(plan_tokens=100, max_tokens=250, ask_for_more=False)
    unreachable(drill, cost=Cost(calls=1, tokens=100)).waits()
    unreachable(drill, cost=Cost(calls=1, tokens=100))
    drill.waits()
    assert drill.ended[0] == "budget_exhausted"
    assert drill.run.budget.spent.tokens == 200


def test_waits_requested_by_all_models_are_not_a_failure():
    drill = asked()
    for _ in range(10):
        unreachable(unreachable(drill, wait=0.0), wait=30.0).waits()
    assert drill.run.phase.kind == "planning"


def test_a_requested_wait_extends_the_replan_timeout():
    drill = asked(replan_timeout_seconds=100.0).plans(a_step()).acts("failed", reason="permission")
    while drill.run.phase.kind != "planning":
        drill = drill.waits() if drill.run.phase.kind == "backing_off" else drill.sees()
    for _ in range(5):
        unreachable(drill, wait=60.0).waits()
    assert drill.run.phase.kind == "planning"


def test_time_without_a_process_extends_the_replan_timeout():
    drill = asked(replan_timeout_seconds=100.0).plans(a_step()).acts("failed", reason="permission")
    while drill.run.phase.kind != "planning":
        drill = drill.waits() if drill.run.phase.kind == "backing_off" else drill.sees()
    unreachable(drill).tell(Resumed(), after=300.0).waits().sees()
    assert drill.run.phase.kind == "planning"


def test_an_outage_of_the_world_extends_the_replan_timeout():
    drill = asked(replan_timeout_seconds=100.0).plans(a_step()).acts("failed", reason="permission")
    while drill.run.phase.kind != "planning":
        drill = drill.waits() if drill.run.phase.kind == "backing_off" else drill.sees()
    unreachable(drill).tell(Resumed()).waits().sees_nothing("world_lost")
    for _ in range(8):
        drill.opens(False, away=True).waits()
    drill.opens().sees()
    assert drill.run.replanned_at is not None
    assert drill.run.now - drill.run.replanned_at > 100.0
    assert drill.run.phase.kind == "planning"


@pytest.mark.parametrize(
    "wrap",
    [lambda asked: asked, lambda asked: Look(then=asked), lambda asked: Open(then=Look(then=asked))],
)
def test_a_replan_inside_any_move_is_postponed(wrap: Callable[[AskPlanner], Move]):
    asked_then = AskPlanner(cause="error", due=100.0)
    assert postpone(wrap(asked_then), 30.0) == wrap(replace(asked_then, due=130.0))
    assert postpone(wrap(replace(asked_then, due=None)), 30.0) == wrap(replace(asked_then, due=None))


def test_a_replan_after_an_adviser_is_postponed():
    consult = Consult(role="reflector", then=AskPlanner(cause="error", due=100.0))
    assert postpone(consult, 30.0) == replace(consult, then=replace(consult.then, due=130.0))
