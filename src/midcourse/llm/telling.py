"""Task, skills and steps in the words that prompts tell them in. Every role tells the same thing in the same way."""

from collections.abc import Iterable

from midcourse.domain.argument import Arguments, Reference
from midcourse.domain.completed import CompletedStep
from midcourse.domain.expectation import Expectation
from midcourse.domain.failure import FailedStep
from midcourse.domain.lesson import Recalled
from midcourse.domain.monitor import Advice
from midcourse.domain.outline import Outline
from midcourse.domain.skill import Parameter, ProbeSpec, Skill
from midcourse.domain.task import Task
from midcourse.llm.fence import quoted
from midcourse.llm.screen import named, value_text
from midcourse.policy.verify import describe

LONGEST_STEP = 160
"""Characters of what a step is told to do, or to have come to."""


def about(task: Task) -> str:
    """What a task is about, in one text: what to look for on a long screen."""
    wanted = [f"{field.name} {field.description}" for field in task.output]
    return " ".join((task.goal, *(str(value) for _, value in task.inputs), *wanted, *done_line(task)))


def skill_line(skill: Skill) -> str:
    traits = [skill.effect]
    traits += ["changes the screen"] if skill.transition else []
    traits += [] if skill.on_zone else ["no zone"]
    return f"{named(skill.name)} ({', '.join(traits)}; {_parameters(skill.parameters)}){_says(skill.description)}"


def probe_line(probe: ProbeSpec) -> str:
    return f"{named(probe.name)} ({_parameters(probe.parameters)}){_says(probe.description)}"


def parameter_line(parameter: Parameter) -> str:
    choices = f" one of {', '.join(map(value_text, parameter.choices))}" if parameter.choices else ""
    optional = "" if parameter.required else ", optional"
    return f"{named(parameter.name)} {parameter.type}{choices}{optional}{_says(parameter.description)}"


def value_lines(task: Task) -> Iterable[str]:
    yield from (f"$input.{named(name)} = {value_text(value)}" for name, value in task.inputs)
    yield from (f"$secret.{named(name)}, a secret" for name in task.secrets)
    yield from (f"$file.{named(name)}, a file" for name in task.files)


def done_line(task: Task) -> Iterable[str]:
    if isinstance(task.done_when, Expectation):
        yield quoted(describe(task.done_when))
    elif task.done_when:
        yield f"the probe {named(task.done_when.name)} finds it"


def outline_lines(outline: Outline | None) -> Iterable[str]:
    """Goals by their numbers, and which are finished."""
    for number, goal in enumerate(outline.goals if outline else (), 1):
        yield f"{number}. {quoted(goal.says)}{' (finished)' if goal.finished else ''}"


def advice_lines(advice: Advice | None) -> Iterable[str]:
    """A monitor's word, which may quote the screen."""
    if advice:
        yield f"{advice.problem.replace('_', ' ')}: {quoted(advice.says)}"


def completed_line(step: CompletedStep) -> str:
    doubt = " (it may have happened; nobody could tell)" if step.doubtful else ""
    return f"{quoted(step.says, LONGEST_STEP)}{doubt}"


def attempt_line(step: FailedStep) -> str:
    given = f" with {arguments_text(step.arguments)}" if step.arguments else ""
    why = f"{named(step.reason)} {quoted(step.detail, LONGEST_STEP)}" if step.detail else named(step.reason)
    return f"{named(step.skill)} on {quoted(step.target, LONGEST_STEP)}{given}: {why}"


def lesson_line(recalled: Recalled) -> str:
    """Its words are a stranger's, whoever shared them."""
    lesson, track = recalled.lesson, recalled.lesson.track
    cause = f", because {quoted(lesson.root_cause.text, LONGEST_STEP)}" if lesson.root_cause.text else ""
    fix = f"; mended by {quoted(lesson.fix.text)}" if lesson.fix.text else ""
    runs = track.mended + track.unmended
    return f"{quoted(lesson.said.text, LONGEST_STEP)}{cause}{fix}; new plans mended it in {track.mended} of {runs} runs"


def arguments_text(arguments: Arguments) -> str:
    return ", ".join(f"{named(name)}={_argument(value)}" for name, value in arguments)


def _argument(value: object) -> str:
    if isinstance(value, Reference):
        return f"${value.source}.{named(value.name)}"
    return quoted(value) if isinstance(value, str) else str(value).lower()


def _parameters(parameters: tuple[Parameter, ...]) -> str:
    return "; ".join(map(parameter_line, parameters)) or "no arguments"


def _says(description: str) -> str:
    return f": {quoted(description)}" if description else ""
