"""Stand-ins for a reflector: explanations from a script."""

from midcourse.domain.reflection import Analysis, Fix, Reflection
from midcourse.ports.planner import ONE_CALL
from midcourse.ports.reflector import Explanation, ReflectionContext


class ScriptedReflector:
    """Gives the first root cause for the first failure, the second for the next; where the text is empty, and after the last,
    nobody can be reached.

    `contexts` has what it was told each time.
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
