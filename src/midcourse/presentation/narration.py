"""Describes the events of a run in sentences, one for each turn, for live views, logs and `show`."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from midcourse.domain.command import (
    Act,
    AskPerson,
    Command,
    Finish,
    MakePlan,
    OpenWorld,
    PlanRevert,
    PlanTry,
    Record,
    Verify,
    Wait,
)
from midcourse.domain.event import (
    Acted,
    Advised,
    ApprovalDecided,
    CancelAsked,
    ClosenessJudged,
    DoneChecked,
    Event,
    Finished,
    Guided,
    Observed,
    PauseAsked,
    PersonAsked,
    Planned,
    Postponed,
    Recorded,
    ResumeAsked,
    Resumed,
    RevertPlanned,
    Started,
    TakenOver,
    TimerFired,
    TryPlanned,
    Verified,
    WorldOpened,
)
from midcourse.domain.plan import REPLAN, PlanVersion, Step
from midcourse.presentation.advice import describe_advice
from midcourse.presentation.audit import describe_taking_over
from midcourse.presentation.sentence import Sentence, report_setback
from midcourse.presentation.sentence import Tone as Tone
from midcourse.presentation.vocabulary import CAUSES, describe_step, format_argument, format_seconds, pluralize

OutsideEvent: TypeAlias = (
    ApprovalDecided
    | CancelAsked
    | Finished
    | Guided
    | PauseAsked
    | PersonAsked
    | Recorded
    | Resumed
    | ResumeAsked
    | Started
    | TakenOver
    | TimerFired
)
"""Events that do not answer a command that observes the world, plans or acts."""


@dataclass(frozen=True, kw_only=True)
class LogLine:
    """What happened in one turn."""

    at: float
    text: str
    tone: Tone = "plain"


class Narrator:
    """Describes the turns of a run. It needs all turns in order, because an answer names its command only by id."""

    def __init__(self) -> None:
        self._commands: dict[int, Command] = {}
        self._plans: dict[int, PlanVersion] = {}
        self._latest: Command | None = None

    def add_plan(self, plan: PlanVersion) -> None:
        """Add a plan, so that its steps can be described. Call this before the turn in which it was made."""
        self._plans[plan.version] = plan

    def add_commands(self, commands: Iterable[Command]) -> None:
        """Add commands that were pending before the first turn: a fork begins in the middle."""
        for command in commands:
            self._commands[command.id] = command
            self._latest = self._latest if isinstance(command, Wait | Record) else command

    def _describe_place(self) -> str:
        """The command that was pending when the previous process ended, to append to a sentence."""
        match self._latest:
            case Act() | Verify() as command:
                plan, index = self._plans.get(command.version), command.index
                words = f" ({describe_step(plan.steps[index])})" if plan and index < len(plan.steps) else ""
                return f" in step {index + 1} of plan {command.version}{words}"
            case MakePlan() as command:
                return f" while plan {command.version} was made"
            case AskPerson():
                return " at a question"
            case _:
                return ""

    def new_plan_version(self, event: Event) -> int:
        """The version of the plan that arrived with this event, or 0."""
        match event:
            case Planned():
                drafted = event.verdict == "steps" and bool(event.steps)
            case TryPlanned() | RevertPlanned():
                drafted = event.step is not None
            case _:
                return 0
        command = self._commands.get(event.answers)
        return command.version if drafted and isinstance(command, MakePlan | PlanTry | PlanRevert) else 0

    def describe(self, event: Event, commands: tuple[Command, ...]) -> LogLine | None:
        sentence = self._describe_answer(event, commands)
        self.add_commands(commands)
        if sentence is None:
            return None
        detail = f" ({sentence.detail})" if sentence.detail else ""
        return LogLine(at=event.at, text=sentence.text + _describe_next(commands) + detail, tone=sentence.tone)

    def _describe_answer(self, event: Event, commands: tuple[Command, ...]) -> Sentence | None:
        """Describe an answer to a command. `_describe_outside` describes what people and the process do."""
        match event:
            case WorldOpened():
                return _describe_opening(event)
            case Postponed():
                return report_setback("put off: the database cannot be reached", event.detail)
            case Observed():
                return _describe_look(event)
            case Planned():
                return self._describe_plan(event, commands)
            case Advised():
                return describe_advice(event, commands)
            case ClosenessJudged():
                return _describe_closeness(event)
            case Acted():
                return self._describe_act(event, commands)
            case Verified():
                return self._describe_verification(event, commands)
            case TryPlanned() if event.step is None:
                return report_setback(f"no try was planned: {event.verdict.replace('_', ' ')}", event.detail)
            case TryPlanned() | RevertPlanned():
                return None
            case DoneChecked():
                return _describe_check(event)
            case _:
                return self._describe_outside(event, commands)

    def _describe_outside(self, event: OutsideEvent, commands: tuple[Command, ...]) -> Sentence | None:
        match event:
            case ApprovalDecided():
                return _describe_decision(event)
            case TimerFired():
                return report_setback("no answer in time") if _has_finish(commands) else None
            case Resumed() if event.world == "kept":
                return Sentence(text=f"picked up again{self._describe_place()}; the world is as it was")
            case Resumed():
                return Sentence(
                    text=f"picked up again{self._describe_place()}; the world had to be opened again", tone="doubt"
                )
            case PauseAsked():
                return Sentence(text="a pause was asked for", tone="ask")
            case ResumeAsked():
                return Sentence(text="continuing")
            case CancelAsked():
                return report_setback("a cancel was asked for")
            case Guided():
                return Sentence(text=f"guidance: {event.text}", tone="ask")
            case TakenOver():
                return Sentence(text=f"{event.by} {describe_taking_over(event)}", tone="ask")
            case Started() | PersonAsked() | Recorded() | Finished():
                return None

    def _describe_plan(self, event: Planned, commands: tuple[Command, ...]) -> Sentence:
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
        refused = _find_refusal(commands)
        asked = self._commands.get(event.answers)
        if refused:
            return report_setback("the plan was refused", refused)
        if not event.steps or not isinstance(asked, MakePlan):
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

    def _describe_act(self, event: Acted, commands: tuple[Command, ...]) -> Sentence | None:
        sentence = self._describe_outcome(event, commands)
        if sentence is None or not event.dropped:
            return sentence
        return replace(sentence, detail="; ".join(filter(None, (sentence.detail, *event.dropped))))

    def _describe_outcome(self, event: Acted, commands: tuple[Command, ...]) -> Sentence | None:
        words = self._describe_command(event.answers)
        if event.reason == "held":
            asked = any(isinstance(command, AskPerson) for command in commands)
            return (
                Sentence(text=f"held: {words}", tone="ask", detail="not approved as it would be sent")
                if asked
                else None
            )
        if event.status == "unknown":
            return Sentence(text=f"outcome unknown: {words}", tone="doubt", detail=event.detail or event.reason)
        if event.status == "ok":
            back = any(isinstance(command, PlanTry) and _is_reverted(command) for command in commands)
            return Sentence(text=f"done: {words}{'; the screen is as it was before' if back else ''}", tone="good")
        return report_setback(f"failed: {words}, {event.reason or event.status}", event.detail)

    def _describe_verification(self, event: Verified, commands: tuple[Command, ...]) -> Sentence | None:
        words = self._describe_command(event.answers)
        command = self._commands.get(event.answers)
        if isinstance(command, Verify) and command.question:
            if event.verdict in ("undecided", "too_early") or not commands:
                return None  # the question stays open, or an answer was first
            words = f"{words}; the question is withdrawn"
        match event.verdict:
            case "happened":
                return Sentence(text=f"it did happen: {words}", tone="good", detail=event.evidence)
            case "did_not_happen":
                because = event.detail if event.evidence == "rule" else event.evidence
                return report_setback(f"it did not happen: {words}", because)
            case "too_early":
                return Sentence(text=f"too early to tell whether it happened: {words}", tone="doubt")
            case "undecided":
                return Sentence(text=f"still unknown: {words}", tone="doubt", detail=event.detail)

    def _describe_command(self, command_id: int) -> str:
        command = self._commands.get(command_id)
        if not isinstance(command, Act | Verify):
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


def _is_reverted(command: PlanTry) -> bool:
    """Whether the latest try has been reverted."""
    return bool(command.tries) and command.tries[-1].reverted


def _find_refusal(commands: tuple[Command, ...]) -> str:
    """Why the new plan was refused; empty if it was not."""
    for command in commands:
        if isinstance(command, MakePlan) and command.refused:
            return command.refused
        if isinstance(command, Finish) and command.reason == "replan_no_change":
            return command.detail
    return ""


def _describe_decision(event: ApprovalDecided) -> Sentence:
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


def _describe_closeness(event: ClosenessJudged) -> Sentence:
    if event.verdict != "judged":
        return report_setback("the distance could not be judged", event.detail)
    if event.found:
        return Sentence(text="in reach now", tone="good", detail=event.detail)
    return Sentence(text=f"closeness {event.closeness:.1f} of 10", detail=event.detail)


def _describe_opening(event: WorldOpened) -> Sentence:
    if event.opened:
        return Sentence(text="the world is open")
    if event.full:
        return Sentence(text="waits for room at the world's host", detail=event.detail)
    return report_setback("the world's host is away" if event.away else "the world cannot be opened", event.detail)


def _describe_look(event: Observed) -> Sentence:
    if event.seen is not None:
        return Sentence(text=f"looked: '{event.seen.surface}', {pluralize(event.seen.zones, 'zone')}")
    if event.reason == "world_lost":
        return report_setback("the world was lost", event.detail)
    return report_setback(f"the look failed: {event.reason}", event.detail)


def _describe_check(event: DoneChecked) -> Sentence:
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


def _has_finish(commands: tuple[Command, ...]) -> bool:
    return any(isinstance(command, Finish) for command in commands)


def _describe_next(commands: tuple[Command, ...]) -> str:
    """What the run does next, where that is not obvious."""
    if any(isinstance(command, Record) for command in commands):
        return "; paused"
    if any(isinstance(command, AskPerson) for command in commands):
        return "; a person is asked"
    for command in commands:
        match command:
            case Wait():
                return f"; trying again in {format_seconds(command.seconds)}"
            case Verify():
                return "; checking"
            case PlanTry() if command.hint:
                return f"; exploring: {command.hint.name}"
            case PlanTry() if command.undo:
                return "; asking for a way back"
            case PlanTry() if not command.tries:
                return "; looking for a way"
            case PlanRevert():
                return "; a dead end, stepping back"
            case MakePlan() if command.refused:
                return "; asking the planner once more"
            case MakePlan() if command.cause in ("error", "reopened", "guided", "amended", "taken_over"):
                return "; planning again"
            case OpenWorld() if command.id > 1:
                return "; opening it again"
            case _:
                pass
    return ""
