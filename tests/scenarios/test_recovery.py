"""Seed 001: a plan fails, the failure is understood, and a new version is made that knows why."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from midcourse.codec import decode, encode
from midcourse.domain.approval import Decision
from midcourse.domain.argument import Reference
from midcourse.domain.commands import MakePlan
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import GLOBAL, Draft, PlanVersion
from midcourse.errors import TaskInvalid
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import Answers, Approves, Rejects
from midcourse.worlds.base import BaseWorld, Scene, Zone, failed, skill
from tests.scenarios.stage import FunctionPlanner, Played, Stage, plan

PROTECTED = ("protected", *(f"protected-{number}" for number in range(1, 10)))


class Disk(BaseWorld):
    """Folders. All but one are protected; what happens there is up to `on_write`."""

    def __init__(self, on_write: Callable[[], Outcome | None] | None = None) -> None:
        super().__init__()
        self.written: list[str] = []
        self.on_write = on_write

    def look(self) -> Scene:
        folders = (Zone(id=name, role="folder", label=f"/{name}") for name in (*PROTECTED, "home"))
        return Scene("Disk", *folders, Zone(id="n", role="text", label=f"{len(self.written)} files"))

    @skill(effect="read")
    def collect(self) -> dict[str, str]:
        """Gather what is to be written."""
        return {"report": "42 invoices"}

    @skill(effect="set_state")
    def note(self, text: str) -> None:
        self.written.append(text)

    @skill(effect="set_state")
    def write(self, zone: Zone) -> Outcome | None:
        if zone.id in PROTECTED:
            if self.on_write is not None:
                return self.on_write()
            raise PermissionError("Permission denied: cannot write to /protected")
        self.written.append(zone.label)
        return None


COLLECT = Draft(zone=GLOBAL, skill="collect", says="Collect the figures")


def write(folder: str) -> Draft:
    return Draft(zone=folder, skill="write", says=f"Write the report to /{folder}")


def avoids_what_was_forbidden(context: PlanningContext) -> PlanDraft:
    """Does what the replanning context suggests: another target, and nothing again that is done."""
    if context.recovery is None:
        return plan(COLLECT, write("protected"), final=True)
    assert context.recovery.analysis.error_type == "permission"
    return plan(write("home"), final=True)


def insists(context: PlanningContext) -> PlanDraft:
    """Has something new each time, and none of it works."""
    return plan(write(PROTECTED[len({attempt.target for attempt in context.attempts})]), final=True)


def disk(on_write: Callable[[], Outcome | None] | None = None, think: Any = insists, **settings: Any) -> Stage:
    return Stage(world=Disk(on_write), planner=FunctionPlanner(think), settings=settings)


def fails(reason: str, detail: str = "") -> Callable[[], Outcome]:
    return lambda: failed(reason, detail)


# --- the permission failure


async def the_permission_failure() -> tuple[Stage, Played]:
    stage = disk(think=avoids_what_was_forbidden)
    return stage, await stage.play()


async def test_the_permission_failure_becomes_version_2_with_analysis_fix_and_failed_step() -> None:
    stage, played = await the_permission_failure()
    assert played.ended == (True, False, "plan_complete")
    first, second = played.plans
    assert (first.version, first.context) == (1, None)
    assert (second.version, second.parent, second.cause) == (2, 1, "error")
    context = second.context
    assert context is not None
    assert (context.analysis.error_type, context.analysis.severity) == ("permission", "HIGH")
    assert "cannot write to /protected" in context.analysis.root_cause
    assert context.fix.message
    assert context.fix.changes
    assert context.failed is not None
    assert (context.failed.version, context.failed.index, context.failed.target) == (1, 1, "/protected")
    assert isinstance(stage.world, Disk)
    assert stage.world.written == ["/home"]


async def test_the_context_has_how_far_the_run_had_come() -> None:
    _, played = await the_permission_failure()
    context = played.contexts[1].recovery
    assert context is not None
    assert context == played.plans[1].context, "what the planner is told is what is kept"
    assert context.results == (("report", "42 invoices"),)
    assert [step.says for step in context.completed] == ["Collect the figures"]
    assert [step.says for step in context.attempts] == ["Write the report to /protected"]
    assert played.completed == ["Collect the figures", "Write the report to /home"], "collected once"


async def test_the_versions_can_be_read_back_as_they_were() -> None:
    _, played = await the_permission_failure()
    for version in played.plans:
        assert decode(PlanVersion, encode(version)) == version


# --- three places where planning again is triggered


async def test_no_steps_in_the_plan_is_critical() -> None:
    answers = iter([plan(), plan(write("home"), final=True)])
    played = await disk(think=lambda _: next(answers)).play()
    assert played.ended == (True, False, "plan_complete")
    context = played.contexts[1].recovery
    assert context is not None
    assert (context.failure.reason, context.analysis.severity, context.failed) == ("no_steps", "CRITICAL", None)
    off = await disk(think=lambda _: plan(), replan_on_critical=False).play()
    assert off.ended == (False, False, "empty_plan")
    assert off.result.planner_calls == 1


def write_what_was_collected(**more: Any) -> Draft:
    return replace(write("home"), needs=("report",), **more)


async def test_a_missing_dependency_is_critical() -> None:
    """The step is not done without what it needs, and the next plan gets that first."""

    def collects_what_is_missing(context: PlanningContext) -> PlanDraft:
        first = (COLLECT,) if context.recovery else ()
        return plan(*first, write_what_was_collected(), final=True)

    stage = disk(think=collects_what_is_missing)
    played = await stage.play()
    assert played.ended == (True, False, "plan_complete")
    context = played.contexts[1].recovery
    assert context is not None
    assert (context.failure.reason, context.analysis.severity) == ("missing_dependency", "CRITICAL")
    assert context.failure.detail == "it needs 'report', which is not the result of any step"
    assert played.result.executions == 2, "what lacks something is not tried"
    off = await disk(think=lambda _: plan(write_what_was_collected(), final=True), replan_on_critical=False).play()
    assert (off.ended, off.result.planner_calls) == ((False, False, "replan_exhausted"), 1)


async def test_a_step_may_refer_to_what_an_earlier_one_brings_back() -> None:
    report = (("text", Reference(source="result", name="report")),)
    note = Draft(zone=GLOBAL, skill="note", arguments=report, says="Note it down")
    stage = disk(think=lambda _: plan(replace(COLLECT, gives=("report",)), note, final=True))
    played = await stage.play()
    assert played.ended == (True, False, "plan_complete")
    assert isinstance(stage.world, Disk)
    assert stage.world.written == ["42 invoices"]
    assert played.plans[0].steps[1].needs == ("report",)


async def test_a_step_that_does_not_bring_back_what_it_was_to_has_failed() -> None:
    played = await disk(think=lambda _: plan(replace(COLLECT, gives=("total",)), final=True)).play()
    assert played.result.attempts[0].reason == "missing_result"
    assert played.result.attempts[0].detail == "it should have returned 'total', and did not"


async def test_a_step_that_fails_is_classified_by_what_it_says() -> None:
    played = await disk(think=avoids_what_was_forbidden).play()
    assert played.contexts[1].recovery is not None
    failure = played.contexts[1].recovery.failure
    assert (failure.reason, failure.found.category, failure.found.nature) == ("error", "ENVIRONMENT", "permission")


# --- each severity under each trigger setting

OF_SEVERITY = {
    "CRITICAL": fails("missing_dependency"),
    "HIGH": fails("permission"),
    "MEDIUM": fails("busy"),
    "LOW": fails("not_needed"),
    "unclassified": fails("strange"),
}


@pytest.mark.parametrize(
    "triggers", list(product([True, False], repeat=3)), ids=lambda t: "".join("-+"[on] for on in t)
)
@pytest.mark.parametrize("severity", OF_SEVERITY)
async def test_each_severity_under_each_trigger_setting(severity: str, triggers: tuple[bool, bool, bool]) -> None:
    critical, high, medium = triggers
    stage = disk(
        OF_SEVERITY[severity],
        replan_on_critical=critical,
        replan_on_high=high,
        replan_on_medium=medium,
        replan_interval_seconds=0,
    )
    played = await stage.play()
    replans = {"CRITICAL": critical, "HIGH": high, "MEDIUM": medium or high, "LOW": False, "unclassified": high}[
        severity
    ]
    assert played.result.budget.error_replans == (3 if replans else 0)
    if severity == "LOW":
        assert (played.ended, played.final_run.counts.skipped) == ((True, False, "plan_complete"), 1)
        assert played.completed == []
        return
    assert played.ended == (False, False, "replan_exhausted")
    retries = 3 if severity == "MEDIUM" and not medium else 0
    assert played.result.executions == 1 + retries + (3 if replans else 0), (
        "what would not pass is not waited for again"
    )


async def test_replanning_can_be_switched_off() -> None:
    played = await disk(auto_replan=False).play()
    assert played.ended == (False, False, "replan_exhausted")
    assert (played.result.executions, played.result.planner_calls) == (1, 1)
    assert played.result.final_detail.endswith("(auto_replan is off)")


# --- interval and time-out


async def test_replans_keep_a_distance_that_grows() -> None:
    played = await disk(fails("permission")).play()
    assert played.result.wall_seconds == 5.0 + 10.0, "none before the first, then the interval, then twice that"
    eager = await disk(fails("permission"), replan_interval_seconds=0).play()
    assert eager.result.wall_seconds == 0.0


async def test_a_replan_has_a_time_out() -> None:
    def gone_after_the_first(context: PlanningContext) -> PlanDraft:
        return insists(context) if context.cause == "initial" else PlanDraft(verdict="transport", detail="429")

    played = await disk(fails("permission"), gone_after_the_first, replan_timeout_seconds=10).play()
    issued = [command for turn in played.turns for command in turn.commands if isinstance(command, MakePlan)]
    assert [command.timeout for command in issued][1:3] == [10.0, 10.0], "waiting does not count"
    assert played.ended == (False, False, "outage")


# --- a person after so many


async def test_after_n_replans_a_person_is_asked_and_may_show_the_way() -> None:
    def listens(context: PlanningContext) -> PlanDraft:
        return plan(write("home"), final=True) if context.guidance else insists(context)

    person = Answers(Decision(verdict="go_on", guidance="use /home"))
    played = await replace(disk(fails("permission"), listens, human_after=2), approver=person).play()
    (question,) = person.questions
    assert (question.about, question.consequences) == ("stuck", ())
    assert "2 new plans have not fixed it" in question.detail
    assert played.ended == (True, False, "plan_complete")
    assert [version.cause for version in played.plans] == ["initial", "error", "error", "guided"]


async def stuck_with(person: Any, **settings: Any) -> Played:
    return await replace(disk(fails("permission"), human_after=1, **settings), approver=person).play()


async def test_an_unanswered_question_ends_the_run_as_needs_human() -> None:
    played = await stuck_with(None)
    assert played.ended == (False, False, "needs_human")
    assert played.result.budget.error_replans == 1


async def test_a_person_may_stop_it() -> None:
    assert (await stuck_with(Rejects())).ended == (False, False, "needs_human")


async def test_go_on_without_guidance_is_asked_again_within_the_ceilings() -> None:
    person = Approves()
    played = await stuck_with(person)
    assert played.ended == (False, False, "replan_exhausted")
    assert [question.about for question in person.questions] == ["stuck", "stuck"]
    assert (played.result.budget.replans, played.result.budget.error_replans) == (5, 3)


def test_a_threshold_behind_the_maximum_is_refused_at_start() -> None:
    with pytest.raises(TaskInvalid, match="human_after = 5 can never be reached: max_error_replans = 3 comes first"):
        disk(human_after=5)
