"""A run, the person who decides its questions, and senders that interfere, for trials 8 and 21.

A form pays an amount, and letters are sent; both cannot be taken back, and both are in the world's own log with the time at which
they left. What the person agreed to is written down here, by code that shares nothing with the director: for each effect there must be
an approval of exactly its values, given before it, not expired, and not used up by another.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from midcourse.agent.agent import Agent
from midcourse.agent.live_run import LiveRun
from midcourse.config.settings import Settings
from midcourse.domain.agreement import Agreement
from midcourse.domain.approval import Change, Decision, Question
from midcourse.domain.argument import Pairs
from midcourse.domain.budget import Limits
from midcourse.domain.events import ApprovalDecided
from midcourse.domain.expectation import Expectation, FingerprintChanged
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.domain.task import Task
from midcourse.policy.approval.question import bind_decision
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import FakeClock, MemoryStore, Posts
from midcourse.worlds.base import BaseWorld, Outcome, Scene, Zone, failed, skill

SETTINGS = Settings.load()
SECONDS = 600.0
"""How long a question stays open, and an approval good."""
AMOUNTS = ("10", "20", "30")
PEOPLE = ("Ada", "Grace", "Alan")
SEEN = Expectation(checks=(FingerprintChanged(),))
TURNS = 60
"""Of the event loop, enough for all pending work."""


@dataclass(frozen=True)
class Effect:
    values: Pairs
    at: float


class Counter(BaseWorld):
    """Its form may be changed by anybody at any time."""

    name = "counter"

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self.amount = ""
        self.effects: list[Effect] = []
        self.closed = 0
        self._clock = clock

    async def open(self) -> str:
        await super().open()
        return "here"

    async def attach(self, handle: str) -> bool:
        return handle == "here"

    def look(self) -> Scene:
        field_ = Zone(id="amount", role="textbox", label="Amount", state=(("value", self.amount),))
        log = Zone(id="log", role="text", label=f"{len(self.effects)} done, {self.closed} times closed")
        return Scene("Counter", field_, Zone(id="pay", role="button", label="Pay"), log)

    @skill(effect="set_state")
    def fill(self, zone: Zone, text: str) -> None:
        self.amount = text

    @skill(effect="irreversible", commit_set="form")
    def pay(self, zone: Zone) -> None:
        self._log((("amount", self.amount),))

    def form(self, zone: Zone) -> dict[str, str]:
        return {"amount": self.amount}

    @skill(effect="irreversible")
    def send(self, to: str) -> None:
        self._log((("to", to),))

    @skill(effect="read")
    def knock(self, times: int) -> Outcome | None:
        """Whether it is closed depends on how often one knocks: that is how a plan fails."""
        self.closed += times > 1
        return failed("closed", "nobody opens") if times > 1 else None

    def _log(self, values: Pairs) -> None:
        self.effects.append(Effect(values, self._clock.now()))


@dataclass
class Planner:
    """Pays and writes, now and then after knocking once too often. Another plan may want other values, or the same."""

    chance: random.Random

    async def plan(self, context: PlanningContext) -> PlanDraft:
        pick = self.chance.choice
        pay = Draft(zone="pay", skill="pay", expect=pick((SEEN, None)))
        send = Draft(zone=GLOBAL, skill="send", arguments=(("to", pick(PEOPLE)),), expect=pick((SEEN, None)))
        fill = Draft(zone="amount", skill="fill", arguments=(("text", pick(AMOUNTS)),))
        knock = Draft(zone=GLOBAL, skill="knock", arguments=(("times", pick((1, 1, 2))),))
        return PlanDraft(steps=tuple(pick(((fill, pay, send), (send, knock, fill, pay), (knock, send, fill, pay)))))


@dataclass
class Agreed:
    values: Pairs
    since: float
    until: float
    once: bool
    used: bool = False


@dataclass
class Office:
    """One run and its person. `forged` counts forged decisions, and `heard` those that were accepted."""

    seed: int
    four_eyes: bool = False
    clock: FakeClock = field(default_factory=lambda: FakeClock(patience=None))
    agreed: list[Agreed] = field(default_factory=list[Agreed])
    forged: int = 0
    heard: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.world = Counter(self.clock)
        self.person = Posts()
        limits = Limits(approval_seconds=SECONDS, retry_delay_seconds=1.0, replan_interval_seconds=0.0, max_segments=99)
        limits = replace(limits, max_replans=99, max_error_replans=99, max_calls=99)
        self.task = Task(goal="Pay", limits=limits, by="eve", agreement=Agreement(four_eyes=self.four_eyes))
        self.agent = Agent(
            world=self.world,
            planner=Planner(self.chance),
            approver=self.person,
            settings=SETTINGS,
            store=MemoryStore(),
            clock=self.clock,
        )
        self.live: LiveRun | None = None

    async def begin(self) -> None:
        self.live = self.agent.start(self.task, run_id=f"run-{self.seed}")
        await self.settle()

    async def settle(self) -> None:
        for _ in range(TURNS):
            await asyncio.sleep(0)

    async def end(self) -> None:
        run = self.run
        run.cancel()
        for _ in range(50):
            await self.settle()
            if run._task.done():
                break
            self.clock.advance(60.0)
        run._task.cancel()
        await asyncio.gather(run._task, return_exceptions=True)

    async def crash(self) -> None:
        """The process dies at this moment, and another continues."""
        self.run._task.cancel()
        await asyncio.gather(self.run._task, return_exceptions=True)
        self.live = self.agent.pick_up(f"run-{self.seed}")
        await self.settle()

    @property
    def run(self) -> LiveRun:
        assert self.live is not None
        return self.live

    @property
    def open_question(self) -> Question | None:
        """The last one that was put, whether it is still open or not."""
        return self.person.questions[-1] if self.person.questions else None

    # --- the person's decisions

    def say(self, decision: Decision) -> None:
        question = self.open_question
        if question is None or self.run.answer(question, decision):
            return
        if decision.verdict in ("approved", "changed") and self.clock.now() < question.expires_at:
            changed = {change.step for change in decision.changes}
            self.agreed += [
                Agreed(one.commit.values, self.clock.now(), self.clock.now() + SECONDS, decision.once)
                for number, one in enumerate(question.consequences)
                if number not in changed
            ]

    def unapproved(self) -> list[Effect]:
        """Effects for which there was no approval of exactly that, or none that was still good."""
        found: list[Effect] = []
        for effect in self.world.effects:
            fitting = [
                one
                for one in self.agreed
                if one.values == effect.values and one.since <= effect.at < one.until and not one.used
            ]
            if not fitting:
                found.append(effect)
            elif all(one.once for one in fitting):
                min(fitting, key=lambda one: one.until).used = True
        return found


# --- trial 8: everything that can come in between, in any order

YES = Decision(verdict="approved", by="ada")
DID = Decision(verdict="happened", by="ada")


def _change_form(office: Office) -> None:
    office.world.amount = office.chance.choice(AMOUNTS)


def _pass(seconds: float) -> Callable[[Office], None]:
    return lambda office: office.clock.advance(seconds)


def _say(decision: Decision) -> Callable[[Office], None]:
    return lambda office: office.say(decision)


def _change_arguments(office: Office) -> None:
    question = office.open_question
    if question is not None and question.about == "approve":
        steps = [n for n, one in enumerate(question.consequences) if one.skill == "send"]
        if steps:
            change = Change(step=steps[0], arguments=(("to", office.chance.choice(PEOPLE)),))
            office.say(replace(YES, verdict="changed", changes=(change,)))


def _tell(name: str) -> Callable[[Office], Any]:
    return lambda office: getattr(office.run, name)()


MOVES: tuple[Callable[[Office], Any], ...] = (
    _say(YES),
    _say(replace(YES, once=False)),
    _say(DID),
    _say(Decision(verdict="did_not_happen", by="ada")),
    _say(Decision(verdict="rejected", guidance="otherwise, please", by="ada")),
    _say(Decision(verdict="take_over", by="ada")),
    _change_arguments,
    _change_form,
    _pass(1.0),
    _pass(SECONDS / 2),
    _pass(SECONDS + 1),
    _tell("pause"),
    _tell("resume"),
    lambda office: office.run.guide("quickly"),
    lambda office: office.crash(),
    lambda office: forge(office, office.chance),
)
"""A yes is the first, that something happened the third, and a second that passes the ninth."""


OFTEN = (*range(len(MOVES)), *[0] * 8, *[2] * 3, *[3] * 3, *[8] * 4)
"""What is chosen from: without a yes nothing would happen."""


async def run_interleaving(seed: int, moves: list[tuple[int, bool]]) -> Office:
    """Each move by its number, and whether the next one comes at the same moment."""
    office = Office(seed, four_eyes=seed % 3 == 0)
    await office.begin()
    for move, at_once in moves:
        done = MOVES[move](office)
        if asyncio.iscoroutine(done):
            await done
        if not at_once:
            await office.settle()
    await office.end()
    return office


# --- trial 21: what is forged, replayed or too late


def forge(office: Office, chance: random.Random, kind: str = "") -> bool:
    """Send a decision that must be refused, through the validator or straight into the mailbox. Returns whether one could be sent."""
    question = office.open_question
    if question is None or question.about != "approve":
        return False
    kind = kind or chance.choice(tuple(FORGERIES))
    forgery = FORGERIES[kind](office, question)
    if forgery is not None:
        insist(office, forgery, kind, chance)
    return forgery is not None


def insist(office: Office, word: ApprovalDecided, kind: str, chance: random.Random) -> None:
    office.forged += 1
    runtime = office.run._runtime
    if runtime is not None and chance.random() < 0.5:
        runtime.tell(word)  # as an attacker who bypassed the validator
    elif not office.run.tell(word):
        office.heard.append(kind)


def _other_values(_: Office, question: Question) -> ApprovalDecided:
    """What was shown had been tampered with: the person agreed to something else."""
    first, *rest = question.consequences
    tampered = replace(first, commit=replace(first.commit, values=(("amount", "1"),)))
    return bind_decision(replace(question, consequences=(tampered, *rest)), YES)


def _fewer_values(_: Office, question: Question) -> ApprovalDecided:
    return bind_decision(replace(question, consequences=question.consequences[1:]), YES)


def _earlier_question(office: Office, question: Question) -> ApprovalDecided | None:
    earlier = [one for one in office.person.questions if one.id != question.id and one.about == "approve"]
    return bind_decision(earlier[0], YES) if earlier else None


def _smuggled(_: Office, question: Question) -> ApprovalDecided:
    return bind_decision(question, replace(YES, changes=(Change(arguments=(("to", "Eve"),)),)))


def _beyond(_: Office, question: Question) -> ApprovalDecided:
    change = Change(step=len(question.consequences), arguments=(("to", "Eve"),))
    return bind_decision(question, replace(YES, verdict="changed", changes=(change,)))


def _by(name: str) -> Callable[[Office, Question], ApprovalDecided | None]:
    return lambda office, question: bind_decision(question, replace(YES, by=name)) if office.four_eyes else None


FORGERIES: dict[str, Callable[[Office, Question], ApprovalDecided | None]] = {
    "another question": lambda _, question: bind_decision(replace(question, id=question.id + 7), YES),
    "an earlier question": _earlier_question,
    "other values": _other_values,
    "one value less": _fewer_values,
    "nothing shown": lambda _, question: replace(bind_decision(question, YES), shown=()),
    "another run": lambda _, question: bind_decision(replace(question, run="another"), YES),
    "another kind of answer": lambda _, question: bind_decision(question, Decision(verdict="happened", by="ada")),
    "changes smuggled in": _smuggled,
    "a change of what was not asked": _beyond,
    "by the starter (four eyes)": _by(" Eve "),
    "by nobody (four eyes)": _by(""),
}
