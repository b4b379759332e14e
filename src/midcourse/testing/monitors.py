"""Stand-ins for a monitor: words from a script."""

from midcourse.domain.monitor import Advice, Problem
from midcourse.ports.monitor import Finding, MonitorContext


class ScriptedMonitor:
    """Says the first at the first review, the second at the next; nothing where the text is empty, and after the last.

    `contexts` has what it was told each time.
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
