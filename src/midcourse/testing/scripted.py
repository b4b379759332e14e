"""Scripted planners, models and judges: each gives the answers it was created with, and repeats the last one."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from midcourse.domain.argument import Pairs
from midcourse.domain.budget import FREE
from midcourse.domain.monitor import Advice, Problem
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.reflection import Analysis, Fix, Reflection
from midcourse.errors import TaskInvalid
from midcourse.ports.closeness import Closeness, JudgingContext
from midcourse.ports.detour import DetourContext, TryDraft
from midcourse.ports.extractor import Extract, Wanted
from midcourse.ports.judge import Judgement, ProgressContext
from midcourse.ports.monitor import Finding, MonitorContext
from midcourse.ports.outliner import OutlineDraft, OutliningContext
from midcourse.ports.planner import ONE_CALL, PlanDraft, PlanningContext
from midcourse.ports.reader import Picture, Sighting
from midcourse.ports.reflector import Explanation, ReflectionContext
from midcourse.ports.verifier import Claim, Verdict


class Scripted:
    """Gives the first answer to the first call, the second to the second; the last one is repeated.

    `contexts` has the context of each call.
    """

    def __init__(self, *drafts: PlanDraft) -> None:
        if not drafts:
            raise TaskInvalid("a scripted planner needs at least one answer")
        self._drafts = drafts
        self.contexts: list[PlanningContext] = []

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.contexts.append(context)
        return self._drafts[min(len(self.contexts), len(self._drafts)) - 1]


class ScriptedMonitor:
    """Says the first at the first review, the second at the next; nothing where the text is empty, and after the last.

    `contexts` has the context of each call.
    """

    def __init__(self, *says: str, problem: Problem = "no_progress") -> None:
        self._says = says
        self._problem: Problem = problem
        self.contexts: list[MonitorContext] = []

    async def review(self, context: MonitorContext) -> Finding:
        place = len(self.contexts)
        self.contexts.append(context)
        says = self._says[place] if place < len(self._says) else ""
        return Finding(advice=Advice(problem=self._problem, says=says) if says else None)


class ScriptedOutlines:
    """The first goals for the first outline, the second for the next; after the last it gives up.

    `contexts` has the context of each call.
    """

    def __init__(self, *outlines: tuple[str, ...]) -> None:
        if not outlines:
            raise TaskInvalid("scripted outlines need at least one")
        self._outlines = outlines
        self.contexts: list[OutliningContext] = []

    async def outline(self, context: OutliningContext) -> OutlineDraft:
        self.contexts.append(context)
        if len(self.contexts) > len(self._outlines):
            return OutlineDraft(verdict="gave_up", detail="the script is at its end", cost=FREE)
        return OutlineDraft(goals=self._outlines[len(self.contexts) - 1])


class ScriptedProgress:
    """Says one after another which goal is the current one, each because of the title of the screen; the last for ever.

    `shown=False`: it points at nothing.
    """

    def __init__(self, *current: int, shown: bool = True) -> None:
        if not current:
            raise TaskInvalid("scripted progress needs at least one goal's number")
        self._current = current
        self._shown = shown
        self.contexts: list[ProgressContext] = []

    async def judge(self, context: ProgressContext) -> Judgement:
        self.contexts.append(context)
        current = self._current[min(len(self.contexts), len(self._current)) - 1]
        return Judgement(current=current, evidence=context.observation.surface.title if self._shown else "")


T = TypeVar("T")


class ScriptedVerifier:
    """Says yes, no or nothing, in turn; `claims` has what it was asked."""

    def __init__(self, *verdicts: Verdict | bool | None) -> None:
        self._verdicts = [each if isinstance(each, Verdict) else Verdict(holds=each) for each in verdicts]
        self.claims: list[Claim] = []

    async def verify(self, claim: Claim) -> Verdict:
        self.claims.append(claim)
        return _nth(self._verdicts, len(self.claims))


class ScriptedExtractor:
    """Brings back this, in turn; `wanted` has what it was asked for."""

    def __init__(self, *extracts: Extract | Pairs) -> None:
        self._extracts = [each if isinstance(each, Extract) else Extract(data=each) for each in extracts]
        self.wanted: list[Wanted] = []

    async def extract(self, wanted: Wanted) -> Extract:
        self.wanted.append(wanted)
        return _nth(self._extracts, len(self.wanted))


class ScriptedReader:
    """Makes out these zones, in turn; `pictures` has what it was shown."""

    def __init__(self, *sightings: Sighting | tuple[Zone, ...]) -> None:
        self._sightings = [each if isinstance(each, Sighting) else Sighting(zones=each) for each in sightings]
        self.pictures: list[Picture] = []

    async def read(self, picture: Picture) -> Sighting:
        self.pictures.append(picture)
        return _nth(self._sightings, len(self.pictures))


def _nth(answers: Sequence[T], n: int) -> T:
    if not answers:
        raise TaskInvalid("a scripted reader needs at least one answer")
    return answers[min(n, len(answers)) - 1]


class ScriptedReflector:
    """Gives the first root cause for the first failure, the second for the next; where the text is empty, and after the last,
    no model can be reached.

    `contexts` has the context of each call.
    """

    def __init__(self, *causes: str, fix: str = "Do it otherwise") -> None:
        self._causes = causes
        self._fix = fix
        self.contexts: list[ReflectionContext] = []

    async def reflect(self, context: ReflectionContext) -> Explanation:
        place = len(self.contexts)
        self.contexts.append(context)
        cause = self._causes[place] if place < len(self._causes) else ""
        if not cause:
            return Explanation(verdict="transport", detail="the script is over", cost=ONE_CALL)
        found = context.failure.found
        analysis = Analysis(error_type=found.error_type, severity="LOW", root_cause=cause, preventable=True)
        return Explanation(
            reflection=Reflection(analysis=analysis, fix=Fix(message=self._fix), by="model"),
            cost=ONE_CALL,
            model="scripted",
        )


class ScriptedTries:
    """The first draft for the first try, the second for the second; after the last it gives up.

    `contexts` has the context of each call.
    """

    def __init__(self, *drafts: TryDraft) -> None:
        if not drafts:
            raise TaskInvalid("scripted tries need at least one draft")
        self._drafts = drafts
        self.contexts: list[DetourContext] = []

    async def plan_try(self, context: DetourContext) -> TryDraft:
        self.contexts.append(context)
        if len(self.contexts) > len(self._drafts):
            return TryDraft(verdict="gave_up", detail="the script is at its end")
        return self._drafts[len(self.contexts) - 1]


class JudgedBy:
    """Closeness as a function of the screen. It costs nothing."""

    def __init__(self, closeness: Callable[[Observation], float]) -> None:
        self._closeness = closeness

    async def judge(self, context: JudgingContext) -> Closeness:
        return Closeness(value=self._closeness(context.observation))
