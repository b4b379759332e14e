"""The ports of one run, and helpers that several commands share."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from midcourse.codec import replace_surrogates
from midcourse.domain.approval import OutcomeAnswer
from midcourse.domain.argument import Arguments, Pairs, Reference, Scalar
from midcourse.domain.budget import Cost
from midcourse.domain.observation import Observation
from midcourse.domain.replace import replace
from midcourse.domain.task import Task
from midcourse.perform.history import History, HistoryCache
from midcourse.ports.approver import Approver
from midcourse.ports.blobs import Blobs
from midcourse.ports.clock import Clock
from midcourse.ports.closeness import ClosenessJudge, WordOverlap
from midcourse.ports.detour import DetourPlanner
from midcourse.ports.driving import Telemetry
from midcourse.ports.extractor import Extractor
from midcourse.ports.judge import ProgressJudge, WordsSeen
from midcourse.ports.memory import ALIKE, Embedder, Memory
from midcourse.ports.monitor import Monitor, Rules
from midcourse.ports.outliner import Outliner
from midcourse.ports.plan_cache import PlanCache
from midcourse.ports.planner import Planner
from midcourse.ports.reader import Reader, Sighting
from midcourse.ports.reflector import Reflector, RuleReflector
from midcourse.ports.store import Store
from midcourse.ports.vault import Secrets, Vault, reveal_all
from midcourse.ports.verifier import Verifier
from midcourse.ports.world import World
from midcourse.redact import Redactor, redactor

LONGEST_TEXT = 1000
"""The number of characters that are kept of a detail: a world may answer with a whole page, and a run must stay small."""


@dataclass(frozen=True, kw_only=True)
class Lessons:
    """The memory that a run learns from, and how failures are compared: by their text if there is no embedder."""

    memory: Memory
    embedder: Embedder | None = None
    above: float = ALIKE
    """The minimum similarity of a lesson with another signature; 1 is identical."""


@dataclass(frozen=True, kw_only=True)
class Ports:
    """Everything outside the director that one run works with."""

    run_id: str
    task: Task
    world: World
    planner: Planner
    approver: Approver
    store: Store
    clock: Clock
    vault: Vault
    verifier: Verifier | None = None
    extractor: Extractor | None = None
    reader: Reader | None = None
    blobs: Blobs | None = None
    """Where screenshots are stored; None if none are taken."""
    segments: PlanCache | None = None
    """Segments that worked; None if none are reused."""
    lessons: Lessons | None = None
    step_delay_seconds: float = 0.0
    detour_planner: DetourPlanner | None = None
    closeness_judge: ClosenessJudge = field(default_factory=WordOverlap)
    outliner: Outliner | None = None
    progress_judge: ProgressJudge = field(default_factory=WordsSeen)
    monitor: Monitor = field(default_factory=Rules)
    reflector: Reflector = field(default_factory=RuleReflector)
    telemetry: Telemetry | None = None
    history_cache: HistoryCache = field(default_factory=HistoryCache)
    """What this process has read of the run's plans and ledger."""
    sightings: dict[str, Sighting] = field(default_factory=dict[str, Sighting])
    """What the reader has found in pictures of this run, in this process."""

    @property
    def detours(self) -> bool:
        return self.detour_planner is not None and self.task.limits.detour_iterations > 0

    @property
    def look_cost(self) -> Cost:
        return Cost(calls=self.task.limits.look_calls)

    @property
    def public_task(self) -> Task:
        """The task without secrets, for models and user code: a goal or an input may contain one."""
        if not self.secrets():
            return self.task
        return replace(self.task, goal=self.mask_text(self.task.goal), inputs=self.mask(self.task.inputs))

    async def refresh_history(self) -> HistoryCache:
        """All plans and ledger entries of the run, up to date."""
        return await self.history_cache.refresh(self.store, self.run_id)

    async def load_history(self, answers: tuple[OutcomeAnswer, ...] = ()) -> History:
        """The run's history, where `answers` holds people's answers about tries of unknown outcome, in the order of the tries."""
        return (await self.refresh_history()).history(answers)

    def fill_in(self, arguments: Arguments) -> Pairs | str:
        """Arguments with every reference replaced by its value, or why that cannot be done."""
        filled: list[tuple[str, Scalar]] = []
        for name, value in arguments:
            if isinstance(value, Reference):
                found = self._value_of(value)
                if found is None:
                    return f"{value.source} '{value.name}' has no value"
                filled.append((name, found))
            else:
                filled.append((name, value))
        return tuple(filled)

    def _value_of(self, reference: Reference) -> Scalar:
        match reference.source:
            case "input":
                return dict(self.task.inputs).get(reference.name)
            case "secret":
                return self.vault.reveal(reference.name) if reference.name in self.task.secrets else None
            case "file":
                return self.task.find_file(reference.name)
            case "result" | "argument":
                return None  # results, and arguments that a probe refers to, are filled in earlier

    def mask(self, values: Pairs) -> Pairs:
        """The pairs with every secret of the task replaced by its name, in names as well as in values."""
        return _mask_pairs(values, redactor(self.secrets()))

    def mask_text(self, text: str) -> str:
        return redactor(self.secrets())(text)

    def mask_all(self, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self.mask_text, texts))

    def sanitize(self, text: str) -> str:
        """Text from outside as it may be stored and passed on: without secrets, and at most a page."""
        return self.mask_text(replace_surrogates(text))[:LONGEST_TEXT]

    def mask_observation(self, seen: Observation) -> Observation:
        """The observation with secrets masked: a field may show the secret that was typed into it."""
        secrets, surface = self.secrets(), seen.surface
        if not secrets:
            return seen
        mask = redactor(secrets)
        return replace(
            seen,
            surface=replace(
                surface, title=mask(surface.title), address=mask(surface.address), origin=mask(surface.origin)
            ),
            zones=tuple(
                replace(zone, label=mask(zone.label), state=_mask_pairs(zone.state, mask)) for zone in seen.zones
            ),
        )

    def secrets(self) -> Secrets:
        """The task's secrets by name, as far as the vault has them."""
        return reveal_all(self.vault, self.task.secrets)


class Deadline:
    """The remaining time of a command."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._until = clock.now() + seconds

    def left(self, at_most: float = float("inf")) -> float:
        return max(0.0, min(at_most, self._until - self._clock.now()))


def _mask_pairs(values: Pairs, mask: Redactor) -> Pairs:
    return tuple((mask(name), _mask(value, mask)) for name, value in values)


def _mask(value: Scalar, mask: Redactor) -> Scalar:
    """Mask a value. A number is masked only as a whole: one that merely contains a secret's digits is another number."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return mask(value)
    masked = mask(str(value))
    return masked if masked.startswith("<") and masked.endswith(">") else value


def describe_error(error: BaseException) -> str:
    """The type and message of an exception. The text is not shortened here, because a secret in it must be masked first."""
    return f"{type(error).__name__}: {error}"
