"""A random world of pages, doors, forms and irreversible buttons, with random faults, and a planner and an approver for it.

`effects` is the world's own log of effects, by which the promises are judged.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, TypeAlias

from midcourse.domain.approval import Decision, Question
from midcourse.domain.expectation import Expectation, Probe, SurfaceMatches, ZoneAppears
from midcourse.domain.observation import Unseen, Zone
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import GLOBAL, REPLAN, Draft
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.worlds.base import BaseWorld, Scene, failed, probe, skill, unreachable

ActFault: TypeAlias = Literal[
    "",
    "silent",
    "done, says unknown",
    "not done, says unknown",
    "done, raises",
    "later, raises",
    "raises",
    "busy",
    "fails",
    "far",
    "lost",
]
LookFault: TypeAlias = Literal["", "failed", "empty", "world_lost"]
Effect: TypeAlias = tuple[str, str, str]
"""Page, button and sent value, which identify an effect."""


@dataclass(frozen=True, kw_only=True)
class Page:
    title: str
    zones: tuple[Zone, ...]


@dataclass(kw_only=True)
class RandomPages:
    """The pages and faults of a world, generated from a seed."""

    seed: int
    calm: bool = False
    """Without faults."""
    pages: list[Page] = field(default_factory=list[Page])

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        count = self.random.randrange(1, 5)
        self.pages = [self._page(number, count) for number in range(count)]

    def _page(self, number: int, count: int) -> Page:
        zones = [Zone(id=f"z{number}-{n}", role="door", label=f"To {self.random.randrange(count)}") for n in range(2)]
        zones += [Zone(id=f"b{number}-{n}", role="button", label=f"Buy {n}") for n in range(self.random.randrange(3))]
        zones += [Zone(id=f"f{number}", role="form", label="Form"), Zone(id=f"t{number}", role="field", label="Name")]
        return Page(title=f"Page {number}", zones=tuple(zones))

    def pick_act_fault(self) -> ActFault:
        if self.calm or self.random.random() < 0.6:
            return ""
        faults: tuple[ActFault, ...] = (
            "silent",
            "done, says unknown",
            "not done, says unknown",
            "done, raises",
            "later, raises",
            "raises",
            "busy",
            "fails",
            "lost",
        )
        return "far" if self.random.random() < 0.02 else self.random.choice(faults)

    def pick_look_fault(self) -> LookFault:
        if self.calm or self.random.random() < 0.9:
            return ""
        return self.random.choice(("failed", "failed", "empty", "empty", "empty", "world_lost"))


class RandomWorld(BaseWorld):
    """The random world. `dies_at` has numbers of calls at which it kills the calling process, before or after the effect."""

    name = "wonderland"

    def __init__(self, plot: RandomPages, *, fences: bool = True, keeps_session: bool = True) -> None:
        super().__init__()
        self.plot = plot
        self.fences = fences
        self.keeps_session = keeps_session
        self.page = 0
        self.typed = ""
        self.notice = ""
        self.gone = False
        self.acting = 0
        self.under_way: dict[int, Callable[[], None]] = {}
        self.effects: list[Effect] = []
        self.touched: list[str] = []
        self.on_death: Callable[[], object] | None = None
        self.dies_at: list[int] = []
        self.calls = 0

    # --- the session

    async def open(self) -> str:
        await super().open()
        self.page, self.typed, self.notice, self.gone = 0, "", "", False
        self.settle()
        return "here"

    async def attach(self, handle: str) -> bool:
        return self.keeps_session and not self.gone and handle == "here"

    async def bar(self, command: int) -> None:
        """With a fence, a barred act never happens. Without one it happens late."""
        await super().bar(command)
        if self.fences:
            self.under_way.pop(command, None)

    def settle(self) -> None:
        """Let all delayed effects happen."""
        for effect in self.under_way.values():
            effect()
        self.under_way.clear()

    def look(self) -> Scene | Unseen:
        page = self.plot.pages[self.page]
        zones = [
            Zone(id=z.id, role=z.role, label=z.label, state=(("value", self.typed),)) if z.role == "field" else z
            for z in page.zones
        ]
        bought = [Zone(id=f"e{n}", role="text", label=f"Bought {sent}") for n, (_, _, sent) in enumerate(self.effects)]
        notice = [Zone(id="notice", role="alert", label=self.notice)] if self.notice else []
        return Scene(page.title, *zones, *bought[-2:], *notice, origin="https://wonder.test")

    async def observe(self) -> Any:
        await self._die_if_due()
        fault = self.plot.pick_look_fault()
        self.gone = self.gone or fault == "world_lost"
        if fault or self.gone:
            return Unseen(reason="world_lost" if self.gone else fault or "failed")
        return await super().observe()

    # --- skills

    @skill(effect="reversible", transition=True)
    async def enter(self, zone: Zone) -> Outcome | None:
        return await self._do(lambda: setattr(self, "page", int(zone.label.removeprefix("To "))))

    @skill(effect="set_state")
    async def write(self, zone: Zone, text: str) -> Outcome | None:
        return await self._do(lambda: setattr(self, "typed", text))

    @skill(effect="read")
    async def peek(self, zone: Zone) -> Outcome | None:
        return await self._do(lambda: None)

    @skill(effect="set_state")
    async def refresh(self) -> Outcome | None:
        return await self._do(lambda: None)

    @skill(effect="irreversible")
    async def buy(self, zone: Zone, item: str) -> Outcome | None:
        return await self._do(self._make_effect(zone, item))

    @skill(effect="irreversible", commit_set="form")
    async def submit(self, zone: Zone) -> Outcome | None:
        return await self._do(self._make_effect(zone, self.typed))

    def form(self, zone: Zone) -> dict[str, str]:
        return {"name": self.typed}

    @probe
    def bought(self, item: str) -> bool:
        return any(sent == item for _, _, sent in self.effects)

    # --- effects and faults

    def _make_effect(self, zone: Zone, sent: str) -> Callable[[], None]:
        effect = (self.plot.pages[self.page].title, zone.label, sent)
        return lambda: self.effects.append(effect)

    async def _do(self, effect: Callable[[], None]) -> Outcome | None:
        await self._die_if_due()
        fault = self.plot.pick_act_fault()
        self.notice = ""
        match fault:
            case "" | "done, says unknown" | "done, raises":
                effect()
            case "lost" if self.plot.random.random() < 0.5:
                effect()
            case "later, raises":
                self.under_way[self.acting] = effect
            case "busy":
                self.notice = "Nothing done"
                return failed("busy", "come back later")
            case "fails":
                self.notice = "Nothing done"
                return failed("rejected", "no")
            case "far":
                return unreachable("too far")
            case _:
                pass
        await self._die_if_due()
        if "raises" in fault:
            raise ConnectionError("gone")
        self.gone = fault == "lost"
        if "unknown" in fault or fault == "lost":
            return Outcome(status="unknown", reason="http_504")
        return None

    async def _die_if_due(self) -> None:
        self.calls += 1
        if self.on_death and self.calls in self.dies_at:
            self.on_death()
            await asyncio.Event().wait()

    async def _attempt(self, call: Any) -> Outcome:
        self.touched.append(call.zone)
        self.acting = call.command
        return await super()._attempt(call)


class RandomPlanner:
    """A planner that makes random plans from the visible zones, without memory, and seldom says done."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    async def plan(self, context: PlanningContext) -> PlanDraft:
        if self.random.random() < 0.06:
            return PlanDraft(verdict=self.random.choice(("done", "gave_up", "impossible", "transport", "transport")))
        zones = [zone for zone in context.observation.zones if zone.role not in ("text", "alert")]
        steps = [self._step(self.random.choice(zones)) for _ in range(self.random.choice((1, 2, 2, 3, 5)))]
        if self.random.random() < 0.5:
            steps.append(Draft(zone=REPLAN))
        return PlanDraft(steps=tuple(steps), final=self.random.choice((None, *[False] * 8, True)))

    def _step(self, zone: Zone) -> Draft:
        if self.random.random() < 0.05:
            return Draft(zone=GLOBAL, skill="refresh")
        if self.random.random() < 0.05:
            return Draft(zone=self.random.choice(("ghost", zone.id)), skill=self.random.choice(("buy", "fly", "")))
        pick = self.random.choice
        match zone.role:
            case "door":
                page = SurfaceMatches(pattern=f"Page {zone.label.removeprefix('To ')}")
                return Draft(zone=zone.id, skill="enter", expect=pick((None, Expectation(checks=(page,)))))
            case "button":
                item = pick(("pen", "ink", "pad", "cup", "hat"))
                return Draft(zone=zone.id, skill="buy", arguments=(("item", item),), **self._evidence(item))
            case "form":
                return Draft(zone=zone.id, skill="submit", **self._evidence("*"))
            case _:
                return Draft(zone=zone.id, skill=pick(("write", "peek")), arguments=pick(((), (("text", pick("ab")),))))

    def _evidence(self, item: str) -> dict[str, Any]:
        pick = self.random.choice
        known = item != "*"
        return {
            "expect": pick((None, Expectation(checks=(ZoneAppears(role="text", label=f"Bought {item}"),)))),
            "absent_when": pick((None, Expectation(checks=(ZoneAppears(role="alert", label="Nothing*"),)))),
            "probe": pick((None, Probe(name="bought", arguments=(("item", item),), settles_after=3.0)))
            if known
            else None,
        }


class InformedApprover:
    """An approver who knows the real effects, approves most questions, and sometimes rejects or does not answer."""

    def __init__(self, world: RandomWorld, seed: int) -> None:
        self.world = world
        self.random = Random(seed)
        self.allowed: list[Effect] = []

    async def ask(self, question: Question) -> Decision | None:
        self.world.settle()  # time passes until an approver answers
        if question.about == "happened":
            verdict = "happened" if _find_effect(question, 0) in self.world.effects else "did_not_happen"
            return Decision(verdict="stop" if self.random.random() < 0.03 else verdict)
        mood = self.random.random()
        if mood < 0.02:
            return None
        if mood < 0.08:
            return Decision(verdict="rejected", guidance=self.random.choice(("", "something else")))
        self.allowed += [_find_effect(question, n) for n in range(len(question.consequences))]
        return Decision(verdict="approved", once=self.random.random() < 0.7)


def _find_effect(question: Question, number: int) -> Effect:
    consequence = question.consequences[number]
    sent = dict(consequence.commit.values)
    return consequence.target.surface, consequence.target.label, str(sent.get("item", sent.get("name")))
