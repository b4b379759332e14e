"""A solver for Inspect: the evaluated model plans, and Midcourse carries the plans out with the sample's tools.

Tools are called by Inspect's own `execute_tools`, so that its log, its approval policies and its scorers see every call.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, TypeVar
from uuid import uuid4

from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.approval import VERDICTS, Decision, Question, Verdict
from midcourse.errors import TaskInvalid
from midcourse.exception_text import describe_exception
from midcourse.llm.prompt.quoting import LONGEST
from midcourse.llm.text_planner import TextPlanner
from midcourse.ports.approver import Approver
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.presentation.result import headline
from midcourse.worlds.functions import Function, Functions
from midcourse.worlds.json_schema import read_schema
from midcourse.worlds.signature import Signature

F = TypeVar("F", bound=Callable[..., Any])
NOT_CARRIED_OUT = ("parsing", "approval")
"""Types of errors that Inspect reports for a call that it did not make."""
REFUSED = "unknown"
"""The type that Inspect reports for a `ToolError` of the tool itself, and that other exceptions of tools are written with."""
STORED = "midcourse"
"""The name in the sample's store under which the result of the run is."""


def _inspect(module: str) -> Any:
    """A module of Inspect, which this package does not depend on."""
    return import_module(f"inspect_ai.{module}")


def _register(build: F) -> F:
    """Register a solver as `midcourse/agent`, if Inspect is installed. The reference is generated without it."""
    return _inspect("solver").solver("agent")(build) if find_spec("inspect_ai") else build


class CallRefused(Exception):
    """The tool refused the call, or it was not made."""


class AnswerMissing(Exception):
    """The call may have been carried out, and there is no answer that says so."""


@dataclass(frozen=True, kw_only=True)
class ToolFunction(Function):
    """A tool of the sample as a function of the world, with the parameters of the tool's schema."""

    schema: Mapping[str, Any]

    @cached_property
    def signature(self) -> Signature:
        return read_schema(self.schema)


@dataclass(frozen=True, kw_only=True)
class EvaluationApprover:
    """Answers in place of a person: approves all or nothing, allows no repetition, and decides doubts as configured."""

    approve: Literal["all", "none"]
    doubt: Verdict

    async def ask(self, question: Question) -> Decision:
        by = "evaluation"
        match question.about:
            case "approve":
                verdict: Verdict = "approved" if self.approve == "all" else "rejected"
                return Decision(verdict=verdict, by=by, all_values=True)
            case "happened":
                return Decision(verdict=self.doubt, by=by)
            case "repeat":
                return Decision(verdict="rejected", by=by, guidance="It was done already. Do not do it again.")
            case "question":
                return Decision(verdict="go_on", by=by, guidance="There is no user to ask. Decide it yourself.")
            case "stuck":
                return Decision(verdict="go_on", by=by)
            case "more":
                return Decision(verdict="stop", by=by)


@dataclass
class Sample:
    """One sample: asks the evaluated model, calls the tools, and writes both into the sample's conversation."""

    state: Any
    model: Any
    absent_on_error: bool
    ended_by: Exception | None = field(default=None, init=False)
    """What ends the sample in Inspect, such as a limit. It is raised when the run has ended."""

    remembers = True

    async def ask(self, prompt: str) -> str:
        """Ask with the whole conversation and long descriptions of tools, of which the prompt quotes only the beginnings.

        Inspect sends no definitions of tools if none may be called.
        """
        definitions = map(_inspect("tool").ToolDef, self.state.tools)
        cut = [f"{each.name}: {each.description}" for each in definitions if len(each.description) > LONGEST]
        text = "\n\n".join([*(["Skills that the list below describes only in part:", *cut] if cut else []), prompt])
        asked = [*self.state.messages, _inspect("model").ChatMessageUser(content=text)]
        answered = await self.model.generate(asked, tools=self.state.tools, tool_choice="none")
        return answered.completion

    async def plan(self, context: PlanningContext) -> PlanDraft:
        if self.ended_by is None:
            try:
                return await TextPlanner(self.ask).plan(context)
            except Exception as error:
                self.ended_by = error
        return PlanDraft(verdict="impossible", detail=describe_exception(self.ended_by))

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """Call a tool and return its answer. Raises `CallRefused`, `AnswerMissing`, or what the tool raised."""
        inspect, tools = _inspect("model"), _inspect("tool")
        call = tools.ToolCall(id=f"call_{uuid4().hex}", function=tool, arguments=arguments)
        if self.ended_by is None:
            self._write(inspect.ChatMessageAssistant(content="", tool_calls=[call]))
        if self.ended_by:
            raise CallRefused(describe_exception(self.ended_by))
        try:
            answers: list[Any] = (await inspect.execute_tools(list(self.state.messages), self.state.tools)).messages
        except Exception as error:
            if isinstance(error, _ends_sample()):
                self.ended_by = error
            failure = tools.ToolCallError(REFUSED, describe_exception(error))
            self._write(inspect.ChatMessageTool(content="", tool_call_id=call.id, function=tool, error=failure))
            raise
        self._write(*answers)
        answer = answers[0]
        if answer.error is None:
            return str(answer.text)
        refused = answer.error.type in NOT_CARRIED_OUT or (answer.error.type == REFUSED and self.absent_on_error)
        raise (CallRefused if refused else AnswerMissing)(answer.error.message)

    def _write(self, *messages: Any) -> None:
        """Add messages to the conversation. A limit on them ends the sample, but what a tool answered stays true."""
        try:
            self.state.messages.extend(messages)
        except _ends_sample() as limit:
            self.ended_by = limit


@_register
def inspect_solver(
    read: str | Sequence[str] = (),
    approve: Literal["all", "none"] | Approver = "all",
    doubt: Literal["stop", "happened", "did_not_happen"] = "stop",
    absent_on_error: bool = True,
    happened: Mapping[str, Callable[..., Any]] | None = None,
    settings: Settings | None = None,
) -> Any:
    """A solver that lets the evaluated model plan and Midcourse carry out: each irreversible call is made once.

    `read`: names or patterns of tools that change nothing, such as `get_*`; all others are irreversible. `approve` answers approvals: "all",
    "none", or an approver. `doubt` answers whether a call happened whose answer was lost, if no function in `happened`, by the name of
    the tool, can tell. `absent_on_error`: a `ToolError` means that the tool refused and did nothing. Without `settings`, those of
    the environment apply, without lessons and reuse, because samples must not learn from each other.
    """
    for name, given, known in (("approve", approve, ("all", "none")), ("doubt", doubt, VERDICTS["happened"])):
        if isinstance(given, str) and given not in known:
            raise TaskInvalid(f"{name}: '{given}' is none of {', '.join(known)}")
    patterns = [read] if isinstance(read, str) else list(read)
    approver = EvaluationApprover(approve=approve, doubt=doubt) if isinstance(approve, str) else approve
    chosen = settings or Settings.load().with_overrides({"lessons": False, "reuse": False})

    async def solve(state: Any, generate: Any) -> Any:
        if not state.tools:
            return await generate(state)
        inspect = _inspect("model")
        sample = Sample(state, inspect.get_model(), absent_on_error)
        functions = [_function_of(tool, sample, patterns, happened or {}) for tool in state.tools]
        result = await Agent(Functions(*functions), sample, approver=approver, settings=chosen).run(state.input_text)
        state.store.set(
            STORED,
            {
                "run": result.run,
                "success": result.success,
                "verified": result.verified,
                "final_reason": result.final_reason,
            },
        )
        if sample.ended_by:
            raise sample.ended_by
        if not result.success:
            ended = f"{headline(result)} {result.final_detail}".strip()
            state.messages.append(inspect.ChatMessageUser(content=f"{ended}\nAnswer now, without further calls."))
        state.output = await sample.model.generate(state.messages, tools=state.tools, tool_choice="none")
        state.messages.append(state.output.message)
        return state

    return solve


def _ends_sample() -> tuple[type[Exception], ...]:
    """Exceptions with which a tool or the conversation ends the sample: a limit, or an approver of Inspect that wants it."""
    return _inspect("util").LimitExceededError, _inspect("_util.exception").TerminateSampleError


def _function_of(
    tool: Any, sample: Sample, patterns: Sequence[str], happened: Mapping[str, Callable[..., Any]]
) -> ToolFunction:
    definition = _inspect("tool").ToolDef(tool)
    name: str = definition.name

    async def call(**arguments: Any) -> Any:
        return await sample.call(name, arguments)

    call.__name__ = name
    call.__doc__ = " ".join(definition.description.split())
    return ToolFunction(
        call=call,
        effect="read" if any(fnmatch(name, pattern) for pattern in patterns) else "irreversible",
        happened=happened.get(name),
        absent_on=(CallRefused,),
        schema=definition.parameters.model_dump(exclude_none=True),
    )
