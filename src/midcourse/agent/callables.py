"""Functions in place of a planner or an approver: any function of the context or of the question will do."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from inspect import isawaitable, iscoroutinefunction
from typing import Protocol, TypeVar

from midcourse.domain.approval import About, Decision, Question, Verdict
from midcourse.ports.abilities import offers
from midcourse.ports.approver import Approver
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext


class PlannerFunction(Protocol):
    """Returns the next plan. A plain function is called in a thread of its own, so it may block."""

    def __call__(self, context: PlanningContext, /) -> PlanDraft | Awaitable[PlanDraft]: ...


class ApproverFunction(Protocol):
    """Returns a `Decision`, True or False, or None to leave the question open. A plain function is called in a thread of its own.

    False refuses. True approves what is shown in full, and lets a run that is stuck go on. It neither says that something happened, nor
    sends anything again, nor raises a ceiling: those need a `Decision`.
    """

    def __call__(self, question: Question, /) -> Decision | bool | Awaitable[Decision | bool | None] | None: ...


YES: dict[About, Verdict] = {"approve": "approved", "stuck": "go_on", "repeat": "rejected"}
NO: dict[About, Verdict] = {"approve": "rejected", "repeat": "rejected"}
"""The verdicts of True and False, by what the question is about; `stop` for the others."""

A = TypeVar("A")
R = TypeVar("R")


@dataclass(frozen=True)
class FunctionPlanner:
    """A function that plans."""

    function: PlannerFunction

    async def plan(self, context: PlanningContext) -> PlanDraft:
        return await _call(self.function, context)


@dataclass(frozen=True)
class FunctionApprover:
    """A function that decides questions."""

    function: ApproverFunction

    async def ask(self, question: Question) -> Decision | None:
        answer: object = await _call(self.function, question)
        if isinstance(answer, bool):
            return Decision(verdict=(YES if answer else NO).get(question.about, "stop"), by=_name(self.function))
        if answer is not None and not isinstance(answer, Decision):
            raise TypeError(
                f"the approver {_name(self.function)} returned {answer!r:.100}; return a midcourse.Decision, True, False or None"
            )
        return answer


def as_planner(given: Planner | PlannerFunction | None) -> Planner | None:
    """The planner, or a planner that calls this function. Raises `TypeError` for anything else."""
    if given is None or (not isinstance(given, type) and offers(given, Planner)):
        return given
    if callable(given) and not isinstance(given, type):
        return FunctionPlanner(given)
    raise TypeError(_refuse("planner", given, "plan(context)", "a function of the context"))


def as_approver(given: Approver | ApproverFunction | None) -> Approver | None:
    """The approver, or an approver that calls this function. Raises `TypeError` for anything else."""
    if given is None or (not isinstance(given, type) and offers(given, Approver)):
        return given
    if callable(given) and not isinstance(given, type):
        return FunctionApprover(given)
    raise TypeError(_refuse("approver", given, "ask(question)", "a function of the question"))


def _refuse(name: str, given: object, method: str, function: str) -> str:
    if isinstance(given, type):
        return f"{name}: {given.__name__} is a class; give an object of it, {given.__name__}()"
    return f"{name}: {given!r:.100} has no method {method}; give an object that has it, or {function}"


async def _call(function: Callable[[A], R | Awaitable[R]], argument: A) -> R:
    if iscoroutinefunction(function):
        return await function(argument)
    answer = await asyncio.to_thread(function, argument)
    return await answer if isawaitable(answer) else answer


def _name(function: object) -> str:
    return getattr(function, "__qualname__", type(function).__name__)
