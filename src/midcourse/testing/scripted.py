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
    """A planner that returns these answers in order, and then repeats the last one.

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
    """A monitor that gives this advice in order, one text for each review. For an empty text, and after the last one, it gives no advice.

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
    """An outliner that returns these goals in order, one tuple for each outline. After the last one it gives up.

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
    """A progress judge that names these goals as the current one, in order, and then repeats the last one.

    Its evidence is the title of the screen; with `shown=False` it gives no evidence.
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
    """A verifier that returns these verdicts in order, and then repeats the last one. `claims` has what it was asked."""

    def __init__(self, *verdicts: Verdict | bool | None) -> None:
        self._verdicts = [each if isinstance(each, Verdict) else Verdict(holds=each) for each in verdicts]
        self.claims: list[Claim] = []

    async def verify(self, claim: Claim) -> Verdict:
        self.claims.append(claim)
        return _nth(self._verdicts, len(self.claims))


class ScriptedExtractor:
    """An extractor that returns these values in order, and then repeats the last ones. `wanted` has what it was asked for."""

    def __init__(self, *extracts: Extract | Pairs) -> None:
        self._extracts = [each if isinstance(each, Extract) else Extract(data=each) for each in extracts]
        self.wanted: list[Wanted] = []

    async def extract(self, wanted: Wanted) -> Extract:
        self.wanted.append(wanted)
        return _nth(self._extracts, len(self.wanted))


class ScriptedReader:
    """A reader that finds these zones in order, one tuple for each picture, and then repeats the last one. `pictures` has what it was shown."""

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
    """A reflector that names these root causes in order, one for each failure. For an empty text, and after the last one, it
    answers that no model can be reached.

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
    """A detour planner that returns these drafts in order, one for each try. After the last one it gives up.

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
    """A closeness judge that computes the closeness from the screen with this function. It costs nothing."""

    def __init__(self, closeness: Callable[[Observation], float]) -> None:
        self._closeness = closeness

    async def judge(self, context: JudgingContext) -> Closeness:
        return Closeness(value=self._closeness(context.observation))
