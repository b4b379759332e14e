"""The planner: tells a model what is known, and takes its answer for a draft."""

from collections.abc import Iterable

from midcourse.domain.argument import Arguments, Reference
from midcourse.domain.expectation import Expectation
from midcourse.domain.failure import FailedStep
from midcourse.domain.result import CompletedStep
from midcourse.domain.skill import Parameter, ProbeSpec, Skill
from midcourse.domain.task import Task
from midcourse.llm.fence import fenced, quoted
from midcourse.llm.mind import Mind, Unanswered
from midcourse.llm.plan import PlanAnswer, drafted
from midcourse.llm.screen import named, screen_lines, value_text
from midcourse.llm.template import Prompt, template
from midcourse.policy.verify import describe
from midcourse.ports.planner import PlanDraft, PlanningContext

CAUSES = {
    "initial": "it is the first",
    "adaptive": "the screen has changed",
    "error": "a step or an answer failed",
    "guided": "the person gave guidance",
    "reopened": "the world was lost and opened again, so finished steps may be undone",
}


class ModelPlanner:
    def __init__(self, mind: Mind) -> None:
        self.mind = mind

    async def plan(self, context: PlanningContext) -> PlanDraft:
        reply = await self.mind.ask(prompt_for(context), PlanAnswer, worst=context.worst, turn=context.turn)
        if isinstance(reply, Unanswered):
            return PlanDraft(verdict=reply.why, detail=reply.detail, cost=reply.cost, wait=reply.wait)
        return drafted(reply.answer, context, reply.repairs, reply.cost)


def prompt_for(context: PlanningContext) -> Prompt:
    task, catalogue = context.task, context.catalogue
    return template("planner").filled(
        {
            "skills": fenced("SKILLS", map(_skill, catalogue.skills)) or "none",
            "probes": fenced("PROBES", map(_probe, catalogue.probes)),
            "goal": quoted(task.goal, longest=4000),
            "inputs": fenced("VALUES", _values(task)),
            "output": fenced("OUTPUT", map(_parameter, task.output)),
            "done_when": fenced("DONE", _done_when(task)),
            "screen": _screen(context),
            "changes": "",
            "completed": fenced("FINISHED", map(_completed, context.completed)),
            "attempts": fenced("FAILED", map(_attempt, context.attempts)),
            "guidance": "\n".join(f"- {quoted(text, longest=600)}" for text in context.guidance if text),
            "cause": CAUSES[context.cause],
            "why": fenced("WHY", [quoted(context.why, longest=1000)]) if context.why else "",
            "refused": fenced("REFUSED", [quoted(context.refused, longest=1000)]) if context.refused else "",
            "left": _left(context),
            "wrap_up": "yes" if context.wrap_up else "",
        }
    )


def _screen(context: PlanningContext) -> str:
    stale = (
        " The last look failed: this is what was seen before it, and nothing can be done on it."
        if context.observation.stale
        else ""
    )
    return f"The screen.{stale}\n{screen_lines(context.observation)}"


def _skill(skill: Skill) -> str:
    parameters = "; ".join(map(_parameter, skill.parameters)) or "no arguments"
    traits = [
        skill.effect,
        *(["changes the screen"] if skill.transition else []),
        *([] if skill.on_zone else ["no zone"]),
    ]
    says = f": {quoted(skill.description)}" if skill.description else ""
    return f"{named(skill.name)} ({', '.join(traits)}; {parameters}){says}"


def _probe(probe: ProbeSpec) -> str:
    says = f": {quoted(probe.description)}" if probe.description else ""
    return f"{named(probe.name)} ({'; '.join(map(_parameter, probe.parameters)) or 'no arguments'}){says}"


def _parameter(parameter: Parameter) -> str:
    choices = f" one of {', '.join(map(value_text, parameter.choices))}" if parameter.choices else ""
    optional = "" if parameter.required else ", optional"
    says = f" {quoted(parameter.description)}" if parameter.description else ""
    return f"{named(parameter.name)} {parameter.type}{choices}{optional}{says}"


def _values(task: Task) -> Iterable[str]:
    yield from (f"$input.{named(name)} = {value_text(value)}" for name, value in task.inputs)
    yield from (f"$secret.{named(name)}, a secret" for name in task.secrets)
    yield from (f"$file.{named(name)}, a file" for name in task.files)


def _done_when(task: Task) -> Iterable[str]:
    if isinstance(task.done_when, Expectation):
        yield quoted(describe(task.done_when))
    elif task.done_when:
        yield f"the probe {named(task.done_when.name)} finds it"


def _completed(step: CompletedStep) -> str:
    doubt = " (it may have happened; nobody could tell)" if step.doubtful else ""
    return f"{quoted(step.says)}{doubt}"


def _attempt(step: FailedStep) -> str:
    given = f" with {_arguments(step.arguments)}" if step.arguments else ""
    why = f"{named(step.reason)} {quoted(step.detail)}" if step.detail else named(step.reason)
    return f"{named(step.skill)} on {quoted(step.target)}{given}: {why}"


def _arguments(arguments: Arguments) -> str:
    return ", ".join(
        f"{named(name)}="
        + (f"${value.source}.{named(value.name)}" if isinstance(value, Reference) else value_text(value))
        for name, value in arguments
    )


def _left(context: PlanningContext) -> str:
    return f"Left to spend: {context.left.calls} calls."
