"""A world with one or two failing stations, and a planner for it.

Everything follows from the seed. A try takes a second, a plan four. `frozen()` is a digest of this folder: it is in the
benchmark's results, and a test fails if it changes.
"""

import ast
import random
import re
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from benchmarks.failures.variants import KINDS, STATIONS, VARIANTS, Cure, Kind, Variant
from midcourse.domain.expectation import Expectation, ZoneHasState
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.domain.task import Task
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import FakeClock
from midcourse.worlds.base import BaseWorld, Scene, Zone, failed, skill

TOOLS = ("blue", "green", "red", "white")

TRY_SECONDS = 1.0
PLAN_SECONDS = 4.0
SECOND_TROUBLE = 0.15
STUBBORN = 0.2
"""Share of runs whose foreman does not listen, and always plans the same."""
HEALED = 0.1
"""Share of structural failures whose cause is gone after learning: another tool fixes them. Where the station itself had reported
that nothing can work, it stops failing: a wrong report of that kind breaks the contract of the reason.
"""
SAY_SO = ("unreachable", "not_permitted", "impossible")
LEARNING = range(10_000)
"""Seeds of runs in which only half of the variants are met, and nothing has healed yet."""


def frozen() -> str:
    """Digest of the world that the arms are compared in: its code, without docstrings, comments and imports."""
    digest = blake2b(digest_size=8)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(body := getattr(node, "body", None), list):
                node.body = [one for one in body if not _is_prose_or_import(one)]  # pyrefly: ignore[missing-attribute]
        digest.update(ast.unparse(tree).encode())
    return digest.hexdigest()


def _is_prose_or_import(statement: ast.stmt) -> bool:
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_text or isinstance(statement, ast.Import | ast.ImportFrom)


@dataclass
class Trouble:
    """What is the matter with one station."""

    variant: Variant
    cure: Cure
    good_tools: tuple[str, ...] = TOOLS
    key: str = ""
    tries: int = 0
    """How many tries it takes before it passes."""
    seconds: float = 0.0
    """How long it takes to pass, from the first try on."""
    said: random.Random = field(default_factory=random.Random)
    failures: int = 0
    since: float | None = None

    def stops(self, now: float, tool: str, key: str, signed_in: bool) -> bool:
        self.since = now if self.since is None else self.since
        match self.cure:
            case "wait":
                return self.failures < self.tries or now - self.since < self.seconds
            case "tool":
                return tool not in self.good_tools
            case "key":
                return key != self.key
            case "sign_in":
                return not signed_in
            case "nothing":
                return True

    def outcome(self, tool: str) -> Outcome:
        self.failures += 1
        particulars = {
            "n": self.said.randint(2, 900),
            "id": f"{self.said.getrandbits(32):08x}",
            "tool": tool,
            "key": self.key,
            "station": self.variant.station,
        }
        return failed(self.variant.reason, self.variant.message.format(**particulars))


@dataclass
class Situation:
    """All that is the matter in one run."""

    kind: Kind
    variant: Variant
    troubles: dict[str, Trouble]
    stations: tuple[str, ...]
    stubborn: bool
    healed: bool = False
    planner_down: tuple[int, float] | None = None
    """The call to the planner from which on it cannot be reached, and for how many seconds."""

    @property
    def task(self) -> Task:
        done = tuple(ZoneHasState(role="station", label=name, state="done", value=True) for name in self.stations)
        return Task(goal="Finish the part", done_when=Expectation(checks=done))


def situation_of(seed: int) -> Situation:
    chance = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    learning = seed in LEARNING
    variant = _variant(chance, kind, learning)
    stations = {variant.station, *chance.sample(STATIONS, chance.randint(2, 5))}
    healed = kind == "structural" and not learning and chance.random() < HEALED
    situation = Situation(
        kind=kind,
        variant=variant,
        troubles={} if healed and variant.reason in SAY_SO else {variant.station: _trouble(chance, variant, healed)},
        stations=tuple(name for name in STATIONS if name in stations),
        stubborn=chance.random() < STUBBORN,
        healed=healed,
    )
    if kind == "transport" and chance.random() < 0.25:
        situation.planner_down = (chance.randint(1, 2), chance.uniform(2.0, 20.0))
    if chance.random() < SECOND_TROUBLE:
        other = _variant(chance, chance.choice([one for one in KINDS if one != "structural"]), learning)
        if other.station in stations:
            situation.troubles.setdefault(other.station, _trouble(chance, other, healed=False))
    return situation


def _variant(chance: random.Random, kind: Kind, learning: bool) -> Variant:
    """While learning one of those to be seen; later any, so that half of them are new."""
    return chance.choice([one for one in VARIANTS if one.kind == kind and (one.seen or not learning)])


def _trouble(chance: random.Random, variant: Variant, healed: bool) -> Trouble:
    trouble = Trouble(
        variant=variant, cure="tool" if healed else variant.cure, said=random.Random(chance.getrandbits(32))
    )
    match trouble.cure:
        case "wait" if variant.kind == "transport":
            trouble.seconds = 1e9 if chance.random() < 0.15 else chance.uniform(2.0, 40.0)
        case "wait" if chance.random() < 0.5:
            trouble.tries = chance.randint(1, 3)
        case "wait":
            trouble.seconds = chance.uniform(1.0, 30.0)
        case "tool":
            trouble.good_tools = TOOLS[chance.randint(1, 2) :]
        case "key":
            trouble.key = f"K-{chance.randint(1000, 9999)}"
        case "sign_in" | "nothing":
            pass
    return trouble


class Workshop(BaseWorld):
    """Stations that are worked one after the other, each with one of four tools. Keeps count of every try."""

    name = "workshop"

    def __init__(self, situation: Situation, clock: FakeClock) -> None:
        super().__init__()
        self._plight = situation
        self._clock = clock
        self._done: set[str] = set()
        self._signed_in = False
        self.tries = 0
        self.wasted = 0
        """Tries that failed, but for the first at each station, which is how one learns of it; and what was done twice."""

    @property
    def finished(self) -> bool:
        return self._done == set(self._plight.stations)

    def look(self) -> Scene:
        stations = (
            Zone(
                id=name.lower(),
                role="station",
                label=name,
                state=(("done", name in self._done), ("tools", "|".join(TOOLS))),
            )
            for name in self._plight.stations
        )
        return Scene("Workshop", *stations, Zone(id="badge", role="text", label="in" if self._signed_in else "out"))

    @skill(effect="set_state")
    def sign_in(self) -> None:
        """Show the badge."""
        self._signed_in = True

    @skill(effect="set_state")
    def work(self, zone: Zone, tool: str, key: str = "") -> Outcome | None:
        """Work the part at this station."""
        self.tries += 1
        trouble = self._plight.troubles.get(zone.label)
        stopped = trouble is not None and trouble.stops(self._clock.now(), tool, key, self._signed_in)
        self._clock.advance(TRY_SECONDS)
        if trouble is not None and stopped:
            self.wasted += trouble.failures > 0
            return trouble.outcome(tool)
        self.wasted += zone.label in self._done
        self._done.add(zone.label)
        return None


class Foreman:
    """Plans every station that is not done. One that listens takes another tool where one failed, gives the key that was
    named, and signs in where that was asked for. What is done it sees for itself.
    """

    def __init__(self, situation: Situation, clock: FakeClock) -> None:
        self._plight = situation
        self._clock = clock
        self._down_until: float | None = None
        self.calls = 0

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.calls += 1
        if self._is_down():
            self._clock.advance(TRY_SECONDS)
            raise ConnectionError("the model's service does not answer")
        self._clock.advance(PLAN_SECONDS)
        steps: list[Draft] = []
        for zone in context.observation.zones:
            if zone.role == "station" and not zone.get("done"):
                step = self._step(zone, context)
                if step is None:
                    return PlanDraft(verdict="gave_up", detail=f"no tool is left for {zone.label}")
                steps += step
        return PlanDraft(steps=tuple(steps), final=True) if steps else PlanDraft(verdict="done")

    def _is_down(self) -> bool:
        if self._plight.planner_down is None:
            return False
        call, seconds = self._plight.planner_down
        if self._down_until is None and self.calls >= call:
            self._down_until = self._clock.now() + seconds
        return self._down_until is not None and self._clock.now() < self._down_until

    def _step(self, zone: Zone, context: PlanningContext) -> list[Draft] | None:
        here = [] if self._plight.stubborn else [one for one in context.attempts if one.target == zone.label]
        said = " ".join(one.detail for one in here)
        key = re.search(r"key=([\w-]+)", said)
        tried = {value for one in here for name, value in one.arguments if name == "tool"}
        tools = TOOLS[:1] if key or "sign in" in said else [tool for tool in TOOLS if tool not in tried]
        if not tools:
            return None
        arguments = (("tool", tools[0]), *((("key", key[1]),) if key else ()))
        first = [Draft(zone=GLOBAL, skill="sign_in", says="Sign in")] if "sign in" in said else []
        return [*first, Draft(zone=zone.id, skill="work", arguments=arguments, says=f"Work the {zone.label}")]
