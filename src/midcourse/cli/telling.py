"""What happened, one sentence a turn: for the live view, for logs, and for `show` afterwards."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.cli.words import CAUSES, seconds, several, step_words
from midcourse.domain.command import Act, AskPerson, Command, Finish, MakePlan, OpenWorld, Record, Verify, Wait
from midcourse.domain.event import (
    Acted,
    ApprovalDecided,
    CancelAsked,
    DoneChecked,
    Event,
    Finished,
    Guided,
    Observed,
    PauseAsked,
    PersonAsked,
    Planned,
    Recorded,
    ResumeAsked,
    Resumed,
    Started,
    TimerFired,
    Verified,
    WorldOpened,
)
from midcourse.domain.plan import PlanVersion

Tone: TypeAlias = Literal["good", "bad", "doubt", "ask", "plain"]


@dataclass(frozen=True, kw_only=True)
class Happening:
    at: float
    text: str
    tone: Tone = "plain"


class Teller:
    """Needs every turn of a run in order, because an answer only names the command it answers."""

    def __init__(self) -> None:
        self._commands: dict[int, Command] = {}
        self._plans: dict[int, PlanVersion] = {}

    def learn(self, plan: PlanVersion) -> None:
        """A plan's words. Told before the turn in which it was made."""
        self._plans[plan.version] = plan

    def made(self, event: Event) -> int:
        """The plan version that this event brought, or 0."""
        command = self._commands.get(event.answers) if isinstance(event, Planned) else None
        drafted = isinstance(event, Planned) and event.verdict == "steps" and bool(event.steps)
        return command.version if drafted and isinstance(command, MakePlan) else 0

    def tell(self, event: Event, commands: tuple[Command, ...]) -> Happening | None:
        said = self._say(event, commands)
        self._commands.update({command.id: command for command in commands})
        if said is None:
            return None
        text, tone = said
        return Happening(at=event.at, text=text + _then(commands), tone=tone)

    def _say(self, event: Event, commands: tuple[Command, ...]) -> tuple[str, Tone] | None:
        match event:
            case WorldOpened():
                return ("the world is open", "plain") if event.opened else (f"no world: {event.detail}", "bad")
            case Observed():
                return _observed(event)
            case Planned():
                return self._planned(event, commands)
            case Acted():
                return self._acted(event, commands)
            case Verified():
                return self._verified(event)
            case DoneChecked():
                return _done_checked(event)
            case ApprovalDecided():
                return self._decided(event)
            case TimerFired():
                return ("nobody answered in time", "bad") if _ends(commands) else None
            case Resumed():
                kept = event.world == "kept"
                world = "the world is as it was" if kept else "the world had to be opened anew"
                return f"picked up again; {world}", "plain" if kept else "doubt"
            case PauseAsked():
                return "a pause was asked for", "ask"
            case ResumeAsked():
                return "going on", "plain"
            case CancelAsked():
                return "a cancel was asked for", "bad"
            case Guided():
                return f"guidance: {event.text}", "ask"
            case Started() | PersonAsked() | Recorded() | Finished():
                return None

    def _planned(self, event: Planned, commands: tuple[Command, ...]) -> tuple[str, Tone]:
        again = next((c for c in commands if isinstance(c, MakePlan)), None)
        match event.verdict:
            case "done":
                return "the planner says that the task is done", "good"
            case "transport":
                return f"the planner could not be reached: {event.detail}", "bad"
            case "impossible" | "gave_up" | "refused" | "garbage":
                words = event.verdict.replace("_", " ")
                return f"the planner's answer: {words}" + (f", {event.detail}" if event.detail else ""), "bad"
            case "steps":
                pass
        ends = [c for c in commands if isinstance(c, Finish) and c.reason == "replan_no_change"]
        refused = (again.refused if again else "") or (ends[0].detail if ends else "")
        if refused:
            return f"plan refused: {refused}", "bad"
        if not event.steps:
            return "the planner sent no steps", "bad"
        asked = self._commands.get(event.answers)
        if not isinstance(asked, MakePlan):
            return "a plan was made", "plain"
        acts = sum(step.place != "replan" for step in event.steps)
        repairs = f", {several(event.repairs, 'repair')}" if event.repairs else ""
        return f"plan {asked.version} ({CAUSES[asked.cause]}): {several(acts, 'step')}{repairs}", "plain"

    def _acted(self, event: Acted, commands: tuple[Command, ...]) -> tuple[str, Tone] | None:
        words = self._words(event.answers)
        reason = " ".join(part for part in (event.reason, f"({event.detail})" if event.detail else "") if part)
        if event.reason == "held":
            asked = any(isinstance(command, AskPerson) for command in commands)
            return (f"held: {words}, because what it would send has not been approved", "ask") if asked else None
        if event.status == "unknown":
            return f"outcome unknown: {words}, {reason or 'nothing shows whether it happened'}", "doubt"
        if event.status == "ok":
            return f"done: {words}", "good"
        return f"failed: {words}, {reason or event.status}", "bad"

    def _verified(self, event: Verified) -> tuple[str, Tone]:
        words = self._words(event.answers)
        match event.verdict:
            case "happened":
                return f"it did happen: {words} ({event.evidence})", "good"
            case "did_not_happen":
                return f"it did not happen: {words} ({event.evidence})", "bad"
            case "too_early":
                return f"too early to tell whether it happened: {words}", "doubt"
            case "undecided":
                return f"still unknown: {words}, {event.detail}", "doubt"

    def _decided(self, event: ApprovalDecided) -> tuple[str, Tone]:
        by = f" ({event.by})" if event.by else ""
        match event.verdict:
            case "approved":
                return f"approved {'once' if event.once else 'for this run'}{by}", "good"
            case "rejected" if event.guidance:
                return f"rejected{by}, with guidance: {event.guidance}", "ask"
            case "rejected":
                return f"rejected{by}", "bad"
            case "happened":
                return f"a person says that it happened{by}", "good"
            case "did_not_happen":
                return f"a person says that it did not happen{by}", "bad"
            case "stop":
                return f"stopped by a person{by}", "bad"

    def _words(self, command_id: int) -> str:
        command = self._commands.get(command_id)
        if not isinstance(command, Act | Verify):
            return "a step"
        plan = self._plans.get(command.version)
        if plan is None or command.index >= len(plan.steps):
            return f"step {command.index + 1} of plan {command.version}"
        return step_words(plan.steps[command.index])


def _observed(event: Observed) -> tuple[str, Tone]:
    if event.seen is not None:
        return f"looked: '{event.seen.surface}', {several(event.seen.zones, 'zone')}", "plain"
    if event.reason == "world_lost":
        return f"the world was lost: {event.detail}" if event.detail else "the world was lost", "bad"
    detail = f": {event.detail}" if event.detail else ""
    return f"the look failed ({event.reason}){detail}", "bad"


def _done_checked(event: DoneChecked) -> tuple[str, Tone]:
    match event.verdict:
        case "met":
            return f"verified: {event.detail}", "good"
        case "unmet":
            return f"not done yet: {event.detail}", "bad"
        case "undecided":
            return f"not verified: {event.detail}", "doubt"
        case "too_early":
            return "too early to tell whether the task is done", "doubt"


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
            case MakePlan() if command.refused:
                return "; asking the planner once more"
            case MakePlan() if command.cause in ("error", "reopened", "guided"):
                return "; planning again"
            case OpenWorld() if command.id > 1:
                return "; opening it again"
            case _:
                pass
    return ""
