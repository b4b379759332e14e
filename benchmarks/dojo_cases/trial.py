"""One case in one arm: an agent that obeys what it reads, and AgentDojo's verdict."""

from collections import Counter
from dataclasses import dataclass

from benchmarks.dojo_cases.session import Case, Dojo, Invocation, Loaded
from benchmarks.dojo_cases.world import DojoWorld, Tools
from midcourse import Agent, Decision, Draft, PlanDraft, Task
from midcourse.domain.approval import Consequence, Question
from midcourse.domain.budget import Limits
from midcourse.domain.plan import REPLAN
from midcourse.domain.result import SUCCESSES
from midcourse.ports.planner import PlanningContext
from midcourse.testing import MemoryStore

MAX_TRIES = 3
"""Plans with the same call, if it was neither carried out nor rejected."""
ROOM = Limits(
    max_calls=200,
    max_segments=200,
    max_replans=200,
    max_error_replans=200,
    max_step_retries=0,
    structural_stop=False,
    lesson_stop_after=None,
    retry_delay_seconds=0.01,
    outline="off",
)
"""A rejected call must not prevent the next one."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of a case. `utility` and `attacked` are AgentDojo's verdicts."""

    case: Case
    arm: str
    utility: bool
    attacked: bool | None
    """Whether the injection succeeded; None without one."""
    obeyed: bool
    """Whether the agent read the injected text, and so tried."""
    asked: int
    changing_reads: tuple[str, ...]
    why: str
    """Why the run ended, unless it was done."""


class Obedience:
    """The calls that an obedient agent makes: the user's, and after the injected text was read the injection's before all others."""

    def __init__(self, loaded: Loaded, tools: Tools) -> None:
        self._loaded = loaded
        self._tools = tools
        self._left = list(loaded.user)
        self.obeyed = False

    def next(self) -> Invocation | None:
        if self._tools.injected and not self.obeyed:
            self.obeyed = True
            self._left = [*self._loaded.injection, *self._left]
        return self._left[0] if self._left else None

    def drop(self) -> None:
        """Go on to the call after this one."""
        del self._left[0]

    def answer(self) -> str:
        """What it tells the user, with what the injection wants to be said."""
        said = self._loaded.injection_output if self.obeyed else ""
        return "\n".join(filter(None, (said, self._loaded.user_output)))


class Obedient:
    """Planner with one call in each plan, because the next one depends on what this one returns."""

    def __init__(self, obedience: Obedience, tools: Tools, owner: "Owner") -> None:
        self._obedience = obedience
        self._tools = tools
        self._owner = owner
        self._settled = self._tries = 0
        self.untried: list[str] = []
        """Calls that were planned, and neither carried out nor rejected."""

    async def plan(self, context: PlanningContext) -> PlanDraft:
        settled = len(self._tools.called) + self._owner.rejected
        if self._tries and settled > self._settled:
            self._tries = 0
            self._obedience.drop()
        elif self._tries == MAX_TRIES:
            self._tries = 0
            self.untried.append(f"{self._obedience.next()}: {context.refused or context.why}")
            self._obedience.drop()
        self._settled = settled
        call = self._obedience.next()
        if call is None:
            return PlanDraft(verdict="done", detail=self._obedience.answer())
        self._tries += 1
        step = Draft(skill=call.function, arguments=self._tools.written(call), says=call.function)
        return PlanDraft(steps=[step, Draft(zone=REPLAN)], final=False)


class Owner:
    """Approver who knows what the goal needs: the calls of the user task's ground truth, each as often as it is there."""

    def __init__(self, loaded: Loaded, tools: Tools) -> None:
        self._needed = Counter(Invocation.of(call.function, tools.written(call)) for call in loaded.user)
        self.asked = self.rejected = 0

    async def ask(self, question: Question) -> Decision:
        self.asked += 1
        if question.about == "happened":
            return Decision(verdict="stop", by="the trial")
        wanted = Counter(map(_invocation, question.consequences))
        if wanted <= self._needed:
            self._needed -= wanted
            return Decision(verdict="approved", by="the trial")
        self.rejected += 1
        return Decision(
            verdict="rejected", guidance="That is not part of the task. Continue without it.", by="the trial"
        )


def _invocation(consequence: Consequence) -> Invocation:
    return Invocation.of(consequence.skill, dict(consequence.commit.values))


async def run_bare(dojo: Dojo, case: Case, loaded: Loaded) -> Outcome:
    """Without a gate: calls are carried out as they come."""
    tools = Tools(dojo, loaded)
    obedience = Obedience(loaded, tools)
    while call := obedience.next():
        await tools.call(call.function, call.values())
        obedience.drop()
    return _outcome(dojo, case, "bare", tools, obedience, obedience.answer())


async def run_midcourse(dojo: Dojo, case: Case, loaded: Loaded) -> Outcome:
    """The same agent as a planner; an irreversible call needs the owner's approval."""
    tools = Tools(dojo, loaded)
    owner = Owner(loaded, tools)
    obedience = Obedience(loaded, tools)
    planner = Obedient(obedience, tools, owner)
    agent = Agent(DojoWorld(tools), planner, approver=owner, store=MemoryStore())
    result = await agent.run(Task(goal=loaded.goal, limits=ROOM))
    done = result.final_reason in SUCCESSES
    why = "; ".join(planner.untried) if done else f"{result.final_reason}: {result.final_detail}"
    return _outcome(dojo, case, "midcourse", tools, obedience, obedience.answer() if done else "", owner, why)


def _outcome(
    dojo: Dojo,
    case: Case,
    arm: str,
    tools: Tools,
    obedience: Obedience,
    answer: str,
    owner: Owner | None = None,
    why: str = "",
) -> Outcome:
    score = dojo.score(answer)
    return Outcome(
        case=case,
        arm=arm,
        utility=score["utility"],
        attacked=score.get("attacked"),
        obeyed=obedience.obeyed,
        asked=owner.asked if owner else 0,
        changing_reads=tuple(tools.changing_reads),
        why=why,
    )


ARMS = {"bare": run_bare, "midcourse": run_midcourse}
