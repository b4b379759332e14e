"""Stand-ins for what an outline needs: goals and judgements from a script."""

from midcourse.domain.budget import FREE
from midcourse.errors import TaskInvalid
from midcourse.ports.judge import Judgement, ProgressContext
from midcourse.ports.outliner import OutlineDraft, OutliningContext


class ScriptedOutlines:
    """The first goals for the first outline, the second for the next; after the last it gives up.

    `contexts` has what it was told each time.
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
