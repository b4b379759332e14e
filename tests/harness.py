"""What the tests build runs with: a run driven by hand, a small shop to act on, and a bench that holds its ports."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from midcourse.director.decide import decide
from midcourse.domain.budget import Cost, Limits
from midcourse.domain.command import (
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
from midcourse.domain.event import (
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
from midcourse.domain.move import Adviser
from midcourse.domain.observation import ObservationRef, Zone
from midcourse.domain.phase import Asking, Ended, Phase
from midcourse.domain.plan import Draft, PlannedStep
from midcourse.domain.reflection import Analysis, Fix, Reflection
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.domain.skill import Effect
from midcourse.domain.task import Task
from midcourse.drive import Progress
from midcourse.perform import Lessons, Performer, Ports
from midcourse.ports.approver import Approver
from midcourse.ports.closeness import ClosenessJudge, WordOverlap
from midcourse.ports.detour import DetourPlanner
from midcourse.ports.planner import PlanDraft, Planner
from midcourse.ports.reflector import Reflector, RuleReflector
from midcourse.ports.world import World
from midcourse.runtimes.driver import Driver
from midcourse.store.memory import MemoryStore
from midcourse.testing import Approves, FakeClock, Scripted
from midcourse.worlds.base import BaseWorld, Outcome, Scene, Unseen, probe, skill

START = 1_800_000_000.0
C = TypeVar("C", bound=Command)


def _filled(given: dict[str, Any], **usual: Any) -> dict[str, Any]:
    """What a test said, and the usual for the rest."""
    return usual | given


# --- a run driven by hand: events straight into `decide`


def a_step(call: str = "click", effect: Effect = "set_state", **more: Any) -> PlannedStep:
    """A step in short form. An irreversible one knows its identity and consequence unless told otherwise."""
    if effect == "irreversible":
        more = _filled(more, identity=f"i-{call}", consequence=f"c-{call}")
    return PlannedStep(
        **_filled(more, version=1, index=0, place="zone", skill=call, call=f"call-{call}", effect=effect)
    )


REPLAN_STEP = PlannedStep(version=1, index=0, place="replan")


def ref(fingerprint: str = "f1", *, stale: bool = False) -> ObservationRef:
    return ObservationRef(id=f"o-{fingerprint}", fingerprint=fingerprint, zones=3, surface="Shop", stale=stale)


AT_ONCE: dict[str, Any] = {"replan_interval_seconds": 0.0, "backoff_jitter": 0.0}
"""Waits that are no part of what most tests are about."""


class Drill:
    """A run and the events it is told, one a second. Every method is one event; `commands` has all that went out."""

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
            limits=Limits(**(AT_ONCE | limits)),
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
        """The one command of this kind under way."""
        found = [issued.command for issued in self.run.pending if isinstance(issued.command, kind)]
        assert len(found) == 1, f"{len(found)} of {kind.__name__} under way in {self.run.phase}"
        return found[0]

    def sent(self, kind: type[C]) -> list[C]:
        """All commands of this kind so far."""
        return [command for command in self.commands if isinstance(command, kind)]

    def asked(self, role: Adviser) -> Advise:
        """The adviser that is asked now."""
        found = self.pending(Advise)
        assert found.role == role, f"a {found.role} is asked"
        return found

    def consulted(self, role: Adviser) -> list[Advise]:
        """All questions to this adviser so far."""
        return [command for command in self.sent(Advise) if command.role == role]

    def is_advised(self, role: Adviser, *, after: float = 1.0, **more: Any) -> "Drill":
        return self.tell(Advised(answers=self.asked(role).id, role=role, **more), after)

    # --- answers to what is pending

    def starts(self) -> "Drill":
        return self.tell(Started())

    def opens(self, opened: bool = True, **more: Any) -> "Drill":
        return self.tell(WorldOpened(answers=self.pending(OpenWorld).id, opened=opened, **more))

    def sees(self, fingerprint: str = "f1", *, after: float = 1.0, **more: Any) -> "Drill":
        return self.tell(Observed(answers=self.pending(Observe).id, seen=ref(fingerprint), **more), after)

    def sees_nothing(self, reason: str = "failed", **more: Any) -> "Drill":
        return self.tell(Observed(answers=self.pending(Observe).id, reason=reason, **more))

    def plans(self, *steps: PlannedStep, after: float = 1.0, **more: Any) -> "Drill":
        """Steps are numbered here. Unless told otherwise a plan is final if it does not end in `__replan__`."""
        command = self.pending(MakePlan)
        numbered = tuple(replace(step, version=command.version, index=n) for n, step in enumerate(steps))
        final = not steps or steps[-1].place != "replan"
        filled = _filled(more, steps=numbered, final=final, cost=Cost(calls=1))
        return self.tell(Planned(answers=command.id, **filled), after)

    def acts(self, status: str = "ok", *, fingerprint: str | None = "f1", after: float = 1.0, **more: Any) -> "Drill":
        filled = _filled(more, status=status, seen=ref(fingerprint) if fingerprint else None)
        return self.tell(Acted(answers=self.pending(Act).id, **filled), after)

    def is_held(self, call: str, **more: Any) -> "Drill":
        """The act would have had the consequence `c-call`, which is not the one allowed."""
        would = _filled(more, identity=f"i-{call}", consequence=f"c-{call}", effect="irreversible")
        filled = _filled(would, status="no_effect", reason="held", dispatched=False, looked=False)
        return self.tell(Acted(answers=self.pending(Act).id, **filled))

    def verifies(self, verdict: str, *, fingerprint: str | None = "f1", **more: Any) -> "Drill":
        filled = _filled(more, verdict=verdict, seen=ref(fingerprint) if fingerprint else None)
        return self.tell(Verified(answers=self.pending(Verify).id, **filled))

    def decides(self, verdict: str, *, after: float = 1.0, **more: Any) -> "Drill":
        """Having seen what the question is about."""
        phase = self.phase
        assert isinstance(phase, Asking)
        shown = tuple(step.consequence for step in phase.steps)
        return self.tell(ApprovalDecided(question=phase.question, **_filled(more, verdict=verdict, shown=shown)), after)

    def posts(self) -> "Drill":
        return self.tell(PersonAsked(answers=self.pending(AskPerson).id))

    def waits(self) -> "Drill":
        """The timer fires when it is due."""
        wait = self.pending(Wait)
        issued = next(issued for issued in self.run.pending if issued.command is wait)
        return self.tell(TimerFired(answers=wait.id), issued.at + wait.seconds - self.now)

    def checks(self, verdict: str, **more: Any) -> "Drill":
        return self.tell(DoneChecked(answers=self.pending(CheckDone).id, **_filled(more, verdict=verdict)))

    def tries(self, call: str = "look", *options: str, **more: Any) -> "Drill":
        """The detour's planner has an idea, and these options besides."""
        command = self.pending(PlanTry)
        step = a_step(call, version=command.version)
        offered = tuple(Option(name=name) for name in options)
        return self.tell(
            TryPlanned(answers=command.id, **_filled(more, step=step, options=offered, cost=Cost(calls=1)))
        )

    def weighs(self, closeness: float, found: str = "", **more: Any) -> "Drill":
        answers = self.pending(JudgeCloseness).id
        return self.tell(ClosenessJudged(answers=answers, closeness=closeness, found=found, **more))

    def steps_back(self, strategy: Strategy | None = "close", **more: Any) -> "Drill":
        """A way back was worked out, or none."""
        command = self.pending(PlanRevert)
        step = a_step("back", version=command.version) if strategy else None
        return self.tell(RevertPlanned(answers=command.id, **_filled(more, strategy=strategy, step=step)))

    def outlines(self, *goals: str, **more: Any) -> "Drill":
        """The outliner names these goals, or says otherwise."""
        return self.is_advised("outliner", **_filled(more, goals=goals, cost=Cost(calls=1)))

    def judges(self, current: int, evidence: str = "seen", **more: Any) -> "Drill":
        return self.is_advised("judge", **_filled(more, current=current, evidence=evidence))

    def reflects(self, cause: str = "", **more: Any) -> "Drill":
        """Somebody explains the failure like this, or cannot be reached."""
        analysis = Analysis(error_type="other", severity="LOW", root_cause=cause)
        found = Reflection(analysis=analysis, fix=Fix(message="Do it otherwise"), by="model") if cause else None
        verdict = "answered" if found else "transport"
        return self.is_advised("reflector", **_filled(more, verdict=verdict, reflection=found, cost=Cost(calls=1)))

    def reviews(self, says: str = "", problem: Problem = "repetition", **more: Any) -> "Drill":
        """The monitor has this to say, or nothing."""
        advice = Advice(problem=problem, says=says) if says else None
        return self.is_advised("monitor", **_filled(more, advice=advice))

    def records(self) -> "Drill":
        return self.tell(Recorded(answers=self.pending(Record).id))

    def finishes(self) -> "Drill":
        return self.tell(Finished(answers=self.pending(Finish).id))

    # --- short cuts

    def to_planning(self, fingerprint: str = "f1") -> "Drill":
        """Started, opened, looked: the planner is at work on the first plan."""
        return self.starts().opens().sees(fingerprint)

    def to_acting(self, *steps: PlannedStep, **more: Any) -> "Drill":
        """A first plan of these steps, the first of them under way (or asked about)."""
        return self.to_planning().plans(*steps, **more)

    def to_detour(self, closeness: float = 1.0, *more: PlannedStep) -> "Drill":
        """The first step of the plan is not there, not after a second look either, and the way to it is thought about."""
        self.to_acting(a_step("far"), *more).acts(**MISSING).sees().acts(**MISSING)
        return self.weighs(closeness)


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
    """One page with a name field, an Order button and a link. `orders` is what really happened.

    `on_order` stands between the button and the effect: it may raise, hang, report something else, or not order at all.
    `unseen` is returned by the looks to come, one each; `zones` are shown besides the usual ones.
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
        """A keyboard shortcut: no zone."""

    @skill(effect="irreversible", probe=Probe(name="ordered", settles_after=5.0), absent_when=NOT_ORDERED)
    async def order(self, zone: Zone, item: str) -> Outcome | None:
        said = self.on_order(item)
        if hasattr(said, "__await__"):
            said = await said
        if isinstance(said, Outcome):
            return said
        self.orders.append(item)
        self.title = "Thank you"
        return None

    @skill(effect="irreversible", commit_set="form")
    def submit(self, zone: Zone) -> None:
        """What it sends is in the form, not in the call."""
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
    """`draft("order", "order", item="pens")`: what is no field of a draft is an argument."""
    known = {name: more.pop(name) for name in ("expect", "absent_when", "probe", "transition") if name in more}
    return Draft(zone=zone, skill=skill_name, says=says, arguments=tuple(more.items()), **known)


def steps(*drafts: Draft, final: bool | None = None) -> PlanDraft:
    return PlanDraft(steps=drafts, final=final)


ORDER_PENS = draft("order", "order", item="pens", expect=ORDERED)


# --- everything a run needs, within reach


@dataclass(kw_only=True)
class Bench:
    """The ports of one run. Change what a test is about; `run` drives it to its end and returns the result."""

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

    def runtime(self) -> Driver:
        return Driver(self.ports, self.history.append)

    async def run(self) -> Result:
        await self.runtime().begin(self.first())
        return await self.result()

    async def result(self) -> Result:
        result = await self.store.result(self.run_id)
        assert result is not None
        return result

    def commands(self, kind: type[C]) -> list[C]:
        """All commands of this kind that went out."""
        return [c for progress in self.history for c in progress.commands if isinstance(c, kind)]

    # --- single commands, without a run around them

    async def ready(self) -> Performer:
        """A run that is stored and a world that is open, for commands that are performed one by one."""
        await self.store.begin(self.first(), self.task)
        await self.world.open()
        return Performer(self.ports)

    async def planned(
        self, *drafts: Draft, version: int = 1, final: bool | None = None, beyond: bool = False
    ) -> Planned:
        """Look, then have this draft resolved and stored as a plan."""
        performer = Performer(self.ports)
        await performer.perform(Observe(id=100 + version, timeout=5.0))
        self.planner = Scripted(steps(*drafts, final=final))
        command = MakePlan(id=200 + version, timeout=5.0, version=version, cause="initial", why="", seen="")
        event = await Performer(self.ports).perform(replace(command, seen=f"o{100 + version}", beyond=beyond))
        assert isinstance(event, Planned)
        return event

    async def act(self, planned: Planned, index: int = 0, **more: Any) -> Acted:
        """Act on a step of that plan as it was foreseen."""
        step = planned.steps[index]
        filled = _filled(more, id=300 + index, timeout=5.0, seen=f"o{100 + step.version}", consequence=step.consequence)
        event = await Performer(self.ports).perform(Act(version=step.version, index=step.index, **filled))
        assert isinstance(event, Acted)
        return event

    async def verify(self, planned: Planned, index: int = 0, **more: Any) -> Verified:
        step = planned.steps[index]
        filled = _filled(more, id=400, timeout=5.0, doubted=300 + index)
        event = await Performer(self.ports).perform(Verify(version=step.version, index=step.index, **filled))
        assert isinstance(event, Verified)
        return event
