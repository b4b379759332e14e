"""Converts an agent's tool to the types of other frameworks, with their retries and time-outs switched off.

If a framework gave up a call or repeated it, that would do no harm, since the run is found by its key; but the framework would tell its
model that nothing happened. So calls do not raise for what happened in the world, and are not interrupted.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from importlib import import_module
from typing import Any, cast

from midcourse.agent.guarded import run_blocking
from midcourse.agent.tools.agent_tool import AgentTool

NEVER = 10.0**9
"""A time-out in seconds that is never reached. For pydantic-ai, no time-out means that of the agent, so a value is needed."""


def pydantic_ai_tool(tool: AgentTool) -> Any:
    from pydantic_ai import RunContext, Tool

    async def call(context: RunContext[Any], **arguments: Any) -> str:
        answer = await tool.call(arguments, conversation=context.conversation_id or "", call=context.tool_call_id or "")
        return answer.text

    made: Tool[Any] = Tool.from_schema(call, tool.name, tool.description, tool.schema, takes_ctx=True, sequential=True)
    made.max_retries, made.timeout = 0, NEVER
    return made


def openai_tool(tool: AgentTool) -> Any:
    agents: Any = import_module("agents")

    async def call(context: Any, text: str) -> str:
        config = context.run_config
        conversation = (config.group_id if config else "") or ""
        answer = await tool.call(_read(text), conversation=conversation, call=context.tool_call_id)
        return answer.text

    return agents.FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=tool.schema,
        on_invoke_tool=call,
        strict_json_schema=False,  # in strict mode every argument is required
        timeout_seconds=None,
    )


def langgraph_tool(tool: AgentTool) -> Any:
    structured: Any = import_module("langchain_core.tools").StructuredTool
    runtime_type: Any = import_module("langgraph.prebuilt").ToolRuntime

    async def call(runtime: Any, **arguments: Any) -> str:
        conversation = runtime.config.get("configurable", {}).get("thread_id", "")
        answer = await tool.call(arguments, conversation=str(conversation), call=runtime.tool_call_id or "")
        return answer.text

    def call_blocking(runtime: Any, **arguments: Any) -> str:
        return run_blocking(call(runtime, **arguments))

    call.__annotations__["runtime"] = call_blocking.__annotations__["runtime"] = runtime_type
    return structured(
        name=tool.name,
        description=tool.description,
        args_schema=tool.schema,
        func=call_blocking,
        coroutine=call,
        handle_tool_error=False,
    )


def crewai_tool(tool: AgentTool, conversation: str) -> Any:
    """Make a `BaseTool`. CrewAI does not pass an id of the call, so calls with the same arguments in a conversation are the same."""
    base: Any = import_module("crewai.tools").BaseTool

    async def call(arguments: Mapping[str, Any]) -> str:
        given = {name: value for name, value in arguments.items() if value is not None}
        digest = sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()
        return (await tool.call(given, conversation=conversation, call=digest[:16])).text

    class CrewTool(base):
        def _run(self, **arguments: Any) -> str:
            return run_blocking(call(arguments))

        async def _arun(self, **arguments: Any) -> str:
            return await call(arguments)

    return CrewTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.arguments,
        cache_function=_cache_nothing,  # a pending answer must not be repeated from a cache
    )


def _cache_nothing(_arguments: Any = None, _result: Any = None) -> bool:
    return False


def _read(text: str) -> Mapping[str, Any]:
    """Parse arguments that a model wrote. Text that is not a JSON object becomes an argument that is refused."""
    try:
        given: object = json.loads(text or "{}")
    except ValueError:
        given = None
    return cast(Mapping[str, Any], given) if isinstance(given, dict) else {"": text}
