"""Outages of a host, model or database: the run waits with growing pauses, within its limits, and uses up no attempts."""

from typing import Any

import pytest

from midcourse.domain.budget import FREE, Cost
from midcourse.domain.commands import Act, CheckDone, MakePlan, Observe, OpenWorld, PlanTry, Verify, Wait
from midcourse.domain.events import CancelAsked, PauseAsked, Postponed, ResumeAsked, Resumed
from midcourse.domain.phases import BackingOff, Ended, Looking, Opening, Paused
from tests.harness import Drill, a_step

ONE = a_step("one")


def away(drill: Drill, **more: Any) -> Drill:
    return drill.opens(False, away=True, detail="refused", **more)


def waited_out(drill: Drill) -> list[float]:
    """Every pause of an outage of the host, until the run ends."""
    pauses: list[float] = []
    while not isinstance(away(drill).phase, Ended):
        pauses.append(drill.pending(Wait).seconds)
        drill.waits()
    return pauses


def test_a_host_that_is_away_for_five_minutes_spends_no_attempt() -> None:
    drill = Drill(max_step_retries=0, backoff_jitter=0).starts()
    began = drill.now
    while drill.now < began + 300.0:
        away(drill).waits()
    assert drill.opens().sees().pending(MakePlan)
    assert drill.run.outage is None


def test_pauses_grow_and_the_last_try_is_made_at_the_limit() -> None:
    drill = Drill(backoff_jitter=0, max_outage_seconds=600.0).starts()
    pauses = waited_out(drill)
    assert pauses[:6] == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0]
    assert max(pauses) == 60.0
    assert drill.ended[0] == "outage"
    assert drill.ended[1].startswith("the world's host could not be reached for 60")


def test_without_any_delay_it_still_takes_time() -> None:
    assert len(waited_out(Drill(retry_delay_seconds=0.0, max_outage_seconds=30.0).starts())) <= 30


def test_a_world_that_fails_to_open_is_not_an_outage() -> None:
    drill = away(Drill(max_step_retries=1).starts()).waits().opens(False, detail="no display").waits()
    assert drill.opens(False, detail="no display").ended == ("world_lost", "no display")


def test_a_host_that_goes_and_comes_back_is_not_a_world_that_is_lost_too_often() -> None:
    drill = Drill(max_reopenings=1, max_replans=50).to_planning()
    for _ in range(3):
        drill.plans(a_step("one"), a_step("two")).acts("unknown", reason="world_lost", fingerprint=None)
        away(drill).waits().opens().verifies("did_not_happen").waits()
    assert drill.pending(MakePlan).cause == "reopened"


def test_a_host_that_is_full_is_waited_for_without_a_limit_of_its_own() -> None:
    drill = Drill(max_outage_seconds=60.0, max_wall_seconds=7200.0, max_reopenings=0, backoff_jitter=0).starts()
    began, pauses = drill.now, list[float]()
    while drill.now < began + 3600.0:
        away(drill, full=True)
        pauses.append(drill.pending(Wait).seconds)
        drill.waits()
    assert pauses[:6] == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0]
    assert drill.opens().sees().pending(MakePlan)


def test_a_host_that_is_full_and_then_away_is_out_from_then_on() -> None:
    drill = Drill(max_outage_seconds=180.0, max_wall_seconds=7200.0, backoff_jitter=0).starts()
    for _ in range(10):
        away(drill, full=True).waits()
    assert 110.0 < sum(waited_out(drill)) <= 120.0, "it answered a pause of 60 s before"
    assert drill.ended[0] == "outage"


def test_waiting_ends_with_the_time_of_the_run() -> None:
    late, spent = Drill(deadline_seconds=60.0).starts(), Drill(max_wall_seconds=60.0).starts()
    waited_out(late)
    waited_out(spent)
    assert (late.ended[0], spent.ended[0]) == ("deadline_exceeded", "budget_exhausted")


def test_a_cancel_ends_the_wait() -> None:
    assert away(Drill().starts()).tell(CancelAsked()).ended[0] == "cancelled"


def test_a_pause_is_not_part_of_an_outage() -> None:
    drill = away(Drill(max_outage_seconds=100.0).starts()).tell(PauseAsked()).waits()
    assert isinstance(drill.phase, Paused)
    drill.tell(ResumeAsked(), after=10_000.0)
    assert isinstance(drill.phase, Opening)
    assert isinstance(away(drill).phase, BackingOff)


def test_time_without_a_process_is_not_part_of_an_outage() -> None:
    drill = away(Drill(max_outage_seconds=100.0).starts())
    drill.tell(Resumed(), after=10_000.0).waits()
    assert isinstance(away(drill).phase, BackingOff)


def test_an_outage_is_over_with_the_first_answer() -> None:
    drill = Drill().to_planning().plans(verdict="transport", cost=FREE)
    assert drill.run.outage is not None
    drill.waits()
    assert drill.run.outage is not None, "that time has passed says nothing"
    assert drill.plans(verdict="garbage").run.outage is None


def test_a_model_that_is_away_uses_up_no_calls() -> None:
    drill = Drill(max_calls=1, backoff_jitter=0).to_planning()
    began = drill.now
    while drill.now < began + 300.0:
        drill.plans(verdict="transport", cost=FREE).waits()
    assert drill.plans(ONE).run.budget.spent == Cost(calls=1)


def test_whether_the_task_is_done_is_not_given_up_while_the_model_is_away() -> None:
    drill = Drill(has_done_when=True, max_step_retries=0).to_acting(ONE).acts()
    for _ in range(5):
        drill.checks("undecided", wait=0.0).waits()
    assert drill.checks("met").ended[0] == "goal_reached"


def test_a_look_is_not_given_up_while_the_screen_reader_is_away() -> None:
    drill = Drill(max_step_retries=0).starts().opens()
    for _ in range(5):
        drill.sees_nothing(wait=0.0).waits()
    assert drill.sees().pending(MakePlan)


# --- a command that was not begun


def postponed(drill: Drill, command: type[Any]) -> Drill:
    return drill.tell(Postponed(answers=drill.pending(command).id, detail="PostgreSQL is away"))


@pytest.mark.parametrize("command", [OpenWorld, Observe, MakePlan, Act, Verify, CheckDone, PlanTry])
def test_a_command_that_was_not_started_is_issued_again_for_free(command: type[Any]) -> None:
    drill = at(command)
    before = drill.run.counts, drill.run.budget.spent
    first = drill.pending(command).id
    postponed(drill, command)
    assert isinstance(drill.phase, BackingOff)
    drill.waits()
    assert drill.pending(command).id > first
    counts = drill.run.counts
    assert (counts.steps, counts.executions, counts.replans, counts.tries) == (
        before[0].steps,
        before[0].executions,
        before[0].replans,
        before[0].tries,
    )
    assert drill.run.budget.spent == before[1]


def at(command: type[Any]) -> Drill:
    """A run that waits for such a command."""
    if command is OpenWorld:
        return Drill().starts()
    if command is Observe:
        return Drill().starts().opens()
    if command is MakePlan:
        return Drill().to_planning()
    if command is Act:
        return Drill().to_acting(ONE)
    if command is Verify:
        return Drill().to_acting(ONE).acts("unknown")
    if command is CheckDone:
        return Drill(has_done_when=True).to_acting(ONE).acts()
    return Drill(has_detours=True).to_detour()


def test_a_database_that_stays_away_ends_the_run() -> None:
    drill = Drill(max_outage_seconds=100.0).to_acting(ONE)
    while not isinstance(drill.phase, Ended):
        postponed(drill, Act)
        if not isinstance(drill.phase, Ended):
            drill.waits()
    assert drill.ended[0] == "outage"
    assert "the database" in drill.ended[1]


def test_a_postponed_look_leads_to_the_same_phase() -> None:
    drill = postponed(Drill().starts().opens(), Observe).waits()
    assert isinstance(drill.phase, Looking)
    assert drill.sees().pending(MakePlan).cause == "initial"
