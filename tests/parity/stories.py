"""The scenarios as stories for any runtime: stages of `tests/scenarios` on a real clock, with short waits, and requests at cues.

A cue is the n-th act or plan of the run, or the moment at which it asks a question or is paused.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

from midcourse.domain.agreement import Agreement
from midcourse.domain.agreement import Rule as ApprovalRule
from midcourse.domain.approval import Change, Decision
from midcourse.domain.budget import Cost
from midcourse.domain.events import ApprovalDecided, CancelAsked, Guided, PauseAsked, ResumeAsked
from midcourse.domain.expectation import Probe
from midcourse.domain.task import Task
from midcourse.errors import NotSent
from midcourse.planners import Rule, SamePlan
from midcourse.policy.approval.question import bind_decision
from midcourse.ports.clock import SystemClock
from midcourse.ports.controls import Request
from midcourse.ports.detour import TryDraft
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext
from midcourse.testing import (
    Answers,
    Approves,
    FakeClock,
    Posts,
    Rejects,
    Scripted,
    ScriptedMonitor,
    ScriptedOutlines,
    ScriptedProgress,
)
from midcourse.worlds.base import probe, skill
from midcourse.worlds.simulated import Arm, Desktop, Fault
from midcourse.worlds.simulated.base import SimulatedWorld
from tests.scenarios.stage import (
    AGAIN,
    FunctionPlanner,
    Post,
    Stage,
    click,
    endless_stage,
    example,
    letter,
    notepad_of_the_seed,
    pick,
    plan,
    press,
)
from tests.scenarios.test_approval import Meanwhile, Obliging, ordering, three_lamps
from tests.scenarios.test_complaints import DEAD_ICON, every_day, forgets_the_address, stuck_until_guided
from tests.scenarios.test_detour import EXPORT, SETTINGS, SIX, TOOLS, adding_files, opening_settings
from tests.scenarios.test_every_fault import one_pick
from tests.scenarios.test_failure_modes import Invoices, forgetting, garbled_at_first, insisting, invoice
from tests.scenarios.test_order import HARMLESS_FAULTS, called
from tests.scenarios.test_outline import GOALS, NEW_GOALS, SEED, bookmarks, wandering
from tests.scenarios.test_outline_monitor import circling
from tests.scenarios.test_recapture import seen_through
from tests.scenarios.test_recovery import (
    COLLECT,
    OF_SEVERITY,
    avoids_what_was_forbidden,
    disk,
    fails,
    insists,
    write,
    write_what_was_collected,
)
from tests.scenarios.test_recovery_approval import SIX as SIX_PEOPLE
from tests.scenarios.test_recovery_approval import Desk, letters_after_a_failure, moved
from tests.scenarios.test_recovery_reflection import explained_failure
from tests.scenarios.test_replan_step import forgetful
from tests.scenarios.test_seven_pages import seven_pages

Says = Callable[[Stage], Request]


@dataclass(frozen=True, kw_only=True)
class Cue:
    """A request to the run. `when` is `act 3` (during the third act), `plan 2`, `asking` or `paused`."""

    when: str
    says: Says


@dataclass(frozen=True, kw_only=True)
class Story:
    make: Callable[[], Stage]
    cues: tuple[Cue, ...] = ()
    ends: tuple[str, ...] | None = None
    """The final reason of each run, where both runtimes might be wrong alike. Later runs know the lessons of earlier ones."""

    @property
    def runs(self) -> int:
        return len(self.ends or ("",))


SOON = 0.05


class Pondering:
    """A planner that hangs from the n-th question on."""

    def __init__(self, planner: Planner, question: int) -> None:
        self._planner = planner
        self._left = question - 1

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self._left -= 1
        if self._left < 0:
            await asyncio.Event().wait()
        return await self._planner.plan(context)


def use_real_clock(stage: Stage) -> Stage:
    """The stage with a real clock and short waits; probes count at once."""
    if isinstance(stage.world, SimulatedWorld):
        stage.world.keep_time_by(SystemClock())
    task, done = stage.task, stage.task.done_when
    if isinstance(done, Probe):
        task = replace(task, done_when=replace(done, settles_after=0.0))
    quick = {"retry_delay_seconds": SOON, **({"replan_interval_seconds": 0} if stage.task.limits.auto_replan else {})}
    settings = {**quick, **stage.settings, "max_retry_delay_seconds": SOON}
    return replace(stage, task=task, clock=cast(FakeClock, SystemClock()), settings=settings)


def settle_at_once(rules: tuple[Rule, ...]) -> list[Rule]:
    """The same rules with probes that count at once, so that the speed of the machine makes no difference."""

    def sooner(step: Any) -> Any:
        return replace(step, probe=replace(step.probe, settles_after=0.0)) if step.probe else step

    return [replace(rule, steps=tuple(sooner(step) for step in rule.steps)) for rule in rules]


def order(*faults: Fault, rules: Callable[[tuple[Rule, ...]], Any] | None = None, **more: Any) -> Stage:
    quick = [replace(fault, seconds=min(fault.seconds, SOON)) for fault in faults]
    return example("order", faults=quick, rules=lambda r: settle_at_once(tuple(rules(r) if rules else r)), **more)


def ask(person: Any, **more: Any) -> Stage:
    return order(approver=person, approvals="always", **more)


def cue(when: str, request: Request) -> Cue:
    return Cue(when=when, says=lambda _stage: request)


def cue_decision(verdict: Any, **more: Any) -> Cue:
    """A decision on the last question."""

    def says(stage: Stage) -> Request:
        assert isinstance(stage.approver, Posts)
        return bind_decision(stage.approver.questions[-1], Decision(verdict=verdict, **more))

    return Cue(when="asking", says=says)


def done_once_taken_over(context: PlanningContext) -> PlanDraft:
    return PlanDraft(verdict="done") if context.cause == "taken_over" else plan(letter("Ada"), final=True)


def written_home_once_guided(context: PlanningContext) -> PlanDraft:
    return plan(write("home"), final=True) if context.guidance else insists(context)


def collects_what_is_missing(context: PlanningContext) -> PlanDraft:
    first = (COLLECT,) if context.recovery else ()
    return plan(*first, write_what_was_collected(), final=True)


def unwritable_disk(person: Any = None, **settings: Any) -> Stage:
    """A disk where writing fails until guidance says where to write."""
    return replace(disk(fails("permission"), written_home_once_guided, **settings), approver=person)


def six_letters(person: Any, *second: str, **settings: Any) -> Stage:
    """Letters, and a second plan after the counter was closed."""
    return Stage(world=Post(closed=1), planner=letters_after_a_failure(*second), approver=person, settings=settings)


class Refusing(Post):
    """A post office that says that it sends nothing to Ada. If it lies, it sends the letter before it says so."""

    def __init__(self, *, lies: bool = False) -> None:
        super().__init__()
        self._lies = lies

    @skill(effect="irreversible", probe="arrived")
    def send(self, to: str) -> None:
        if to != "Ada" or self._lies:
            super().send(to)
        if to == "Ada":
            raise NotSent("permission", "permission denied: Ada takes no letters")

    @probe
    def arrived(self, to: str) -> bool:
        return to in self.letters


def grace_once_refused(context: PlanningContext) -> PlanDraft:
    return plan(letter("Grace" if context.recovery else "Ada"), final=True)


def without_done_when(stage: Stage) -> Stage:
    return replace(stage, task=replace(stage.task, done_when=None))


YES, NO = Decision(verdict="approved"), Decision(verdict="rejected")
PAUSE, RESUME, CANCEL = PauseAsked(), ResumeAsked(), CancelAsked()

STORIES: dict[str, Story] = {
    # detours
    "a detour with a wrong menu": Story(make=adding_files),
    "a detour with a dead end": Story(make=lambda: opening_settings(*SIX)),
    "a detour that steps back": Story(
        make=lambda: opening_settings(*[TryDraft(step=step) for step in (TOOLS, EXPORT, TOOLS, SETTINGS)])
    ),
    "a detour that is given up": Story(make=lambda: opening_settings(*SIX, detour_iterations=3)),
    "a detour that is paused": Story(
        make=lambda: opening_settings(*SIX), cues=(cue("act 3", PAUSE), cue("paused", RESUME))
    ),
    # tasks that ship
    "order": Story(make=order),
    "notepad": Story(make=lambda: example("notepad")),
    "notepad of the seed": Story(make=notepad_of_the_seed),
    "report": Story(make=lambda: example("report")),
    "invoice": Story(make=lambda: example("invoice")),
    "quest": Story(make=lambda: example("quest")),
    "unreachable cube": Story(make=lambda: example("unreachable_cube")),
    "one pick": Story(make=one_pick),
    "seven pages": Story(make=lambda: seven_pages()[0]),
    # trouble
    **{
        f"order, {called(fault)}": Story(make=lambda fault=fault: order(fault))
        for fault in HARMLESS_FAULTS
        if fault.kind != "stored_late"
    },
    "order, stored late": Story(
        make=lambda: example("order", faults=[Fault(kind="stored_late", skill="place_order", seconds=0.9)])
    ),
    "order, success shown and nothing stored": Story(make=lambda: order(Fault(kind="success_not_stored"))),
    "order, nothing to be seen at first": Story(make=lambda: order(Fault(kind="look_fails", times=3))),
    "report, session expires": Story(make=lambda: example("report", faults=[Fault(kind="expired", nth=2)])),
    "notepad, stale zones": Story(make=lambda: seen_through("error", until=10_000)[0]),
    "notepad, a look that never ends": Story(make=lambda: seen_through("timeout")[0]),
    "no __replan__ in the plans": Story(make=lambda: example("notepad", rules=forgetful)),
    "a duplicate is refused": Story(make=lambda: order(Fault(kind="stored_but_error"), rules=insisting)),
    "a duplicate shows late": Story(make=lambda: order(Fault(kind="stored_but_error"), rules=forgetting)),
    "seven invoices": Story(
        make=lambda: Stage(
            world=Invoices(),
            planner=Scripted(
                plan(*(step for number in range(1, 8) for step in invoice(number)), AGAIN),
                plan(*invoice(7), final=True),
            ),
            settings={"approvals": "never"},
        )
    ),
    # with an outline
    "bookmarks": Story(make=bookmarks),
    "bookmarks, guided": Story(make=bookmarks, cues=(cue("act 2", Guided(text="Look in the manager")),)),
    "bookmarks, progress that bounces": Story(make=lambda: wandering(ScriptedProgress(*SEED))),
    "bookmarks, going round with a monitor": Story(make=circling),
    "bookmarks, going round with a monitor that sees plans": Story(
        make=lambda: circling(settings={"monitor": "proposals", "max_calls": 60})
    ),
    "bookmarks, guided by a monitor": Story(
        make=lambda: bookmarks(
            outliner=ScriptedOutlines(GOALS, NEW_GOALS),
            monitor=ScriptedMonitor("", "The manager is the place to look"),
            settings={"outline": "on", "monitor": "path"},
        )
    ),
    # planners that fail
    "empty replan": Story(make=lambda: example("notepad", planner=Scripted(plan(press("Win"), AGAIN), plan()))),
    "the same failure again": Story(make=lambda: Stage(world=Arm(), planner=SamePlan([pick("blue_cup"), AGAIN]))),
    "a click that nothing comes of": Story(make=lambda: example("notepad", planner=SamePlan([DEAD_ICON]))),
    "nothing but __replan__": Story(make=lambda: example("notepad", planner=SamePlan([AGAIN]))),
    "garbled": Story(make=lambda: Stage(world=Desktop(), planner=FunctionPlanner(garbled_at_first))),
    "never makes sense": Story(make=lambda: Stage(world=Desktop(), planner=SamePlan([click("no_such_zone")]))),
    # ceilings
    "endless": Story(make=lambda: endless_stage(max_segments=6)),
    "too many tokens": Story(make=lambda: endless_stage(Cost(calls=1, tokens=900), max_tokens=5000, plan_tokens=1000)),
    "few calls": Story(make=lambda: order(max_calls=2)),
    # approvals
    "approved": Story(make=lambda: ask(Approves())),
    "rejected": Story(make=lambda: ask(Rejects())),
    "rejected with guidance": Story(
        make=lambda: (lambda stage: replace(stage, planner=Obliging(stage.planner)))(
            ask(Answers(replace(NO, guidance="Make it two, please"), YES))
        )
    ),
    "approved later": Story(make=lambda: ask(Posts()), cues=(cue_decision("approved"),)),
    "rejected later": Story(make=lambda: ask(Posts()), cues=(cue_decision("rejected", by="Ada"),)),
    "nobody answers": Story(make=lambda: ask(Posts(), approval_seconds=4.0)),
    "the basket changes": Story(make=lambda: ordering(Meanwhile(three_lamps, YES, YES))),
    "several letters": Story(
        make=lambda: Stage(
            world=Post(),
            planner=Scripted(plan(letter("Ada"), letter("Grace"), final=True)),
            approver=Approves(doubt="happened"),
        )
    ),
    "one approval for all days": Story(
        make=lambda: Stage(
            world=Post(closed=3), planner=FunctionPlanner(every_day), approver=Approves(doubt="happened")
        )
    ),
    "a form that is turned down": Story(
        make=lambda: order(rules=lambda rules: map(forgets_the_address, rules), approver=Rejects())
    ),
    "approved with changes": Story(
        make=lambda: Stage(
            world=Post(),
            planner=Scripted(plan(letter("Ada"), letter("Edsger"), final=True)),
            approver=Answers(
                Decision(verdict="changed", by="ada", changes=(Change(arguments=(("to", "Grace"),)),)),
                YES,
                Decision(verdict="happened"),
                Decision(verdict="happened"),
            ),
        )
    ),
    "a change that does not fit": Story(
        make=lambda: Stage(
            world=Post(),
            planner=Scripted(plan(letter("Ada"), final=True)),
            approver=Answers(Decision(verdict="changed", changes=(Change(arguments=(("to", 7),)),)), NO),
        )
    ),
    "taken over": Story(
        make=lambda: Stage(world=Post(), planner=FunctionPlanner(done_once_taken_over), approver=Posts()),
        cues=(cue_decision("take_over", by="ada"), cue("paused", RESUME)),
    ),
    "a letter that is refused": Story(
        make=lambda: Stage(
            world=Refusing(),
            planner=FunctionPlanner(grace_once_refused),
            approver=Approves(doubt="happened"),
            settings={"approvals": "always"},
        ),
        ends=("plan_complete",),
    ),
    "a letter that is said to be refused": Story(
        make=lambda: Stage(
            world=Refusing(lies=True),
            planner=Scripted(plan(letter("Ada"), AGAIN), plan(letter("Ada"), final=True)),
            approver=Approves(),
            settings={"approvals": "always"},
        )
    ),
    "six letters, one of them changed": Story(
        make=lambda: six_letters(Approves(doubt="happened"), *SIX_PEOPLE[:3], "Margaret", *SIX_PEOPLE[4:])
    ),
    "six letters, the same again": Story(make=lambda: six_letters(Approves(doubt="happened"), *SIX_PEOPLE)),
    "six letters, fewer of them": Story(make=lambda: six_letters(Approves(doubt="happened"), *SIX_PEOPLE[:2])),
    "a changed value among granted ones": Story(
        make=lambda: six_letters(Answers(replace(YES, once=False, by="ada"), NO), *SIX_PEOPLE[:5], "Eve"),
        ends=("rejected",),
    ),
    "four eyes": Story(
        make=lambda: (
            lambda stage: replace(stage, task=replace(stage.task, by="ada", agreement=Agreement(four_eyes=True)))
        )(ask(Posts())),
        cues=(cue_decision("approved", by="ada"), cue_decision("approved", by="grace")),
    ),
    "rules before modes": Story(
        make=lambda: Stage(
            world=Post(),
            planner=Scripted(plan(letter("Ada"), final=True)),
            approver=Rejects(),
            task=Task(goal="Write", agreement=Agreement(rules=(ApprovalRule(ask=True, skill="send"),))),
            settings={"approvals": "never"},
        )
    ),
    "adaptive": Story(
        make=lambda: Stage(
            world=Desk(),
            planner=Scripted(plan(moved(1), AGAIN), plan(moved(2), final=True)),
            approver=Approves(),
            settings={"approvals": "adaptive"},
        )
    ),
    # recovery
    "the permission failure": Story(
        make=lambda: disk(think=avoids_what_was_forbidden), ends=("plan_complete", "plan_complete")
    ),
    "the permission failure, explained by a model": Story(
        make=explained_failure, ends=("plan_complete", "plan_complete")
    ),
    "the permission failure, explained by nobody": Story(
        make=lambda: explained_failure(""), ends=("plan_complete", "plan_complete")
    ),
    "no steps in the plan": Story(
        make=lambda: replace(disk(), planner=Scripted(plan(), plan(write("home"), final=True))), ends=("plan_complete",)
    ),
    "a missing dependency": Story(make=lambda: disk(think=collects_what_is_missing), ends=("plan_complete",)),
    "a missing result": Story(
        make=lambda: disk(think=lambda _: plan(replace(COLLECT, gives=("total",)), final=True)),
        ends=("replan_no_change",),
    ),
    **{
        f"{severity} failure, replans {'on' if on else 'off'}": Story(
            make=lambda severity=severity, on=on: disk(
                OF_SEVERITY[severity], replan_on_critical=on, replan_on_high=on, replan_on_medium=on
            )
        )
        for severity in OF_SEVERITY
        for on in (True, False)
    },
    "MEDIUM failure that counts as HIGH": Story(make=lambda: disk(OF_SEVERITY["MEDIUM"])),
    "replanning is off": Story(make=lambda: disk(auto_replan=False), ends=("replan_exhausted",)),
    "a person after two replans": Story(
        make=lambda: unwritable_disk(Answers(Decision(verdict="go_on", guidance="use /home")), human_after=2),
        ends=("plan_complete",),
    ),
    "a person after two replans, later": Story(
        make=lambda: unwritable_disk(Posts(), human_after=2),
        cues=(cue_decision("go_on", guidance="use /home"),),
        ends=("plan_complete",),
    ),
    "a person stops it": Story(make=lambda: unwritable_disk(Rejects(), human_after=1), ends=("needs_human",)),
    "no person is there": Story(make=lambda: unwritable_disk(human_after=1), ends=("needs_human",)),
    "no plan ever helped": Story(
        make=lambda: disk(fails("jammed", "no room on '/srv'"), lesson_stop_after=2, lesson_tries=0),
        ends=("replan_exhausted", "replan_exhausted", "structural_failure"),
    ),
    # people interfere
    "paused while acting": Story(make=order, cues=(cue("act 3", PAUSE), cue("paused", RESUME))),
    "paused while ordering": Story(make=order, cues=(cue("act 5", PAUSE), cue("paused", RESUME))),
    "paused while planning": Story(make=order, cues=(cue("plan 2", PAUSE), cue("paused", RESUME))),
    "paused and resumed at once": Story(make=order, cues=(cue("act 2", PAUSE), cue("act 2", RESUME))),
    "cancelled while acting": Story(make=order, cues=(cue("act 3", CANCEL),)),
    "cancelled while ordering": Story(make=order, cues=(cue("act 5", CANCEL),)),
    "cancelled while in doubt": Story(make=lambda: order(Fault(kind="stored_but_error")), cues=(cue("act 5", CANCEL),)),
    "cancelled while planning": Story(
        make=lambda: (lambda stage: replace(stage, planner=Pondering(stage.planner, 1)))(order()),
        cues=(cue("plan 1", CANCEL),),
    ),
    "cancelled while asked": Story(make=lambda: ask(Posts()), cues=(cue("asking", CANCEL),)),
    "cancelled while paused": Story(make=order, cues=(cue("act 1", PAUSE), cue("paused", CANCEL))),
    "paused while asked": Story(
        make=lambda: ask(Posts()), cues=(cue("asking", PAUSE), cue_decision("approved"), cue("paused", RESUME))
    ),
    "guided": Story(make=order, cues=(cue("act 1", Guided(text="Be quick")),)),
    "guided out of a loop": Story(
        make=lambda: without_done_when(example("notepad", planner=FunctionPlanner(stuck_until_guided))),
        cues=(cue("act 1", Guided(text="Use the keyboard")),),
    ),
    "answers to no question": Story(make=order, cues=(cue("act 1", ApprovalDecided(question=7, verdict="approved")),)),
}
