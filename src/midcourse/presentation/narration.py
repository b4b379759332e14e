"""Describes the events of a run in sentences: one for each turn, for live views, logs and `show`, and one for each row of the audit log."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from midcourse.domain import commands, events
from midcourse.domain.outline import Outline
from midcourse.domain.plan import NOT_SENT, REPLAN, PlanVersion, Step
from midcourse.presentation.vocabulary import (
    CAUSES,
    describe_step,
    format_argument,
    format_cost,
    format_seconds,
    pluralize,
)

Tone: TypeAlias = Literal["good", "bad", "doubt", "ask", "plain"]

OutsideEvent: TypeAlias = (
    events.ApprovalDecided
    | events.CancelAsked
    | events.Finished
    | events.Guided
    | events.PauseAsked
    | events.PersonAsked
    | events.Recorded
    | events.Resumed
    | events.ResumeAsked
    | events.Started
    | events.TakenOver
    | events.TimerFired
)
"""Events that do not answer a command that observes the world, plans or acts."""


@dataclass(frozen=True, kw_only=True)
class Sentence:
    text: str
    tone: Tone = "plain"
    detail: str = ""
    """Shown after the text; left out if the line is too narrow."""


def report_setback(text: str, detail: str = "") -> Sentence:
    """Make a sentence with the tone `bad`."""
    return Sentence(text=text, tone="bad", detail=detail)


@dataclass(frozen=True, kw_only=True)
class LogLine:
    """What happened in one turn."""

    at: float
    text: str
    tone: Tone = "plain"


class Narrator:
    """Describes the turns of a run. It needs all turns in order, because an answer names its command only by id."""

    def __init__(self) -> None:
        self._commands: dict[int, commands.Command] = {}
        self._plans: dict[int, PlanVersion] = {}
        self._latest: commands.Command | None = None

    def add_plan(self, plan: PlanVersion) -> None:
        """Add a plan, so that its steps can be described. Call this before the turn in which it was made."""
        self._plans[plan.version] = plan

    def add_commands(self, issued: Iterable[commands.Command]) -> None:
        """Add commands that were pending before the first turn: a fork begins in the middle."""
        for command in issued:
            self._commands[command.id] = command
            self._latest = self._latest if isinstance(command, commands.Wait | commands.Record) else command

    def _describe_place(self) -> str:
        """The command that was pending when the previous process ended, to append to a sentence."""
        match self._latest:
            case commands.Act() | commands.Verify() as command:
                plan, index = self._plans.get(command.version), command.index
                words = f" ({describe_step(plan.steps[index])})" if plan and index < len(plan.steps) else ""
                return f" in step {index + 1} of plan {command.version}{words}"
            case commands.MakePlan() as command:
                return f" while plan {command.version} was made"
            case commands.AskPerson():
                return " at a question"
            case _:
                return ""

    def new_plan_version(self, event: events.Event) -> int:
        """The version of the plan that arrived with this event, or 0."""
        match event:
            case events.Planned():
                drafted = event.verdict == "steps" and bool(event.steps)
            case events.TryPlanned() | events.RevertPlanned():
                drafted = event.step is not None
            case _:
                return 0
        command = self._commands.get(event.answers)
        return (
            command.version
            if drafted and isinstance(command, commands.MakePlan | commands.PlanTry | commands.PlanRevert)
            else 0
        )

    def describe(self, event: events.Event, issued: tuple[commands.Command, ...]) -> LogLine | None:
        sentence = self._describe_answer(event, issued)
        self.add_commands(issued)
        if sentence is None:
            return None
        detail = f" ({sentence.detail})" if sentence.detail else ""
        return LogLine(at=event.at, text=sentence.text + _describe_next(issued) + detail, tone=sentence.tone)

    def _describe_answer(self, event: events.Event, issued: tuple[commands.Command, ...]) -> Sentence | None:
        """Describe an answer to a command. `_describe_outside` describes what people and the process do."""
        match event:
            case events.WorldOpened():
                return _describe_opening(event)
            case events.Postponed():
                return report_setback("put off: the database cannot be reached", event.detail)
            case events.Observed():
                return _describe_look(event)
            case events.Planned():
                return self._describe_plan(event, issued)
            case events.Advised():
                return _describe_advice(event, issued)
            case events.ClosenessJudged():
                return _describe_closeness(event)
            case events.Acted():
                return self._describe_act(event, issued)
            case events.Verified():
                return self._describe_verification(event, issued)
            case events.TryPlanned() if event.step is None:
                return report_setback(f"no try was planned: {event.verdict.replace('_', ' ')}", event.detail)
            case events.TryPlanned() | events.RevertPlanned():
                return None
            case events.DoneChecked():
                return _describe_check(event)
            case _:
                return self._describe_outside(event, issued)

    def _describe_outside(self, event: OutsideEvent, issued: tuple[commands.Command, ...]) -> Sentence | None:
        match event:
            case events.ApprovalDecided():
                return _describe_decision(event)
            case events.TimerFired():
                return report_setback("no answer in time") if _has_finish(issued) else None
            case events.Resumed() if event.world == "kept":
                return Sentence(text=f"picked up again{self._describe_place()}; the world is as it was")
            case events.Resumed():
                return Sentence(
                    text=f"picked up again{self._describe_place()}; the world had to be opened again", tone="doubt"
                )
            case events.PauseAsked():
                return Sentence(text="a pause was asked for", tone="ask")
            case events.ResumeAsked():
                return Sentence(text="continuing")
            case events.CancelAsked():
                return report_setback("a cancel was asked for")
            case events.Guided():
                return Sentence(text=f"guidance: {event.text}", tone="ask")
            case events.TakenOver():
                return Sentence(text=f"{event.by} {describe_taking_over(event)}", tone="ask")
            case events.Started() | events.PersonAsked() | events.Recorded() | events.Finished():
                return None

    def _describe_plan(self, event: events.Planned, issued: tuple[commands.Command, ...]) -> Sentence:
        match event.verdict:
            case "done" if event.reused:
                return Sentence(text="here the task was done before", detail=event.detail)
            case "done":
                return Sentence(text="the planner says that the task is done")
            case "ask":
                return Sentence(text=f"the planner asks: {event.detail}", tone="ask")
            case "transport":
                return report_setback("the planner could not be reached", event.detail)
            case "garbage":
                return report_setback("the planner's answer cannot be used", event.detail)
            case "impossible" | "gave_up" | "refused" | "rejected":
                return report_setback(f"the planner's answer: {event.verdict.replace('_', ' ')}", event.detail)
            case "steps":
                pass
        refused = _find_refusal(issued)
        asked = self._commands.get(event.answers)
        if refused:
            return report_setback("the plan was refused", refused)
        if not event.steps or not isinstance(asked, commands.MakePlan):
            return report_setback("the planner sent no steps", event.detail)
        acts = sum(step.place != "replan" for step in event.steps)
        repairs = f", {pluralize(event.repairs, 'repair')}" if event.repairs else ""
        text = f"plan {asked.version} ({CAUSES[asked.cause]}): {pluralize(acts, 'step')}{repairs}"
        fixes = [describe_step(step) for step in self._list_acts(asked.version)] if asked.cause == "error" else []
        return Sentence(text=text, detail=event.detail if event.reused else ", ".join(fixes))

    def _list_acts(self, version: int) -> tuple[Step, ...]:
        """The acts of a plan."""
        plan = self._plans.get(version)
        return tuple(step for step in plan.steps if step.zone != REPLAN) if plan else ()

    def _describe_act(self, event: events.Acted, issued: tuple[commands.Command, ...]) -> Sentence | None:
        sentence = self._describe_outcome(event, issued)
        if sentence is None or not event.dropped:
            return sentence
        return replace(sentence, detail="; ".join(filter(None, (sentence.detail, *event.dropped))))

    def _describe_outcome(self, event: events.Acted, issued: tuple[commands.Command, ...]) -> Sentence | None:
        words = self._describe_command(event.answers)
        if event.reason == "held":
            asked = any(isinstance(command, commands.AskPerson) for command in issued)
            return (
                Sentence(text=f"held: {words}", tone="ask", detail="not approved as it would be sent")
                if asked
                else None
            )
        if event.status == "unknown":
            return Sentence(text=f"outcome unknown: {words}", tone="doubt", detail=event.detail or event.reason)
        if event.status == "ok":
            back = any(isinstance(command, commands.PlanTry) and _is_reverted(command) for command in issued)
            more = (
                "; the screen is as it was before"
                if back
                else "; what its page would send waits"
                if event.unmet.startswith(NOT_SENT)
                else "; it led elsewhere than expected"
                if event.unmet
                else ""
            )
            return Sentence(text=f"done: {words}{more}", tone="good", detail=event.unmet)
        return report_setback(f"failed: {words}, {event.reason or event.status}", event.detail)

    def _describe_verification(self, event: events.Verified, issued: tuple[commands.Command, ...]) -> Sentence | None:
        words = self._describe_command(event.answers)
        command = self._commands.get(event.answers)
        if isinstance(command, commands.Verify) and command.question:
            if event.verdict in ("undecided", "too_early") or not issued:
                return None  # the question stays open, or an answer was first
            words = f"{words}; the question is withdrawn"
        match event.verdict:
            case "happened":
                if event.evidence == "model":
                    seen = f"seen by the model, not verified: {words}"
                    return Sentence(text=seen, tone="doubt", detail=event.detail)
                return Sentence(text=f"it did happen: {words}", tone="good", detail=event.evidence)
            case "did_not_happen":
                because = event.detail if event.evidence == "rule" else event.evidence
                return report_setback(f"it did not happen: {words}", because)
            case "too_early":
                return Sentence(text=f"too early to tell whether it happened: {words}", tone="doubt")
            case "undecided" if any(isinstance(each, commands.Verify) and each.reads for each in issued):
                return None  # a model looks first
            case "undecided":
                return Sentence(text=f"still unknown: {words}", tone="doubt", detail=event.detail)

    def _describe_command(self, command_id: int) -> str:
        command = self._commands.get(command_id)
        if not isinstance(command, commands.Act | commands.Verify):
            return "a step"
        plan = self._plans.get(command.version)
        if plan is None or command.index >= len(plan.steps):
            return f"step {command.index + 1} of plan {command.version}"
        words = describe_step(plan.steps[command.index])
        if plan.cause != "detour":
            return words
        step = plan.steps[command.index]
        given = "".join(f" {format_argument(value)}" for _, value in step.arguments) if words == step.skill else ""
        return f"{plan.why}, {words}{given}"


def _is_reverted(command: commands.PlanTry) -> bool:
    """Whether the latest try has been reverted."""
    return bool(command.tries) and command.tries[-1].reverted


def _find_refusal(issued: tuple[commands.Command, ...]) -> str:
    """Why the new plan was refused; empty if it was not."""
    for command in issued:
        if isinstance(command, commands.MakePlan) and command.refused:
            return command.refused
        if isinstance(command, commands.Finish) and command.reason == "replan_no_change":
            return command.detail
    return ""


def _describe_decision(event: events.ApprovalDecided) -> Sentence:
    match event.verdict:
        case "approved":
            return Sentence(text=f"approved {'once' if event.once else 'for this run'}", tone="good", detail=event.by)
        case "changed":
            return Sentence(text="approved with changes", tone="ask", detail=event.by)
        case "take_over":
            return Sentence(text="a person takes over", tone="ask", detail=event.by)
        case "rejected" if event.guidance:
            return Sentence(text=f"rejected, with guidance: {event.guidance}", tone="ask", detail=event.by)
        case "rejected":
            return report_setback("rejected", event.by)
        case "happened":
            return Sentence(text="a person says that it happened", tone="good", detail=event.by)
        case "did_not_happen":
            return report_setback("a person says that it did not happen", event.by)
        case "go_on":
            words = f"a person says to continue: {event.guidance}" if event.guidance else "a person says to continue"
            return Sentence(text=words, tone="ask", detail=event.by)
        case "stop":
            return report_setback("stopped", event.by)
        case "send_again":
            return Sentence(text="a person says to send it again", tone="ask", detail=event.by)
        case "spend_more":
            return Sentence(text=f"a person allows {_describe_more(event)} more", tone="good", detail=event.by)


def _describe_more(event: events.ApprovalDecided) -> str:
    return format_cost(event.more) if event.more else "nothing"


def _describe_closeness(event: events.ClosenessJudged) -> Sentence:
    if event.verdict != "judged":
        return report_setback("the distance could not be judged", event.detail)
    if event.found:
        return Sentence(text="in reach now", tone="good", detail=event.detail)
    return Sentence(text=f"closeness {event.closeness:.1f} of 10", detail=event.detail)


def _describe_opening(event: events.WorldOpened) -> Sentence:
    if event.opened:
        return Sentence(text="the world is open")
    if event.full:
        return Sentence(text="waits for room at the world's host", detail=event.detail)
    return report_setback("the world's host is away" if event.away else "the world cannot be opened", event.detail)


def _describe_look(event: events.Observed) -> Sentence:
    if event.seen is not None:
        return Sentence(text=f"looked: '{event.seen.surface}', {pluralize(event.seen.zones, 'zone')}")
    if event.reason == "world_lost":
        return report_setback("the world was lost", event.detail)
    return report_setback(f"the look failed: {event.reason}", event.detail)


def _describe_check(event: events.DoneChecked) -> Sentence:
    match event.verdict:
        case "met":
            return Sentence(text=f"verified: {event.detail}", tone="good")
        case "unmet":
            return report_setback("not done yet", event.detail)
        case "undecided":
            return Sentence(text="not verified", tone="doubt", detail=event.detail)
        case "too_early":
            return Sentence(text="too early to tell whether the task is done", tone="doubt")
        case "world_lost":
            return Sentence(text="the world was lost before the task could be checked", tone="doubt")


def _has_finish(issued: tuple[commands.Command, ...]) -> bool:
    return any(isinstance(command, commands.Finish) for command in issued)


def _describe_next(issued: tuple[commands.Command, ...]) -> str:
    """What the run does next, where that is not obvious."""
    if any(isinstance(command, commands.Record) for command in issued):
        return "; paused"
    if any(isinstance(command, commands.AskPerson) for command in issued):
        return "; a person is asked"
    for command in issued:
        match command:
            case commands.Wait():
                return f"; trying again in {format_seconds(command.seconds)}"
            case commands.Verify():
                return "; checking"
            case commands.PlanTry() if command.hint:
                return f"; exploring: {command.hint.name}"
            case commands.PlanTry() if command.undo:
                return "; asking for a way back"
            case commands.PlanTry() if not command.tries:
                return "; looking for a way"
            case commands.PlanRevert():
                return "; a dead end, stepping back"
            case commands.MakePlan() if command.refused:
                return "; asking the planner once more"
            case commands.MakePlan() if command.cause in ("error", "reopened", "guided", "amended", "taken_over"):
                return "; planning again"
            case commands.OpenWorld() if command.id > 1:
                return "; opening it again"
            case _:
                pass
    return ""


# --- advisers


def _describe_advice(event: events.Advised, issued: tuple[commands.Command, ...]) -> Sentence | None:
    """Why a step failed, what a monitor noticed, or the outline and its progress; None if a monitor objects to nothing."""
    answered = event.verdict == "answered"
    match event.role:
        case "reflector":
            if event.reflection is None:
                return report_setback(f"no explanation: {event.verdict}", event.detail)
            cause, fix = event.reflection.analysis.root_cause, event.reflection.fix.message
            helps = f"may help: {fix.rstrip('.')}" if fix else ""
            return Sentence(text=f"it failed because: {cause.rstrip('.')}", detail=helps)
        case "monitor" if not answered:
            return report_setback("the path could not be reviewed", event.detail)
        case "monitor":
            if event.advice is None:
                return None
            problem = event.advice.problem.replace("_", " ")
            return Sentence(text=f"the monitor: {event.advice.says}", tone="doubt", detail=problem)
        case "outliner" if answered:
            return Sentence(text=f"outline: {'; '.join(event.goals)}", detail=event.detail)
        case "outliner":
            return report_setback(f"no outline: {event.verdict.replace('_', ' ')}", event.detail)
        case "judge" if not answered:
            return report_setback("progress on the outline could not be judged", event.detail)
        case "judge":
            asking = (one for one in issued if isinstance(one, commands.MakePlan | commands.Advise))
            outline = next((one.outline for one in asking), None)
            text = _describe_outline_progress(outline) if outline else f"goal {event.current} of the outline"
            if not event.evidence:
                return Sentence(text=f"{text}, without evidence", tone="doubt", detail=event.detail)
            return Sentence(text=text, detail=f"seen: {event.evidence}")


def _describe_outline_progress(outline: Outline) -> str:
    """How many goals of the outline are finished, and the next one."""
    done, goals = outline.finished, outline.goals
    following = f", next: {goals[done].says}" if done < len(goals) else ""
    return f"{done} of {pluralize(len(goals), 'goal')} done{following}"


# --- the audit log: what people decided


DECISIONS = {
    "approved": "approved question {question}",
    "rejected": "rejected question {question}",
    "changed": "approved question {question} with changes",
    "take_over": "took over at question {question}",
    "go_on": "answered question {question}: continue",
    "happened": "answered question {question}: it happened",
    "did_not_happen": "answered question {question}: it did not happen",
    "stop": "stopped at question {question}",
    "send_again": "answered question {question}: send it again",
    "spend_more": "allowed {more} more at question {question}",
}
REQUESTS = {"pause_asked": "asked for a pause", "resume_asked": "resumed it", "cancel_asked": "cancelled it"}


def describe_taking_over(event: events.TakenOver) -> str:
    """What a person did in the world, without the person's name."""
    return f"acted in place of the run: {'; '.join(event.did)}" if event.did else "took over the world of the run"


def describe_input(event: events.Event) -> str:
    """What a person did, as a sentence."""
    match event:
        case events.ApprovalDecided():
            who = event.by or "a person"
            what = DECISIONS[event.verdict].format(question=event.question, more=_describe_more(event))
            words = f": {event.guidance}" if event.guidance else ""
            return f"{who} {what}{words}"
        case events.Guided():
            return f"a person advised: {event.text}"
        case events.TakenOver():
            return f"{event.by} {describe_taking_over(event)}"
        case _:
            return f"a person {REQUESTS[event.kind]}"
