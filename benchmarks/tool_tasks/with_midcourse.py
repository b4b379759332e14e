"""Midcourse: the tools are a world of functions, and the planner proposes the calls that are left. If it is killed, the run is resumed."""

import inspect
from collections import Counter
from functools import partial
from typing import Any

from benchmarks.tool_tasks.client import Client, Refused
from benchmarks.tool_tasks.probes import HARMLESS_TWICE, PROBES
from midcourse import Agent, Decision, Draft, PlanDraft, Settings, Task
from midcourse.domain.approval import Question
from midcourse.domain.argument import json_text
from midcourse.domain.skill import Effect
from midcourse.ports.planner import PlanningContext
from midcourse.worlds import Functions
from midcourse.worlds.functions import Function

REFUSED = "not_sent"
"""The reason of a step whose function raised an exception of `absent_on`."""
SETTINGS = {"retry_delay_seconds": 0.01, "replan_interval_seconds": 0.0}
"""Everything else is as it is by default. Pauses would only make the trial longer."""


class Owner:
    """Approver who approves every call, and does not know whether a call happened."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def ask(self, question: Question) -> Decision:
        if question.about == "approve":
            return Decision(verdict="approved", by="the trial")
        self.asked.append(question.about)
        return Decision(verdict="stop", by="the trial")


class GoldPlanner:
    """Plans the calls of the list that were neither carried out nor refused, in their order."""

    def __init__(self, calls: list[dict[str, Any]]) -> None:
        self._steps = [(call["tool"], written(call["arguments"])) for call in calls]

    async def plan(self, context: PlanningContext) -> PlanDraft:
        refused = (step for step in context.attempts if step.reason == REFUSED)
        over = Counter((step.skill, tuple(sorted(step.arguments))) for step in (*context.completed, *refused))
        left: list[Draft] = []
        for tool, arguments in self._steps:
            key = (tool, tuple(sorted(arguments.items())))
            if over[key]:
                over[key] -= 1
            else:
                left.append(Draft(skill=tool, arguments=arguments, says=tool))
        return PlanDraft(steps=left, final=True) if left else PlanDraft(verdict="done")


async def run(job: dict[str, Any]) -> dict[str, Any]:
    client, owner = Client(job["socket"]), Owner()
    world = Functions(*(make_function(client, tool, probes=job["probes"]) for tool in job["tools"]))
    settings = Settings.load(overrides={"home": job["home"], **SETTINGS})
    agent = Agent(world, GoldPlanner(job["calls"]), approver=owner, settings=settings)
    if job["again"]:
        result = await agent.resume(job["run"])
    else:
        result = await agent.run(Task(goal=job["goal"], limits=settings.limits()), run_id=job["run"])
    client.close()
    return {
        "finished": result.success,
        "reason": f"{result.final_reason}: {result.final_detail}",
        "asked": owner.asked,
    }


def make_function(client: Client, tool: dict[str, Any], *, probes: bool) -> Function:
    """Declare a tool: reading, harmless twice, or irreversible with the probe that fits it. After an error nothing was done."""
    name = tool["name"]
    probe = PROBES.get(name) if probes else None
    effect: Effect = "irreversible" if tool["writes"] else "read"
    return Function(
        call=make_caller(client, tool),
        effect="set_state" if name in HARMLESS_TWICE else effect,
        happened=partial(ask_probe, client, probe) if probe else None,
        absent_on=(Refused,),
    )


def make_caller(client: Client, tool: dict[str, Any]) -> Any:
    def call(**arguments: Any) -> Any:
        return client.call(tool["name"], arguments)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(each["name"], keyword, default=inspect.Parameter.empty if each["required"] else None)
        for each in tool["parameters"]
    ]
    call.__name__ = tool["name"]
    call.__doc__ = tool["description"]
    call.__annotations__ = {}
    call.__signature__ = inspect.Signature(parameters)  # pyrefly: ignore[missing-attribute]  # `inspect` reads it
    return call


def ask_probe(client: Client, probe: Any, **arguments: Any) -> bool | None:
    return probe(client, arguments)


def written(arguments: dict[str, Any]) -> dict[str, str]:
    """Arguments as a plan has them: JSON texts."""
    return {name: json_text(value) for name, value in arguments.items()}
