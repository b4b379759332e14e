"""The answers of advisers as sentences: why a step failed, what a monitor noticed, and the outline with its progress."""

from collections.abc import Callable

from midcourse.domain.commands import Advise, Command, MakePlan
from midcourse.domain.events import Advised
from midcourse.domain.moves import Adviser
from midcourse.domain.outline import Outline
from midcourse.presentation.sentence import Sentence, report_setback
from midcourse.presentation.vocabulary import pluralize


def describe_advice(event: Advised, commands: tuple[Command, ...]) -> Sentence | None:
    """The advice as a sentence; None if a monitor objects to nothing. `commands` are those of the same turn."""
    return _ADVICE[event.role](event, commands)


def _describe_reflection(event: Advised, _: tuple[Command, ...]) -> Sentence:
    if event.reflection is None:
        return report_setback(f"no explanation: {event.verdict}", event.detail)
    cause, fix = event.reflection.analysis.root_cause, event.reflection.fix.message
    helps = f"may help: {fix.rstrip('.')}" if fix else ""
    return Sentence(text=f"it failed because: {cause.rstrip('.')}", detail=helps)


def _describe_review(event: Advised, _: tuple[Command, ...]) -> Sentence | None:
    if event.verdict != "answered":
        return report_setback("the path could not be reviewed", event.detail)
    if event.advice is None:
        return None
    return Sentence(
        text=f"the monitor: {event.advice.says}", tone="doubt", detail=event.advice.problem.replace("_", " ")
    )


def _describe_outline(event: Advised, _: tuple[Command, ...]) -> Sentence:
    if event.verdict == "answered":
        return Sentence(text=f"outline: {'; '.join(event.goals)}", detail=event.detail)
    return report_setback(f"no outline: {event.verdict.replace('_', ' ')}", event.detail)


def _describe_judgement(event: Advised, commands: tuple[Command, ...]) -> Sentence:
    if event.verdict != "answered":
        return report_setback("progress on the outline could not be judged", event.detail)
    outline = next((command.outline for command in commands if isinstance(command, MakePlan | Advise)), None)
    text = _describe_outline_progress(outline) if outline else f"goal {event.current} of the outline"
    if not event.evidence:
        return Sentence(text=f"{text}, without evidence", tone="doubt", detail=event.detail)
    return Sentence(text=text, detail=f"seen: {event.evidence}")


def _describe_outline_progress(outline: Outline) -> str:
    """How many goals of the outline are finished, and the next one."""
    done, goals = outline.finished, outline.goals
    following = f", next: {goals[done].says}" if done < len(goals) else ""
    return f"{done} of {pluralize(len(goals), 'goal')} done{following}"


_ADVICE: dict[Adviser, Callable[[Advised, tuple[Command, ...]], Sentence | None]] = {
    "reflector": _describe_reflection,
    "monitor": _describe_review,
    "outliner": _describe_outline,
    "judge": _describe_judgement,
}
