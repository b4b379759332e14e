"""Stand-ins for what a detour needs: tries from a script, and closeness as a function of what is seen."""

from collections.abc import Callable

from midcourse.domain.observation import Observation
from midcourse.errors import TaskInvalid
from midcourse.ports.closeness import Closeness, JudgingContext
from midcourse.ports.detour import DetourContext, TryDraft


class ScriptedTries:
    """The first draft for the first try, the second for the second; after the last it gives up.

    `contexts` has what it was told each time.
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
