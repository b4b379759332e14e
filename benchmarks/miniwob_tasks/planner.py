"""Which rule plans which task, and how a rule becomes a planner."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from benchmarks.miniwob_tasks.screen import NotSeen, Screen
from midcourse.domain.plan import REPLAN, Draft
from midcourse.ports.planner import PlanDraft, PlanningContext

Rule = Callable[[str, Screen], Sequence[Draft]]
"""From an utterance and what is seen to the steps that can be planned now; `LOOK` at their end if more will follow."""


@dataclass(frozen=True)
class Entry:
    rule: Rule
    changes: bool
    """In the middle the page shows what could not be seen at the beginning."""


RULES: dict[str, Entry] = {}


def plans(*tasks: str, changes: bool = False) -> Callable[[Rule], Rule]:
    """This rule is for these tasks."""

    def registered(rule: Rule) -> Rule:
        for task in tasks:
            assert task not in RULES, f"{task} has two rules"
            RULES[task] = Entry(rule, changes)
        return rule

    return registered


class Spoken(Protocol):
    @property
    def utterance(self) -> str: ...


@dataclass(frozen=True)
class RulePlanner:
    """The same rule for both arms: a fixed plan is the rule's plan for the first screen, carried out to its end."""

    rule: Rule
    episodes: Spoken

    async def plan(self, context: PlanningContext) -> PlanDraft:
        seen = Screen(context.observation.zones)
        if seen.find("START"):
            return PlanDraft(verdict="done", detail="the page offers to start the next episode")
        try:
            steps = tuple(self.rule(self.episodes.utterance, seen))
        except NotSeen as missing:
            return PlanDraft(verdict="gave_up", detail=str(missing))
        if context.beyond:
            return PlanDraft(steps=tuple(step for step in steps if step.zone != REPLAN), final=True)
        return PlanDraft(steps=steps)
