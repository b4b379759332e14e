"""What happened, one sentence a turn: for the live view, for logs, and for `show` afterwards."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.cli.view.vocabulary import CAUSES, seconds, several, step_words
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
    TimerFired,
    TryPlanned,
    Verified,
    WorldOpened,
)
from midcourse.domain.move import Adviser
from midcourse.domain.plan import PlanVersion

Tone: TypeAlias = Literal["good", "bad", "doubt", "ask", "plain"]


@dataclass(frozen=True, kw_only=True)
class Happening:
    at: float
    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, kw_only=True)
class Said:
    text: str
    tone: Tone = "plain"
    detail: str = ""
    """Comes last: what a narrow line can do without."""


class Teller:
    """Needs every turn of a run in order, because an answer only names the command that it answers."""

    def __init__(self) -> None:
        self._commands: dict[int, Command] = {}
        self._plans: dict[int, PlanVersion] = {}
        self._latest: Command | None = None

    def learn(self, plan: PlanVersion) -> None:
        """A plan's words. Told before the turn in which it was made."""
        self._plans[plan.version] = plan

    def expect(self, commands: Iterable[Command]) -> None:
        """Commands that were under way before the first turn: a fork begins in the middle."""
        for command in commands:
            self._commands[command.id] = command
            self._latest = self._latest if isinstance(command, Wait | Record) else command

    def _where(self) -> str:
        """What was under way when the process before this one ended, in words that follow others."""
        match self._latest:
            case Act() | Verify() as command:
                plan, index = self._plans.get(command.version), command.index
                words = f" ({step_words(plan.steps[index])})" if plan and index < len(plan.steps) else ""
                return f" in step {index + 1} of plan {command.version}{words}"
            case MakePlan() as command:
                return f" while plan {command.version} was made"
            case AskPerson():
                return " at a question"
            case _:
                return ""

    def made(self, event: Event) -> int:
        """The plan version that this event brought, or 0."""
        match event:
            case Planned():
                drafted = event.verdict == "steps" and bool(event.steps)
            case TryPlanned() | RevertPlanned():
                drafted = event.step is not None
            case _:
                return 0
        command = self._commands.get(event.answers)
        return command.version if drafted and isinstance(command, MakePlan | PlanTry | PlanRevert) else 0

    def tell(self, event: Event, commands: tuple[Command, ...]) -> Happening | None:
        said = self._say(event, commands)
        self.expect(commands)
        if said is None:
            return None
        detail = f" ({said.detail})" if said.detail else ""
        return Happening(at=event.at, text=said.text + _then(commands) + detail, tone=said.tone)

    def _say(self, event: Event, commands: tuple[Command, ...]) -> Said | None:
        match event:
            case WorldOpened():
                return _world_opened(event)
            case Postponed():
                return _bad("put off: the database cannot be reached", event.detail)
            case Observed():
                return _observed(event)
            case Planned():
                return self._planned(event, commands)
            case Advised():
                return _ADVICE[event.role](event)
            case Acted():
                return self._acted(event, commands)
            case Verified():
                return self._verified(event)
            case TryPlanned():
                return (
                    None if event.step else _bad(f"no try came of it: {event.verdict.replace('_', ' ')}", event.detail)
                )
            case ClosenessJudged():
                return _closeness(event)
            case RevertPlanned():
                return None
            case DoneChecked():
                return _done_checked(event)
            case ApprovalDecided():
                return _decided(event)
            case TimerFired():
                return _bad("nobody answered in time") if _ends(commands) else None
            case Resumed() if event.world == "kept":
                return Said(text=f"picked up again{self._where()}; the world is as it was")
            case Resumed():
                return Said(text=f"picked up again{self._where()}; the world had to be opened again", tone="doubt")
            case PauseAsked():
                return Said(text="a pause was asked for", tone="ask")
            case ResumeAsked():
                return Said(text="going on")
            case CancelAsked():
                return _bad("a cancel was asked for")
            case Guided():
                return Said(text=f"guidance: {event.text}", tone="ask")
            case Started() | PersonAsked() | Recorded() | Finished():
                return None

    def _planned(self, event: Planned, commands: tuple[Command, ...]) -> Said:
        match event.verdict:
            case "done" if event.reused:
                return Said(text="here the task was done before", tone="good", detail=event.detail)
            case "done":
                return Said(text="the planner says that the task is done", tone="good")
            case "transport":
                return _bad("the planner could not be reached", event.detail)
            case "impossible" | "gave_up" | "refused" | "rejected" | "garbage":
                return _bad(f"the planner's answer: {event.verdict.replace('_', ' ')}", event.detail)
            case "steps":
                pass
        refused = _refusal(commands)
        asked = self._commands.get(event.answers)
        if refused:
            return _bad("the plan was refused", refused)
        if not event.steps or not isinstance(asked, MakePlan):
            return _bad("the planner sent no steps", event.detail)
        acts = sum(step.place != "replan" for step in event.steps)
        repairs = f", {several(event.repairs, 'repair')}" if event.repairs else ""
        text = f"plan {asked.version} ({CAUSES[asked.cause]}): {several(acts, 'step')}{repairs}"
        return Said(text=text, detail=event.detail if event.reused else "")

    def _acted(self, event: Acted, commands: tuple[Command, ...]) -> Said | None:
        words = self._words(event.answers)
        if event.reason == "held":
            asked = any(isinstance(command, AskPerson) for command in commands)
            return Said(text=f"held: {words}", tone="ask", detail="not approved as it would be sent") if asked else None
        if event.status == "unknown":
            return Said(text=f"outcome unknown: {words}", tone="doubt", detail=event.detail or event.reason)
        if event.status == "ok":
            return Said(text=f"done: {words}", tone="good")
        return _bad(f"failed: {words}, {event.reason or event.status}", event.detail)

    def _verified(self, event: Verified) -> Said:
        words = self._words(event.answers)
        match event.verdict:
            case "happened":
                return Said(text=f"it did happen: {words}", tone="good", detail=event.evidence)
            case "did_not_happen":
                return _bad(f"it did not happen: {words}", event.evidence)
            case "too_early":
                return Said(text=f"too early to tell whether it happened: {words}", tone="doubt")
            case "undecided":
                return Said(text=f"still unknown: {words}", tone="doubt", detail=event.detail)

    def _words(self, command_id: int) -> str:
        command = self._commands.get(command_id)
        if not isinstance(command, Act | Verify):
            return "a step"
        plan = self._plans.get(command.version)
        if plan is None or command.index >= len(plan.steps):
            return f"step {command.index + 1} of plan {command.version}"
        words = step_words(plan.steps[command.index])
        return f"{plan.why}, {words}" if plan.cause == "detour" else words


def _bad(text: str, detail: str = "") -> Said:
    return Said(text=text, tone="bad", detail=detail)


def _refusal(commands: tuple[Command, ...]) -> str:
    """Why the plan that just came was turned down, or nothing."""
    for command in commands:
        if isinstance(command, MakePlan) and command.refused:
            return command.refused
        if isinstance(command, Finish) and command.reason == "replan_no_change":
            return command.detail
    return ""


def _decided(event: ApprovalDecided) -> Said:
    match event.verdict:
        case "approved":
            return Said(text=f"approved {'once' if event.once else 'for this run'}", tone="good", detail=event.by)
        case "changed":
            return Said(text="approved with changes", tone="ask", detail=event.by)
        case "take_over":
            return Said(text="a person takes over", tone="ask", detail=event.by)
        case "rejected" if event.guidance:
            return Said(text=f"rejected, with guidance: {event.guidance}", tone="ask", detail=event.by)
        case "rejected":
            return _bad("rejected", event.by)
        case "happened":
            return Said(text="a person says that it happened", tone="good", detail=event.by)
        case "did_not_happen":
            return _bad("a person says that it did not happen", event.by)
        case "go_on":
            words = f"a person says to go on: {event.guidance}" if event.guidance else "a person says to go on"
            return Said(text=words, tone="ask", detail=event.by)
        case "stop":
            return _bad("stopped", event.by)
        case "send_again":
            return Said(text="a person says to send it again", tone="ask", detail=event.by)


def _reflected(event: Advised) -> Said:
    if event.reflection is None:
        return _bad(f"no explanation: {event.verdict}", event.detail)
    return Said(text=f"it failed because: {event.reflection.analysis.root_cause}", detail=event.reflection.fix.message)


def _reviewed(event: Advised) -> Said | None:
    if event.verdict != "answered":
        return _bad("the path could not be reviewed", event.detail)
    if event.advice is None:
        return None
    return Said(text=f"the monitor: {event.advice.says}", tone="doubt", detail=event.advice.problem.replace("_", " "))


def _outlined(event: Advised) -> Said:
    if event.verdict == "answered":
        return Said(text=f"outline: {'; '.join(event.goals)}", detail=event.detail)
    return _bad(f"no outline: {event.verdict.replace('_', ' ')}", event.detail)


def _progress(event: Advised) -> Said:
    if event.verdict != "answered":
        return _bad("progress on the outline could not be judged", event.detail)
    if not event.evidence:
        return Said(text=f"goal {event.current} of the outline, without evidence", tone="doubt", detail=event.detail)
    return Said(text=f"goal {event.current} of the outline", detail=f"seen: {event.evidence}")


_ADVICE: dict[Adviser, Callable[[Advised], Said | None]] = {
    "reflector": _reflected,
    "monitor": _reviewed,
    "outliner": _outlined,
    "judge": _progress,
}


def _closeness(event: ClosenessJudged) -> Said:
    if event.verdict != "judged":
        return _bad("nobody could judge how near it is", event.detail)
    if event.found:
        return Said(text="in reach now", tone="good", detail=event.detail)
    return Said(text=f"closeness {event.closeness:.1f} of 10", detail=event.detail)


def _world_opened(event: WorldOpened) -> Said:
    if event.opened:
        return Said(text="the world is open")
    return _bad("the world's host is away" if event.away else "the world cannot be opened", event.detail)


def _observed(event: Observed) -> Said:
    if event.seen is not None:
        return Said(text=f"looked: '{event.seen.surface}', {several(event.seen.zones, 'zone')}")
    if event.reason == "world_lost":
        return _bad("the world was lost", event.detail)
    return _bad(f"the look failed: {event.reason}", event.detail)


def _done_checked(event: DoneChecked) -> Said:
    match event.verdict:
        case "met":
            return Said(text=f"verified: {event.detail}", tone="good")
        case "unmet":
            return _bad("not done yet", event.detail)
        case "undecided":
            return Said(text="not verified", tone="doubt", detail=event.detail)
        case "too_early":
            return Said(text="too early to tell whether the task is done", tone="doubt")


def _ends(commands: tuple[Command, ...]) -> bool:
    return any(isinstance(command, Finish) for command in commands)


def _then(commands: tuple[Command, ...]) -> str:
    """What is being done about it, where that is not plain."""
    if any(isinstance(command, Record) for command in commands):
        return "; paused"
    if any(isinstance(command, AskPerson) for command in commands):
        return "; a person is asked"
    for command in commands:
        match command:
            case Wait():
                return f"; trying again in {seconds(command.seconds)}"
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
