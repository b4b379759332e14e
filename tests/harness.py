"""Helpers that build runs: `Drill` drives one by hand, `Shop` is a small world, and `Bench` holds the ports of a run."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from midcourse.director.decide import decide
from midcourse.domain.budget import Cost, Limits
from midcourse.domain.commands import (
    Act,
    Advise,
    AskPerson,
    CheckDone,
    Command,
    Finish,
    JudgeCloseness,
    MakePlan,
    Observe,
    OpenWorld,
    PlanRevert,
    PlanTry,
    Record,
    Verify,
    Wait,
)
from midcourse.domain.detour import Option, Strategy
from midcourse.domain.events import (
    Acted,
    Advised,
    ApprovalDecided,
    ClosenessJudged,
    DoneChecked,
    Event,
    Finished,
    Observed,
    PersonAsked,
    Planned,
    Recorded,
    RevertPlanned,
    Started,
    TimerFired,
    TryPlanned,
    Verified,
    WorldOpened,
)
from midcourse.domain.expectation import Expectation, Probe, TextContains, ZoneAppears
from midcourse.domain.monitor import Advice, Problem
from midcourse.domain.moves import Adviser
from midcourse.domain.observation import ObservationRef, Zone
from midcourse.domain.phases import Asking, Ended, Phase
from midcourse.domain.plan import Draft, PlannedStep
from midcourse.domain.reflection import Analysis, Fix, Reflection
from midcourse.domain.result import Result
from midcourse.domain.run import Issued, Run
from midcourse.domain.skill import Effect
from midcourse.domain.task import Task
from midcourse.drive import Progress
from midcourse.perform import Lessons, Performer, Ports
from midcourse.ports.approver import Approver
from midcourse.ports.closeness import ClosenessJudge, WordOverlap
from midcourse.ports.detour import DetourPlanner
from midcourse.ports.planner import PlanDraft, Planner
from midcourse.ports.reflector import Reflector, RuleReflector
from midcourse.ports.verifier import Verifier
from midcourse.ports.world import World
from midcourse.runtimes.driver import Driver
from midcourse.store.memory import MemoryStore
from midcourse.testing import Approves, FakeClock, Scripted
from midcourse.worlds.base import BaseWorld, Outcome, Scene, Unseen, probe, skill

START = 1_800_000_000.0
C = TypeVar("C", bound=Command)


def _fill(values: dict[str, Any], **defaults: Any) -> dict[str, Any]:
    """The values, with defaults for those that are missing."""
    return defaults | values


# --- a run driven by hand: events straight into `decide`


def a_step(call: str = "click", effect: Effect = "set_state", **more: Any) -> PlannedStep:
    """A step in short form. An irreversible one has an identity and a consequence unless `more` overrides them."""
    if effect == "irreversible":
        more = _fill(more, identity=f"i-{call}", consequence=f"c-{call}")
    return PlannedStep(**_fill(more, version=1, index=0, place="zone", skill=call, call=f"call-{call}", effect=effect))


REPLAN_STEP = PlannedStep(version=1, index=0, place="replan")


def ref(fingerprint: str = "f1", **more: Any) -> ObservationRef:
    return ObservationRef(id=f"o-{fingerprint}", fingerprint=fingerprint, **_fill(more, zones=3, surface="Shop"))


NO_WAITS: dict[str, Any] = {"replan_interval_seconds": 0.0, "backoff_jitter": 0.0}
"""Limits without waits, which most tests are not about."""


class Drill:
    """A run driven by events, one a second. Each method in the third person delivers one event; `commands` has all commands issued."""

    def __init__(
        self,
        *,
        has_done_when: bool = False,
        has_detours: bool = False,
        has_outliner: bool = False,
        has_reflector: bool = False,
        **limits: Any,
    ) -> None:
        self.run = Run(
            id="run",
            limits=Limits(**(NO_WAITS | limits)),
            has_done_when=has_done_when,
            has_detours=has_detours,
            has_outliner=has_outliner,
            has_reflector=has_reflector,
        )
        self.now = START
        self.commands: list[Command] = []

    @property
    def phase(self) -> Phase:
        return self.run.phase

    @property
    def ended(self) -> tuple[str, str]:
        """Reason and detail of the end."""
        assert isinstance(self.run.phase, Ended), f"still {self.run.phase}"
        return self.run.phase.reason, self.run.phase.detail

    def tell(self, event: Event, after: float = 1.0) -> "Drill":
        self.now += after
        self.run, commands = decide(self.run, replace(event, at=self.now))
        self.commands += commands
        return self

    def pending(self, kind: type[C]) -> C:
        """The only pending command of this kind."""
        found = [issued.command for issued in self.run.pending if isinstance(issued.command, kind)]
        assert len(found) == 1, f"{len(found)} of {kind.__name__} under way in {self.run.phase}"
        return found[0]

    def sent(self, kind: type[C]) -> list[C]:
        """All commands of this kind so far."""
        return [command for command in self.commands if isinstance(command, kind)]

    def pending_advice(self, role: Adviser) -> Advise:
        """The pending request to this adviser."""
        found = self.pending(Advise)
        assert found.role == role, f"the pending request is to {found.role}"
        return found

    def advice_requests(self, role: Adviser) -> list[Advise]:
        """All requests to this adviser so far."""
        return [command for command in self.sent(Advise) if command.role == role]

    def advises(self, role: Adviser, *, after: float = 1.0, **more: Any) -> "Drill":
        return self.tell(Advised(answers=self.pending_advice(role).id, role=role, **more), after)

    # --- answers to what is pending

    def starts(self) -> "Drill":
        return self.tell(Started())

    def opens(self, opened: bool = True, **more: Any) -> "Drill":
        return self.tell(WorldOpened(answers=self.pending(OpenWorld).id, opened=opened, **more))

    def sees(self, fingerprint: str = "f1", *, after: float = 1.0, meets_goal: bool = False, **more: Any) -> "Drill":
        seen = ref(fingerprint, meets_goal=meets_goal)
        return self.tell(Observed(answers=self.pending(Observe).id, seen=seen, **more), after)

    def sees_nothing(self, reason: str = "failed", **more: Any) -> "Drill":
        return self.tell(Observed(answers=self.pending(Observe).id, reason=reason, **more))

    def plans(self, *steps: PlannedStep, after: float = 1.0, **more: Any) -> "Drill":
        """Numbers the steps. By default a plan is final if it does not end in `__replan__`."""
        command = self.pending(MakePlan)
        numbered = tuple(replace(step, version=command.version, index=n) for n, step in enumerate(steps))
        final = not steps or steps[-1].place != "replan"
        filled = _fill(more, steps=numbered, final=final, cost=Cost(calls=1))
        return self.tell(Planned(answers=command.id, **filled), after)

    def acts(self, status: str = "ok", *, fingerprint: str | None = "f1", after: float = 1.0, **more: Any) -> "Drill":
        filled = _fill(more, status=status, seen=ref(fingerprint) if fingerprint else None)
        return self.tell(Acted(answers=self.pending(Act).id, **filled), after)

    def acts_held(self, call: str, **more: Any) -> "Drill":
        """The act is held: its consequence would be `c-call`, which was not allowed."""
        held = _fill(more, identity=f"i-{call}", consequence=f"c-{call}", effect="irreversible")
        filled = _fill(held, status="no_effect", reason="held", dispatched=False, looked=False)
        return self.tell(Acted(answers=self.pending(Act).id, **filled))

    def verifies(self, verdict: str, *, fingerprint: str | None = "f1", **more: Any) -> "Drill":
        filled = _fill(more, verdict=verdict, seen=ref(fingerprint) if fingerprint else None)
        return self.tell(Verified(answers=self.pending(Verify).id, **filled))

    def decides(self, verdict: str, *, after: float = 1.0, **more: Any) -> "Drill":
        """The approver decides on the open question, having been shown all its steps."""
        phase = self.phase
        assert isinstance(phase, Asking)
        shown = tuple(step.consequence for step in phase.steps)
        return self.tell(
            ApprovalDecided(question=phase.question, **_fill(more, verdict=verdict, shown=shown, more=phase.more)),
            after,
        )

    def posts_question(self) -> "Drill":
        return self.tell(PersonAsked(answers=self.pending(AskPerson).id))

    def waits(self) -> "Drill":
        """The timer fires when it is due; for a question, the one that limits the time to answer."""
        checks = self.phase.timer if isinstance(self.phase, Asking) else 0
        (issued,) = [i for i in self.run.pending if isinstance(i.command, Wait) and i.command.id != checks]
        return self._fires(issued)

    def begins_to_look_again(self) -> "Drill":
        """The timer for the next check of an open question fires."""
        phase = self.phase
        assert isinstance(phase, Asking)
        return self._fires(next(issued for issued in self.run.pending if issued.command.id == phase.timer))

    def looks_again(self, verdict: str = "undecided", **more: Any) -> "Drill":
        """The next check of an open question is made and has this verdict."""
        return self.begins_to_look_again().verifies(verdict, **more)

    def _fires(self, issued: Issued) -> "Drill":
        wait = issued.command
        assert isinstance(wait, Wait)
        return self.tell(TimerFired(answers=wait.id), issued.at + wait.seconds - self.now)

    def checks(self, verdict: str, **more: Any) -> "Drill":
        return self.tell(DoneChecked(answers=self.pending(CheckDone).id, **_fill(more, verdict=verdict)))

    def plans_try(self, call: str = "look", *options: str, **more: Any) -> "Drill":
        """The detour planner proposes this try and these options."""
        command = self.pending(PlanTry)
        step = a_step(call, version=command.version)
        offered = tuple(Option(name=name) for name in options)
        return self.tell(TryPlanned(answers=command.id, **_fill(more, step=step, options=offered, cost=Cost(calls=1))))

    def judges_closeness(self, closeness: float, found: str = "", **more: Any) -> "Drill":
        answers = self.pending(JudgeCloseness).id
        return self.tell(ClosenessJudged(answers=answers, closeness=closeness, found=found, **more))

    def plans_revert(self, strategy: Strategy | None = "close", **more: Any) -> "Drill":
        """A revert is planned, or with strategy None no revert was found."""
        command = self.pending(PlanRevert)
        step = a_step("back", version=command.version) if strategy else None
        return self.tell(RevertPlanned(answers=command.id, **_fill(more, strategy=strategy, step=step)))

    def outlines(self, *goals: str, **more: Any) -> "Drill":
        """The outliner answers with these goals, or as `more` says."""
        return self.advises("outliner", **_fill(more, goals=goals, cost=Cost(calls=1)))

    def judges(self, current: int, evidence: str = "seen", **more: Any) -> "Drill":
        return self.advises("judge", **_fill(more, current=current, evidence=evidence))

    def reflects(self, cause: str = "", **more: Any) -> "Drill":
        """The reflector explains the failure by this cause; without a cause it cannot be reached."""
        analysis = Analysis(error_type="other", severity="LOW", root_cause=cause)
        found = Reflection(analysis=analysis, fix=Fix(message="Do it otherwise"), by="model") if cause else None
        verdict = "answered" if found else "transport"
        return self.advises("reflector", **_fill(more, verdict=verdict, reflection=found, cost=Cost(calls=1)))

    def reviews(self, says: str = "", problem: Problem = "repetition", **more: Any) -> "Drill":
        """The monitor answers with this advice, or none."""
        advice = Advice(problem=problem, says=says) if says else None
        return self.advises("monitor", **_fill(more, advice=advice))

    def records(self) -> "Drill":
        return self.tell(Recorded(answers=self.pending(Record).id))

    def finishes(self) -> "Drill":
        return self.tell(Finished(answers=self.pending(Finish).id))

    # --- short cuts

    def to_planning(self, fingerprint: str = "f1") -> "Drill":
        """Start, open and observe: the first plan is pending."""
        return self.starts().opens().sees(fingerprint)

    def to_acting(self, *steps: PlannedStep, **more: Any) -> "Drill":
        """Plan these steps: the first one is pending, or the question about it."""
        return self.to_planning().plans(*steps, **more)

    def to_detour(self, closeness: float = 1.0, *more: PlannedStep) -> "Drill":
        """The target of the first step is missing, also after a second look, and a detour starts."""
        self.to_acting(a_step("far"), *more).acts(**MISSING).sees().acts(**MISSING)
        return self.judges_closeness(closeness)


MISSING: dict[str, Any] = {
    "status": "unreachable",
    "reason": "target_not_visible",
    "dispatched": False,
    "looked": False,
}

# --- a shop to act on

ORDERED = Expectation(checks=(TextContains(text="Thank you"),), says="the order is confirmed")
NOT_ORDERED = Expectation(checks=(ZoneAppears(label="Nothing was ordered"),), says="the shop says so")


class Shop(BaseWorld):
    """One page with a name field, an Order button and a link. `orders` lists the effects.

    `on_order` runs between the button and the effect: it may raise, hang, or return an outcome in place of the order.
    `unseen` is returned by the next looks, one each; `zones` are shown in addition to the usual ones.
    """

    name = "shop"

    def __init__(self, *, fences: bool = True) -> None:
        super().__init__()
        self.fences = fences
        self.title = "Shop"
        self.typed = ""
        self.orders: list[str] = []
        self.calls: list[str] = []
        self.barred: list[int] = []
        self.looks = 0
        self.unseen: list[Unseen | None] = []
        self.zones: list[Zone] = []
        self.findings: list[bool | None] = []
        self.on_order: Callable[[str], Any] = lambda item: None
        self.on_call: Callable[[str], Any] = lambda name: None

    def look(self) -> Scene | Unseen:
        self.looks += 1
        nothing = self.unseen.pop(0) if self.unseen else None
        if nothing is not None:
            return nothing
        return Scene(
            self.title,
            Zone(id="name", role="field", label="Name", state=(("value", self.typed),)),
            Zone(id="order", role="button", label="Order"),
            Zone(id="help", role="link", label="Help"),
            *self.zones,
            origin="https://shop.test",
        )

    async def open(self) -> str:
        await super().open()
        return "session"

    async def attach(self, handle: str) -> bool:
        return handle == "session"

    async def bar(self, command: int) -> None:
        self.barred.append(command)
        await super().bar(command)

    async def _attempt(self, call: Any) -> Outcome:
        self.calls.append(call.skill)
        early = self.on_call(call.skill)
        early = await early if hasattr(early, "__await__") else early
        return early if isinstance(early, Outcome) else await super()._attempt(call)

    @skill(effect="read")
    def peek(self, zone: Zone) -> dict[str, str]:
        return {"seen": self.typed}

    @skill(effect="set_state")
    def fill(self, zone: Zone, text: str) -> None:
        self.typed = text

    @skill(effect="reversible")
    def nudge(self, zone: Zone) -> None:
        self.title = f"{self.title}!"

    @skill(effect="reversible", transition=True)
    def follow(self, zone: Zone) -> None:
        self.title = "Help"

    @skill(effect="reversible")
    def press(self, keys: str) -> None:
        """A keyboard shortcut without a zone."""

    @skill(effect="irreversible", probe=Probe(name="ordered", settles_after=5.0), absent_when=NOT_ORDERED)
    async def order(self, zone: Zone, item: str) -> Outcome | None:
        outcome = self.on_order(item)
        if hasattr(outcome, "__await__"):
            outcome = await outcome
        if isinstance(outcome, Outcome):
            return outcome
        self.orders.append(item)
        self.title = "Thank you"
        return None

    @skill(effect="irreversible", commit_set="form")
    def submit(self, zone: Zone) -> Outcome | None:
        """Sends the values of the form, which are not arguments of the call."""
        self.orders.append(self.typed)
        self.title = "Thank you"

    def form(self, zone: Zone) -> dict[str, str]:
        return {"name": self.typed}

    @probe
    def ordered(self) -> bool | None:
        return self.findings.pop(0) if self.findings else bool(self.orders)


class Safe:
    """A vault in memory."""

    def __init__(self, **secrets: str) -> None:
        self.secrets = secrets

    def reveal(self, name: str) -> str | None:
        return self.secrets.get(name)


def draft(zone: str, skill_name: str = "", says: str = "", **more: Any) -> Draft:
    """`draft("order", "order", item="pens")`: keywords that are not fields of a draft are arguments."""
    known = {name: more.pop(name) for name in ("expect", "absent_when", "probe", "transition") if name in more}
    return Draft(zone=zone, skill=skill_name, says=says, arguments=tuple(more.items()), **known)


def steps(*drafts: Draft, final: bool | None = None) -> PlanDraft:
    return PlanDraft(steps=drafts, final=final)


ORDER_PENS = draft("order", "order", item="pens", expect=ORDERED)


# --- the ports of a run


@dataclass(kw_only=True)
class Bench:
    """The ports of one run, each replaceable by a test; `run` drives the run to its end and returns the result."""

    world: World = field(default_factory=Shop)
    planner: Planner = field(default_factory=lambda: Scripted(steps(ORDER_PENS)))
    approver: Approver = field(default_factory=Approves)
    task: Task = field(default_factory=lambda: Task(goal="order pens"))
    vault: Safe = field(default_factory=Safe)
    store: MemoryStore = field(default_factory=MemoryStore)
    clock: FakeClock = field(default_factory=lambda: FakeClock(START))
    lessons: Lessons | None = None
    run_id: str = "run"
    step_delay_seconds: float = 0.0
    detour_planner: DetourPlanner | None = None
    closeness_judge: ClosenessJudge = field(default_factory=WordOverlap)
    reflector: Reflector | None = None
    verifier: Verifier | None = None
    history: list[Progress] = field(default_factory=list[Progress])

    @property
    def ports(self) -> Ports:
        return Ports(
            run_id=self.run_id,
            task=self.task,
            world=self.world,
            planner=self.planner,
            approver=self.approver,
            store=self.store,
            clock=self.clock,
            vault=self.vault,
            lessons=self.lessons,
            step_delay_seconds=self.step_delay_seconds,
            detour_planner=self.detour_planner,
            closeness_judge=self.closeness_judge,
            reflector=self.reflector or RuleReflector(),
            verifier=self.verifier,
        )

    def with_limits(self, **changes: Any) -> "Bench":
        self.task = replace(self.task, limits=replace(self.task.limits, **changes))
        return self

    def first(self) -> Run:
        return Run(
            id=self.run_id,
            limits=self.task.limits,
            has_done_when=self.task.done_when is not None,
            has_reflector=self.reflector is not None,
        )

    def driver(self) -> Driver:
        return Driver(self.ports, self.history.append)

    async def run(self) -> Result:
        await self.driver().begin(self.first())
        return await self.result()

    async def result(self) -> Result:
        result = await self.store.result(self.run_id)
        assert result is not None
        return result

    def commands(self, kind: type[C]) -> list[C]:
        """All commands of this kind that were issued."""
        return [c for progress in self.history for c in progress.commands if isinstance(c, kind)]

    # --- single commands, without a run around them

    async def prepare(self) -> Performer:
        """Store the run and open the world, so that commands can be performed one by one."""
        await self.store.begin(self.first(), self.task)
        await self.world.open()
        return Performer(self.ports)

    async def make_plan(
        self, *drafts: Draft, version: int = 1, final: bool | None = None, beyond: bool = False
    ) -> Planned:
        """Look, then have the performer resolve this draft and store it as a plan."""
        performer = Performer(self.ports)
        await performer.perform(Observe(id=100 + version, timeout=5.0))
        self.planner = Scripted(steps(*drafts, final=final))
        command = MakePlan(id=200 + version, timeout=5.0, version=version, cause="initial", why="", seen="")
        event = await Performer(self.ports).perform(replace(command, seen=f"o{100 + version}", beyond=beyond))
        assert isinstance(event, Planned)
        return event

    async def act(self, planned: Planned, index: int = 0, **more: Any) -> Acted:
        """Perform a step of this plan with the consequence it was planned with."""
        step = planned.steps[index]
        filled = _fill(more, id=300 + index, timeout=5.0, seen=f"o{100 + step.version}", consequence=step.consequence)
        event = await Performer(self.ports).perform(Act(version=step.version, index=step.index, **filled))
        assert isinstance(event, Acted)
        return event

    async def verify(self, planned: Planned, index: int = 0, **more: Any) -> Verified:
        step = planned.steps[index]
        filled = _fill(more, id=400, timeout=5.0, doubted=300 + index)
        event = await Performer(self.ports).perform(Verify(version=step.version, index=step.index, **filled))
        assert isinstance(event, Verified)
        return event
