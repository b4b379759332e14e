"""An agent as a tool of other frameworks: each call is a run, found again by its key; a question is an answer that says how to decide it."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from string import Formatter
from threading import Lock
from typing import Any, Protocol, Self, cast
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from midcourse.agent.blocking import run_blocking
from midcourse.agent.live_run import LiveRun
from midcourse.agent.patience import Patience
from midcourse.agent.start import new_run_id
from midcourse.agent.tools.answer import ToolAnswer, answer_of, pending_answer, refused_answer
from midcourse.config.settings import Settings
from midcourse.domain.argument import Scalar
from midcourse.domain.task import Task
from midcourse.errors import KeyTaken, Pending, RunBusy, RunUnknown, TaskInvalid
from midcourse.ports.abilities import offers
from midcourse.ports.controls import Inbox
from midcourse.ports.store import Store

ONE_CALL = "{conversation}:{call}"
"""The default key: one run for each call of the tool in a conversation."""
RUN = "run"
"""The argument with which a model continues a call that waited for a person."""
CONTINUES = "Only to continue a call that was answered with status 'pending': its run. Leave out everything else then."
CALL = "\0"
"""Stands for any call in a key."""
NEVER = 10.0**9
"""A time-out in seconds that is never reached. For pydantic-ai, no time-out means that of the agent, so a value is needed."""


class ToolAgent(Protocol):
    """The methods of an `Agent` that its tools need."""

    @property
    def settings(self) -> Settings | None: ...

    def open_store(self) -> AbstractContextManager[Store]: ...

    def with_store(self, store: Store) -> Self: ...

    def start(self, task: Task, *, run_id: str) -> LiveRun: ...

    def pick_up(self, run_id: str) -> LiveRun: ...


@dataclass(frozen=True, kw_only=True)
class AgentTool:
    """A task that models of other frameworks can call. `Agent.as_tool` makes one, and its `for_…` methods give it to a framework."""

    agent: ToolAgent
    task: Task
    name: str
    description: str
    inputs: Mapping[str, type]
    """The inputs of the task that the model chooses, with their types."""
    key: str = ONE_CALL
    wait: float | None = 0.0
    """Seconds that a call waits for a decision. None: until there is one."""
    in_use: Lock = field(default_factory=Lock, repr=False)
    """Held by the call that uses the agent's world: frameworks make calls in parallel, in threads too."""

    def __post_init__(self) -> None:
        if RUN in self.inputs:
            raise TaskInvalid(
                f"{self.name}: an input cannot be called '{RUN}'; a model continues a pending call with it"
            )
        known = ("conversation", "call", *self.inputs)
        fields = [name for _, name, _, _ in Formatter().parse(self.key) if name is not None]
        if unknown := [name for name in fields if name not in known]:
            raise TaskInvalid(
                f"{self.name}: key '{self.key}' names {', '.join(unknown)}; it may name {', '.join(known)}"
            )
        if not fields:
            raise TaskInvalid(f"{self.name}: key '{self.key}' names nothing, so the tool could be called only once")

    # --- the tool as frameworks see it

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        properties = dict(self._model.model_json_schema().get("properties", {}))
        return {
            "type": "object",
            "properties": {**properties, RUN: {"type": "string", "description": CONTINUES}},
            "additionalProperties": False,
        }

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The same as a model. What is left out is None."""
        fields: dict[str, Any] = {name: (kind | None, None) for name, kind in self.inputs.items()}
        fields[RUN] = (str | None, Field(None, description=CONTINUES))
        return create_model(f"{self.name}_arguments", **fields)

    # --- for other frameworks, with their retries and time-outs switched off
    #
    # If a framework gave up a call or repeated it, that would do no harm, since the run is found by its key; but the framework would
    # tell its model that nothing happened. So calls do not raise for what happened in the world, and are not interrupted.

    def for_pydantic_ai(self) -> Any:
        """Return a `pydantic_ai.Tool`."""
        from pydantic_ai import RunContext, Tool

        async def call(context: RunContext[Any], **arguments: Any) -> str:
            conversation, number = context.conversation_id or "", context.tool_call_id or ""
            return (await self.call(arguments, conversation=conversation, call=number)).text

        made: Tool[Any] = Tool.from_schema(
            call, self.name, self.description, self.schema, takes_ctx=True, sequential=True
        )
        made.max_retries, made.timeout = 0, NEVER
        return made

    def for_openai_agents(self) -> Any:
        """Return a `FunctionTool` of the OpenAI Agents SDK. Its conversation is the `group_id` of the `RunConfig`."""
        agents: Any = import_module("agents")

        async def call(context: Any, text: str) -> str:
            config = context.run_config
            conversation = (config.group_id if config else "") or ""
            try:
                given: object = json.loads(text or "{}")
            except ValueError:
                given = None
            # text that is not a JSON object becomes an argument that is refused
            arguments = cast(Mapping[str, Any], given) if isinstance(given, dict) else {"": text}
            return (await self.call(arguments, conversation=conversation, call=context.tool_call_id)).text

        return agents.FunctionTool(
            name=self.name,
            description=self.description,
            params_json_schema=self.schema,
            on_invoke_tool=call,
            strict_json_schema=False,  # in strict mode every argument is required
            timeout_seconds=None,
        )

    def for_langgraph(self) -> Any:
        """Return a `StructuredTool` for LangGraph and LangChain. Its conversation is the thread of the graph's config."""
        structured: Any = import_module("langchain_core.tools").StructuredTool
        runtime_type: Any = import_module("langgraph.prebuilt").ToolRuntime

        async def call(runtime: Any, **arguments: Any) -> str:
            conversation = runtime.config.get("configurable", {}).get("thread_id", "")
            answer = await self.call(arguments, conversation=str(conversation), call=runtime.tool_call_id or "")
            return answer.text

        def call_blocking(runtime: Any, **arguments: Any) -> str:
            return run_blocking(call(runtime, **arguments))

        call.__annotations__["runtime"] = call_blocking.__annotations__["runtime"] = runtime_type
        return structured(
            name=self.name,
            description=self.description,
            args_schema=self.schema,
            func=call_blocking,
            coroutine=call,
            handle_tool_error=False,
        )

    def for_crewai(self, conversation: str) -> Any:
        """Return a `BaseTool` of CrewAI. CrewAI has no conversations, so name one, such as the id of the order or of the chat.

        CrewAI does not pass an id of the call either, so calls with the same arguments in a conversation are the same.
        """
        base: Any = import_module("crewai.tools").BaseTool

        async def call(arguments: Mapping[str, Any]) -> str:
            given = {name: value for name, value in arguments.items() if value is not None}
            digest = sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()
            return (await self.call(given, conversation=conversation, call=digest[:16])).text

        class CrewTool(base):
            def _run(self, **arguments: Any) -> str:
                return run_blocking(call(arguments))

            async def _arun(self, **arguments: Any) -> str:
                return await call(arguments)

        def cache_nothing(_arguments: Any = None, _result: Any = None) -> bool:
            return False  # a pending answer must not be repeated from a cache

        return CrewTool(
            name=self.name, description=self.description, args_schema=self.arguments, cache_function=cache_nothing
        )

    # --- a call

    async def call(self, arguments: Mapping[str, Any], *, conversation: str, call: str) -> ToolAnswer:
        """Carry out a call, or find the run of an earlier one under the same key. Raises `TaskInvalid` without a conversation."""
        for name, value in (("conversation", conversation), ("call", call)):
            if f"{{{name}}}" in self.key and not value:
                raise TaskInvalid(
                    f"{self.name}: the framework did not name the {name}, which the key '{self.key}' needs"
                )
        given = {name: value for name, value in arguments.items() if value is not None}
        async with self._world():
            with self.agent.open_store() as store:
                if run := given.pop(RUN, ""):
                    return await self._continue(store, str(run), conversation)
                try:
                    values = self._model.model_validate(given).model_dump()
                except ValidationError as error:
                    problems = [f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()]
                    return refused_answer(f"the arguments do not fit: {'; '.join(problems)}")
                return await self._start(store, values, conversation, call)

    async def _start(self, store: Store, values: Mapping[str, Scalar], conversation: str, call: str) -> ToolAnswer:
        key = self._key(values, conversation, call)
        task = replace(self.task, inputs={**dict(self.task.inputs), **values}, key=key)
        if (earlier := await store.run_with_key(key)) is not None:
            _, asked = await store.load(earlier)
            if asked.inputs != task.inputs:
                return refused_answer(f"run {earlier} has the key '{key}' with other inputs", earlier)
            result = await store.result(earlier)
            if result is not None and (result.success or "{call}" in self.key):
                return answer_of(result)
        agent = self.agent.with_store(store)
        try:
            return await self._finish(store, lambda: agent.start(task, run_id=new_run_id()))
        except KeyTaken:  # an earlier run under a business key failed, and may have done something
            result = await store.result(await store.run_with_key(key) or "")
            return answer_of(result) if result else refused_answer(f"an earlier run has the key '{key}'")

    async def _continue(self, store: Store, run: str, conversation: str) -> ToolAnswer:
        try:
            _, task = await store.load(run)
        except RunUnknown:
            return refused_answer(f"there is no run '{run}' of this tool")
        values = {name: value for name, value in task.inputs if name in self.inputs}
        before, _, after = self._key(values, conversation, CALL).partition(CALL)
        if not (task.key.startswith(before) and task.key.endswith(after)):
            return refused_answer(f"there is no run '{run}' of this tool")
        if (result := await store.result(run)) is not None:
            return answer_of(result)
        agent = self.agent.with_store(store)
        return await self._finish(store, lambda: agent.pick_up(run))

    async def _finish(self, store: Store, begin: Callable[[], LiveRun]) -> ToolAnswer:
        """Drive a run until it has ended or asks. If another process drives it, wait for that one."""
        patience = Patience(f"tool {self.name}", None)
        while True:
            try:
                return answer_of(await begin().result_unless_asked(self.wait))
            except RunBusy as busy:
                await patience.pause(str(busy))
            except Pending as pending:
                question = await store.open_question(pending.run) if offers(store, Inbox) else None
                return pending_answer(pending.run, question, self._home)

    def _key(self, values: Mapping[str, Scalar], conversation: str, call: str) -> str:
        """Return the business key of a call. Names from a framework are quoted, so that the parts of the key stay distinct."""
        named = {"conversation": quote(conversation, safe=""), "call": call if call == CALL else quote(call, safe="")}
        return f"{self.name}:{self.key.format(**values, **named)}"

    @cached_property
    def _model(self) -> type[BaseModel]:
        fields: dict[str, Any] = {name: (kind, ...) for name, kind in self.inputs.items()}
        return create_model(self.name, __config__=ConfigDict(extra="forbid", strict=False), **fields)

    @property
    def _home(self) -> str:
        """The option that a command needs to find the run."""
        home = (self.agent.settings or Settings.load()).home
        return "" if home == Settings.load().home else f" --set home={home}"

    @asynccontextmanager
    async def _world(self) -> AsyncGenerator[None]:
        """The world for one call at a time. Calls may come from several loops and threads, so no lock of asyncio will do."""
        patience = Patience(f"tool {self.name}", None)
        while not self.in_use.acquire(blocking=False):
            await patience.pause("another call uses the world of its agent")
        try:
            yield
        finally:
            self.in_use.release()
