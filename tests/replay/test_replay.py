"""Recorded runs through the director again: unchanged, and with each limit changed in both directions."""

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from midcourse.agent.wiring import load_job, packaged_tasks
from midcourse.domain.budget import Cost
from midcourse.domain.commands import AskPerson
from midcourse.domain.events import PauseAsked, ResumeAsked, Resumed
from midcourse.domain.phases import Ended
from midcourse.domain.run import Run
from midcourse.replay import Lost
from midcourse.replay.equivalence import find_end
from midcourse.testing import Posts, Scripted
from midcourse.worlds.simulated import Fault
from midcourse.worlds.simulated.faults import FaultKind
from tests.harness import REPLAN_STEP, a_step
from tests.replay.recording import Recorder, recorded, recording_of
from tests.scenarios.stage import AGAIN, WORLDS, Stage, crash, endless_stage, example, plan, press

KINDS: tuple[FaultKind, ...] = (
    "popup",
    "zone_moves",
    "slow_load",
    "no_effect",
    "done_but_timeout",
    "transient",
    "structural",
    "stored_but_error",
    "error_not_stored",
    "success_not_stored",
    "stored_late",
    "look_fails",
    "look_empty",
)
TASKS = [name for name in packaged_tasks() if load_job(name, {}).file.world.name in WORLDS]


def faulty(kind: FaultKind, nth: int = 1, name: str = "order", **settings: Any) -> Stage:
    return example(name, faults=[Fault(kind=kind, nth=nth, seconds=2.0)], **settings)


# --- unchanged


@pytest.mark.parametrize("name", TASKS)
async def test_every_example_replays_identically(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCOURSE_SECRET_PASSWORD", "lovelace")
    recording, _ = await recorded(example(name))
    assert recording.is_identical()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["order", "notepad"])
async def test_every_fault_replays_identically(kind: FaultKind, name: str) -> None:
    recording, _ = await recorded(faulty(kind, name=name))
    assert recording.is_identical()


async def test_a_run_that_was_paused_guided_crashed_and_resumed_replays_identically() -> None:
    stage = faulty("transient", act_timeout_seconds=5.0)
    live = stage.start()
    await stage.reach(live, "planning")
    live.guide("mind the step")
    live.pause()
    await stage.reach(live, "paused")
    await crash(live)
    played = await stage.resume()
    assert played.result.success
    assert (await recording_of(stage)).is_identical()


async def test_a_run_that_is_not_over_is_replayed_as_far_as_it_got() -> None:
    stage = example("order")
    live = stage.start()
    await stage.reach(live, "acting")
    await crash(live)
    recording = await recording_of(stage)
    assert recording.is_identical()
    assert recording.again().reached is None


async def test_a_journal_that_does_not_fit_is_nondeterminism() -> None:
    recording, _ = await recorded(example("notepad"))
    rows = list(recording.rows)
    broken = rows[5]
    rows[5] = replace(broken, commands=())
    again = replace(recording, rows=tuple(rows)).again()
    assert (again.verdict, again.at) == ("nondeterminism", broken.seq)
    assert again.detail.startswith(f"nondeterminism at event {broken.seq}: recorded do nothing yet, now")
    assert replace(recording, rows=tuple(rows)).again(max_calls=1).verdict == "nondeterminism"


async def test_an_end_in_other_words_is_the_same_end() -> None:
    """A journal of an earlier version may word it differently."""
    recording, _ = await recorded(example("notepad"))
    (rest, last) = next((recording.rows[:n], row) for n, row in enumerate(recording.rows) if find_end(row.commands))
    end = find_end(last.commands)
    assert end is not None
    reworded = replace(last, commands=(replace(end, detail="as it was once said"),))
    assert replace(recording, rows=(*rest, reworded)).again().verdict == "identical"
    other = replace(last, commands=(replace(end, reason="rejected"),))
    assert replace(recording, rows=(*rest, other)).again().verdict == "nondeterminism"


async def test_a_row_that_is_missing_is_nondeterminism() -> None:
    recording, _ = await recorded(example("notepad"))
    again = replace(recording, rows=recording.rows[:4] + recording.rows[5:]).again()
    assert (again.verdict, again.at) == ("nondeterminism", recording.rows[5].seq)


async def test_a_row_with_another_number_is_nondeterminism() -> None:
    recording, _ = await recorded(example("notepad"))
    rows = (*recording.rows[:5], replace(recording.rows[5], seq=77), *recording.rows[6:])
    assert replace(recording, rows=rows).again().verdict == "nondeterminism"


# --- the oracle: what a replay says would have happened, happens


STRICTER = [
    {"max_replans": 0},
    {"max_error_replans": 0},
    {"max_segments": 1},
    {"max_segments": 2, "wrap_up_at": 1.0},
    {"max_calls": 2, "wrap_up_at": 1.0},
    {"max_calls": 3, "wrap_up_at": 1.0},
    {"max_step_retries": 0},
    {"max_wall_seconds": 1.0, "wrap_up_at": 1.0},
    {"deadline_seconds": 1.0},
    {"count_extensions": True, "max_replans": 1},
    {"approvals": "always"},
]


@pytest.mark.parametrize("changes", STRICTER, ids=str)
@pytest.mark.parametrize("kind", ["transient", "popup", "stored_but_error", "error_not_stored", "done_but_timeout"])
async def test_a_changed_run_goes_as_the_replay_says(kind: FaultKind, changes: dict[str, Any]) -> None:
    """The same world and planner, run for real under the changed limits. Of time-outs a fake clock knows nothing."""
    recording, played = await recorded(faulty(kind))
    again = recording.again(**changes)
    real, _ = await recorded(faulty(kind, **changes))
    if again.verdict == "ends_earlier":
        assert isinstance(again.final.phase, Ended)
        if again.detail.endswith("unless done_when was met by then") and real.state.verified:
            assert summary(again.final)[2:] == summary(real.state)[2:]
        else:
            assert summary(again.final) == summary(real.state)
        assert again.lost is not None
        assert again.lost.success == played.result.success
    elif again.verdict == "same_course":
        assert summary(again.final) == summary(real.state)
    elif again.verdict == "asks_earlier":
        assert any(isinstance(command, AskPerson) for command in real.rows[again.at - 1].commands)
    else:
        assert again.verdict == "undetermined"
    until = again.at - 1 if again.at else len(real.rows)
    assert [kinds(commands) for commands in again.commands[:until]] == [kinds(r.commands) for r in real.rows[:until]]


def summary(run: Run) -> tuple[object, ...]:
    phase = run.phase
    assert isinstance(phase, Ended)
    return phase.reason, phase.detail, run.counts, run.budget.spent


def kinds(commands: tuple[Any, ...]) -> list[str]:
    return [command.kind for command in commands]


# --- limits that end it earlier


async def test_it_says_what_would_have_been_saved_and_lost() -> None:
    recording, played = await recorded(faulty("popup"))
    assert played.result.budget.error_replans > 0
    again = recording.again(max_error_replans=0)
    assert (again.verdict, again.reached) == ("ends_earlier", "goal_reached")
    assert again.detail.startswith("replan_exhausted")
    assert again.saved is not None
    assert again.saved.calls == played.result.budget.calls - again.until.calls > 0
    assert again.lost == Lost(steps=len(played.completed) - again.until.completed, success=True)
    assert len(played.completed) > again.until.completed


async def test_a_lower_limit_on_replans_ends_the_replay_earlier() -> None:
    """The issue's own example: `--set max_replans=2`."""
    stage = endless_stage(max_segments=8, max_replans=5, count_extensions=True)
    recording, _ = await recorded(stage)
    again = recording.again(max_replans=2)
    assert again.verdict == "ends_earlier"
    assert again.final.counts.versions == 3
    assert again.saved is not None
    assert again.saved.planner_calls == 3
    assert again.lost == Lost(steps=3, success=False)


def test_a_question_that_expires_in_the_replay_ends_it_earlier() -> None:
    run = Recorder()
    run.to_acting(a_step("order", "irreversible")).decides("approved", after=50.0)
    again = run.again(approval_seconds=20.0)
    assert (again.verdict, again.detail) == ("ends_earlier", "rejected, order was not approved in time")
    assert again.until.seconds == 2.0 + 20.0 + 1.0
    assert run.again(approval_seconds=60.0).verdict == "same_course"


def test_a_pause_beyond_the_deadline_ends_the_replay_earlier() -> None:
    """Only the changed run has a timer during its pause, so from there on its commands have other numbers."""
    run = Recorder()
    run.to_planning().tell(PauseAsked()).plans(a_step("order", "irreversible")).records().tell(ResumeAsked(), 100.0)
    run.sees().decides("approved").sees().acts("unknown").verifies("happened").finishes()
    again = run.again(deadline_seconds=60.0)
    assert (again.verdict, again.detail) == (
        "ends_earlier",
        "deadline_exceeded, the deadline came while the run was paused",
    )
    assert again.until.seconds == 60.0
    assert run.again(deadline_seconds=600.0).verdict == "same_course"


def test_time_that_runs_out_during_an_act_ends_the_replay_earlier() -> None:
    run = Recorder()
    run.to_acting(a_step("order", "irreversible")).decides("approved").sees().acts(after=40.0)
    again = run.again(max_wall_seconds=30.0, wrap_up_at=1.0)
    assert again.verdict == "ends_earlier"
    assert again.detail.startswith("budget_exhausted")
    assert again.until.seconds == pytest.approx(31.0, abs=0.1)


# --- limits that ask


async def test_approvals_ask_before_the_order_is_sent() -> None:
    recording, played = await recorded(example("order"))
    again = recording.again(approvals="always")
    assert again.verdict == "asks_earlier"
    assert again.detail == "instead of going on to do step 3 of plan 2"
    assert again.lost == Lost(steps=len(played.completed) - again.until.completed, success=True)


async def test_whether_nobody_asked_would_have_gone_well_is_not_known() -> None:
    recording, _ = await recorded(example("order", approvals="always"))
    again = recording.again(approvals="never")
    assert (again.verdict, again.detail) == (
        "undetermined",
        "it would do step 3 of plan 2 instead of ask a person",
    )
    assert (again.saved, again.lost) == (None, None)


# --- limits that would have let it go on


async def test_beyond_a_raised_limit_nothing_is_recorded() -> None:
    recording, _ = await recorded(endless_stage(max_segments=3))
    again = recording.again(max_segments=9)
    assert again.verdict == "not_recorded"
    assert "the recorded run ended there (budget_exhausted, all 3 segments are used up)" in again.detail
    assert recording.again(max_segments=9, max_calls=3, ask_for_more=False).verdict == "same_course"


async def test_a_different_ceiling_at_the_same_point_is_the_same_course() -> None:
    recording, _ = await recorded(endless_stage(max_segments=3, wrap_up_at=1.0))
    again = recording.again(max_segments=9, max_calls=3, ask_for_more=False)
    assert again.verdict == "same_course"
    assert again.detail.startswith("it would have ended at the same point, as budget_exhausted, 3 of 3 calls")


async def test_without_the_structural_stop_the_rest_is_not_recorded() -> None:
    recording, _ = await recorded(example("unreachable_cube"))
    assert recording.again(structural_stop=False).verdict == "not_recorded"


async def test_a_question_that_stays_open_longer_is_not_recorded() -> None:
    stage = example("order", approvals="always", approver=Posts(), approval_seconds=10.0)
    recording, played = await recorded(stage)
    assert played.result.final_reason == "rejected"
    again = recording.again(approval_seconds=3600.0)
    assert again.verdict == "not_recorded"
    assert "stopped waiting after 10 s" in again.detail


# --- limits under which the world or the planner would have been asked for something else


async def test_without_a_recorded_retry_the_course_is_undetermined() -> None:
    recording, _ = await recorded(faulty("transient"))
    again = recording.again(max_step_retries=0)
    assert (again.verdict, again.detail) == ("undetermined", "it would make plan 2 (error) instead of wait 0.6 s")


async def test_a_wait_of_another_length_is_named() -> None:
    recording, _ = await recorded(faulty("transient"))
    assert recording.again(retry_delay_seconds=5.0).detail == "it would wait 15 s instead of wait 0.6 s"


async def test_a_planner_told_to_wrap_up_makes_the_course_undetermined() -> None:
    recording, _ = await recorded(example("notepad"))
    again = recording.again(max_calls=3, wrap_up_at=0.5)
    assert (again.verdict, again.detail) == ("undetermined", "the planner would have been told to wrap up")


async def test_a_plan_cut_at_another_length_makes_the_course_undetermined() -> None:
    recording, _ = await recorded(example("notepad"))
    assert recording.again(max_plan_steps=2).verdict == "undetermined"
    assert recording.again(max_plan_steps=10).verdict == "same_course"
    cut, _ = await recorded(example("notepad", max_plan_steps=3))
    assert cut.again(max_plan_steps=10).verdict == "undetermined"


async def test_looks_with_other_costs_make_the_course_undetermined() -> None:
    recording, _ = await recorded(example("notepad"))
    assert recording.again(look_calls=1).verdict == "undetermined"
    assert recording.again(final_looks="last").verdict == "undetermined"


async def test_plans_beyond_what_is_visible_make_the_course_undetermined() -> None:
    recording, _ = await recorded(example("notepad"))
    assert recording.again(visible_plans=1).verdict == "undetermined"


def test_a_planner_call_that_failed_is_charged_in_full() -> None:
    run = Recorder(plan_tokens=100)
    run.to_planning().plans(verdict="transport", cost=Cost(calls=1, tokens=100)).waits()
    assert run.again(plan_tokens=200).verdict == "undetermined"


@pytest.mark.parametrize(
    ("name", "took", "verdict"),
    [
        ("act_timeout_seconds", 3.0, "same_course"),
        ("act_timeout_seconds", 20.0, "undetermined"),
        ("look_timeout_seconds", 20.0, "undetermined"),
        ("plan_timeout_seconds", 20.0, "same_course"),
    ],
)
def test_a_command_is_undetermined_only_if_its_timeout_was_reached(name: str, took: float, verdict: str) -> None:
    run = Recorder()
    run.to_acting(a_step(), REPLAN_STEP).acts(after=took)
    again = run.again(**{name: 5.0})
    assert again.verdict == verdict


def test_an_act_given_up_earlier_may_still_have_been_seen_to_work() -> None:
    """There is no call left to verify it; but the look after it, which it had, might have shown it."""
    run = Recorder(look_calls=1, max_calls=2)
    run.to_acting(a_step()).acts(after=20.0, cost=Cost(calls=1))
    assert run.again(act_timeout_seconds=5.0).verdict == "undetermined"


def test_a_planner_that_exceeds_the_new_timeout_is_undetermined_or_an_outage() -> None:
    run = Recorder()
    run.to_planning().plans(a_step(), after=20.0)
    assert run.again(plan_timeout_seconds=5.0).verdict == "undetermined"
    ends = run.again(plan_timeout_seconds=5.0, max_outage_seconds=0)
    assert (ends.verdict, ends.detail.partition(",")[0]) == ("ends_earlier", "outage")


def test_an_act_given_up_in_the_recording_is_undetermined_with_more_time() -> None:
    run = Recorder(act_timeout_seconds=5.0)
    run.to_acting(a_step()).acts("unknown", reason="timeout", after=5.0)
    assert run.again(act_timeout_seconds=30.0).verdict == "undetermined"


def test_a_process_that_died_meanwhile_may_have_waited_too_long_before() -> None:
    run = Recorder()
    run.to_acting(a_step()).tell(Resumed(), 500.0).acts("unknown", reason="lost", after=0.5)
    assert run.again(act_timeout_seconds=5.0).verdict == "undetermined"
    assert run.again(plan_timeout_seconds=5.0).verdict == "same_course"


@pytest.mark.parametrize("change", [{"reads_words": True}, {"vision": True}])
async def test_reading_by_a_model_that_was_not_recorded_is_undetermined(change: dict[str, bool]) -> None:
    recording, _ = await recorded(example("notepad"))
    assert recording.again(**change).verdict == "undetermined"


def test_a_reading_that_exceeds_the_new_timeout_is_undetermined() -> None:
    run = Recorder(reads_words=True)
    run.to_acting(a_step(reads=True)).acts(after=20.0)
    assert run.again(plan_timeout_seconds=5.0).verdict == "undetermined"


# --- all of them


def test_no_limit_goes_unnoticed() -> None:
    """Whatever perform reads of the limits shapes answers, and the replay has to know: see `Changed`."""
    source = Path(__file__).parents[2] / "src" / "midcourse"
    texts = [
        path.read_text() for path in (*(source / "perform").glob("*.py"), source / "policy" / "plan" / "horizon.py")
    ]
    read = {name for text in texts for name in re.findall(r"task\.limits\.(\w+)", text)}
    assert read == {
        "approvals",
        "look_calls",
        "max_plan_steps",
        "act_timeout_seconds",
        "look_timeout_seconds",
        "plan_timeout_seconds",
        "detour_iterations",
        "reads_words",
        "vision",
    }


async def test_a_long_run_is_replayed_in_no_time() -> None:
    planner = Scripted(plan(press("Win", transition=True), AGAIN))
    stage = replace(endless_stage(max_segments=150, max_calls=1000, max_wall_seconds=1e6), planner=planner)
    recording, _ = await recorded(stage)
    assert len(recording.rows) > 400
    began = time.process_time()
    assert recording.is_identical()
    assert recording.again(max_segments=100, wrap_up_at=1.0).verdict == "ends_earlier"
    assert time.process_time() - began < 5
