"""Tasks, skills, steps and lessons as text, the same in the prompts of every role."""

from collections.abc import Iterable

from midcourse.domain.argument import Arguments, Reference, Scalar
from midcourse.domain.expectation import Expectation
from midcourse.domain.failure import FailedStep
from midcourse.domain.monitor import Advice, ProposedStep, TakenStep
from midcourse.domain.outcome import CompletedStep, Evidence
from midcourse.domain.outline import Outline
from midcourse.domain.records.lesson import Recalled
from midcourse.domain.reflection import ReplanningContext
from midcourse.domain.skill import Parameter, ProbeSpec, Skill
from midcourse.domain.task import Task
from midcourse.llm.prompt.quoting import format_value, quote, quote_name
from midcourse.policy.evidence.verification import describe

LONGEST_INPUT = 4_000
"""Characters of an input, which is part of the task."""
LONGEST_ERROR = 1_000
"""Characters of the latest error message: it may say what to do."""
LONGEST_STEP = 160
"""Characters of a target, a value or an error message of a step."""


def join_task_words(task: Task) -> str:
    """Goal, inputs, output and `done_when` of a task as one text, used to find relevant zones on a long screen."""
    wanted = [f"{field.name} {field.description}" for field in task.output]
    return " ".join((task.goal, *(str(value) for _, value in task.inputs), *wanted, *format_done_when(task)))


def format_skills(skills: Iterable[Skill]) -> Iterable[str]:
    """Skills with and without a zone, one a line. A star stands for a new screen, which most of a world's skills may lead to.

    Harmless effects are not labelled: in a browser a click is declared harmless and may still send something.
    """
    listed = tuple(skills)
    placed, others = ([skill for skill in listed if skill.on_zone is on_zone] for on_zone in (True, False))
    yield from ["on a zone:"] if placed and others else []
    yield from map(_format_skill, placed)
    yield from ["without a zone:", *map(_format_skill, others)] if others else []


def _format_skill(skill: Skill) -> str:
    effect = f" [{skill.effect}]" if skill.effect in ("reversible", "irreversible") else ""
    star = "*" if skill.transition else ""
    call = f"{quote_name(skill.name)}({_format_parameters(skill.parameters)}){star}"
    return f"{call}{effect}{_format_description(skill.description)}"


def format_probe(probe: ProbeSpec) -> str:
    return f"{quote_name(probe.name)}({_format_parameters(probe.parameters)}){_format_description(probe.description)}"


def format_parameter(parameter: Parameter) -> str:
    choices = f" one of {', '.join(map(format_value, parameter.choices))}" if parameter.choices else ""
    optional = "" if parameter.required else ", optional"
    return (
        f"{quote_name(parameter.name)} {parameter.type}{choices}{optional}{_format_description(parameter.description)}"
    )


def format_values(task: Task) -> Iterable[str]:
    yield from (f"$input.{quote_name(name)} = {format_value(value, LONGEST_INPUT)}" for name, value in task.inputs)
    yield from (f"$secret.{quote_name(name)}, a secret" for name in task.secrets)
    yield from (f"$file.{quote_name(name)}, a file" for name in task.file_paths)


def format_done_when(task: Task) -> Iterable[str]:
    if isinstance(task.done_when, Expectation):
        yield quote(describe(task.done_when))
    elif task.done_when:
        yield f"the probe {quote_name(task.done_when.name)} finds it"


def format_outline(outline: Outline | None) -> Iterable[str]:
    """Goals by their numbers, and which are finished."""
    for number, goal in enumerate(outline.goals if outline else (), 1):
        yield f"{number}. {quote(goal.says)}{' (finished)' if goal.finished else ''}"


def format_advice(advice: Advice | None) -> Iterable[str]:
    """The monitor's advice, quoted because it may contain text of the screen."""
    if advice:
        yield f"{advice.problem.replace('_', ' ')}: {quote(advice.says)}"


SHOWN_OTHERWISE: dict[Evidence, str] = {
    "probe": " (the screen did not show it; the probe found it)",
    "person": " (the screen did not show it; the user says that it happened)",
    "model": " (only a look at the screen suggests it)",
}
"""How it is known that a step happened whose answer was lost or unclear. Otherwise it looks like any other, or like one to repeat."""


def format_completed_step(step: CompletedStep) -> str:
    """A completed step with its values, in the plan's own words if it has any."""
    own = extract_own_words(step.says, step.skill, step.target)
    says = f": {quote(own, LONGEST_STEP)}" if own else ""
    shown = SHOWN_OTHERWISE.get(step.evidence, "") if step.irreversible else ""
    doubt = " (it may have happened; there is no evidence)" if step.doubtful else shown
    unsent = " [what it would have sent waited]" if step.unsent else ""
    return f"{format_step(step)}{' [irreversible]' if step.irreversible else ''}{says}{doubt}{unsent}"


def extract_own_words(says: str, skill: str, target: str) -> str:
    """The plan's own description of a step; empty if it was generated from skill and target."""
    return "" if says == f"{skill} {target}".strip() else says


def format_proposal(number: int, step: ProposedStep) -> str:
    expected = f", then expects {quote(step.expected, 120)}" if step.expected else ""
    return f"{number}. {quote_name(step.skill)} {quote(step.target, 80)}{format_own_words(step)}{expected}"


def format_own_words(step: TakenStep | ProposedStep) -> str:
    own = extract_own_words(step.says, step.skill, step.target)
    return f" ({quote(own, 120)})" if own else ""


def format_attempt(step: FailedStep, longest: int = LONGEST_STEP) -> str:
    why = f"{quote_name(step.reason)} {quote(step.detail, longest)}" if step.detail else quote_name(step.reason)
    return f"{format_step(step)}: {why}"


def format_step(step: CompletedStep | FailedStep) -> str:
    """Skill, target and arguments."""
    target = quote(step.target, LONGEST_STEP) if step.target else ""
    return " ".join(part for part in (quote_name(step.skill), target, format_arguments(step.arguments)) if part)


def format_analysis(recovery: ReplanningContext | None) -> Iterable[str]:
    """The kind of the failure, its cause and what may help, from the rules or from a model."""
    if recovery is None:
        return
    found, analysis, fix = recovery.failure.found, recovery.analysis, recovery.fix
    yield f"class: {found.nature.replace('_', ' ')}, {analysis.error_type.replace('_', ' ')}, severity {analysis.severity}"
    if cause := _shorten_cause(recovery):
        yield f"cause: {quote(cause, longest=500)}"
    yield from (f"also: {quote(factor)}" for factor in analysis.contributing_factors)
    if analysis.preventable is not None:
        yield f"another plan {'could' if analysis.preventable else 'could not'} have avoided it"
    if fix.message:
        yield f"may help: {quote(fix.message, longest=500)}"
    yield from (f"for example: {quote(change)}" for change in fix.changes)


def _shorten_cause(recovery: ReplanningContext) -> str:
    """Return the cause without the step and its error message, which are already in the list of failed steps."""
    cause = recovery.analysis.root_cause
    if recovery.by != "rules" or recovery.failed is None:
        return cause
    return cause.removesuffix(f" ({recovery.failure.detail})").rpartition(": ")[2]


def format_lesson(recalled: Recalled) -> str:
    """A lesson, quoted: its words came from a world, even if a person shared it."""
    lesson, track = recalled.lesson, recalled.lesson.track
    said, why = lesson.said.text, lesson.explained
    cause = f", caused by {quote(why, LONGEST_STEP)}" if why and why != said else ""
    fix = f", fixed by {quote(lesson.fix.text)}" if lesson.fix.text else ""
    runs = track.fixed + track.not_fixed
    helped = f"; a new plan helped in {track.fixed} of {runs} runs" if runs else ""
    return f"{quote(said, LONGEST_STEP)}{cause}{fix}{helped}"


def format_arguments(arguments: Arguments) -> str:
    return " ".join(f"{quote_name(name)}={_format_argument(value)}" for name, value in arguments)


def _format_argument(value: object) -> str:
    if isinstance(value, Reference):
        return f"${value.source}.{quote_name(value.name)}"
    return quote(value, LONGEST_STEP) if isinstance(value, str) else str(value).lower()


def _format_parameters(parameters: tuple[Parameter, ...]) -> str:
    return ", ".join(map(_format_call_parameter, parameters))


def _format_call_parameter(parameter: Parameter) -> str:
    """Format a parameter as in a signature: a question mark if it is optional, and a type unless it is text."""
    kind = "" if parameter.type == "string" else f": {parameter.type}"
    if parameter.choices:
        kind = f": {' | '.join(map(_format_choice, parameter.choices))}"
    says = f" {quote(parameter.description)}" if parameter.description else ""
    return f"{quote_name(parameter.name)}{'' if parameter.required else '?'}{kind}{says}"


def _format_choice(choice: Scalar) -> str:
    return quote_name(choice) if isinstance(choice, str) else format_value(choice)


def _format_description(description: str) -> str:
    return f": {quote(description)}" if description else ""
