"""The status of a run in words: of each step, and what the run waits for."""

from collections.abc import Iterator
from typing import Literal, TypeAlias, assert_never

from midcourse.domain import commands, moves, phases
from midcourse.domain.approval import About
from midcourse.domain.result import SUCCESSES
from midcourse.domain.run import Run
from midcourse.presentation.vocabulary import CAUSES, REASONS, format_seconds

StepStatus: TypeAlias = Literal["done", "current", "failed", "unknown", "waiting"]

PLAIN_PHASES: dict[type[phases.Phase], str] = {
    phases.New: "starting",
    phases.Opening: "opening the world",
    phases.Looking: "looking",
    phases.Asking: "waiting for a person",
    phases.Concluding: "checking whether the task is done",
    phases.Paused: "paused",
}
"""Words for phases that need no other information about the run."""


def step_status(run: Run, index: int) -> StepStatus:
    """The status of a step of the current plan."""
    cursor = run.segment.cursor if run.segment else 0
    if index < cursor:
        return "done"
    if index > cursor:
        return "waiting"
    phase = run.phase
    if isinstance(phase, phases.Verifying) or (isinstance(phase, phases.Asking) and phase.about == "happened"):
        return "unknown"
    if isinstance(phase, phases.Ended):
        return "current" if phase.reason in (*SUCCESSES, "cancelled") else "failed"
    return "failed" if any(_follows_failure(move) for move in _following_moves(phase)) else "current"


def _follows_failure(move: moves.Move) -> bool:
    """Whether the current plan failed. Not if a monitor objects to a new plan, which has not been tried."""
    objected = isinstance(move, moves.AskPlanner) and move.objected
    return isinstance(move, moves.Plan | moves.AskPlanner) and move.cause == "error" and not objected


def _following_moves(phase: phases.Phase) -> Iterator[moves.Move]:
    """The moves that follow the current phase."""
    move = phase.asked if isinstance(phase, phases.Planning) else getattr(phase, "then", None)
    while move is not None:
        yield move
        move = getattr(move, "then", None)


def run_status(run: Run | None, now: float, step: str) -> str:
    """What the run is waiting for. `step` is the current step in words."""
    if run is None:
        return "starting"
    waiting = _describe_phase(run, run.phase, now, step)
    if isinstance(run.phase, phases.Paused | phases.Ended):
        return waiting
    match run.requested:
        case "go":
            return waiting
        case "pause":
            return f"pausing after this: {waiting}"
        case "cancel":
            return f"cancelling after this: {waiting}"


ASKING: dict[About, str] = {
    "approve": "It waits for an approval{of}. Nothing has been sent.",
    "happened": "Nothing shows whether it happened{of}; it asks.",
    "stuck": "It does not get any further, and asks how to continue.",
    "repeat": "It looks like something that was sent before{of}; it asks whether to send it again.",
    "question": "The planner asks a question.",
    "more": "A ceiling is reached, and it asks whether it may spend more.",
}


def run_sentence(run: Run, now: float, step: str) -> str:
    """What a run that has not ended does or waits for, as a sentence."""
    if isinstance(run.phase, phases.Asking):
        return ASKING[run.phase.about].format(of=f": {step}" if step else "")
    words = run_status(run, now, step)
    return f"{words[:1].upper()}{words[1:]}."


def _describe_phase(run: Run, phase: phases.Phase, now: float, step: str) -> str:
    match phase:
        case (
            phases.New() | phases.Opening() | phases.Looking() | phases.Asking() | phases.Concluding() | phases.Paused()
        ):
            return PLAIN_PHASES[type(phase)]
        case phases.Planning():
            return f"planning ({CAUSES[phase.asked.cause]})"
        case phases.Advising():
            return _describe_advising(run, phase)
        case phases.Acting():
            tries = run.segment.tries if run.segment else 0
            again = f" (try {tries + 1} of {run.limits.max_step_retries + 1})" if tries else ""
            return f"doing{again}: {step or phase.doing.step.skill}"
        case phases.Verifying():
            return f"outcome unknown, checking: {step or phase.doubt.step.skill}"
        case phases.BackingOff():
            return f"waiting {format_seconds(_seconds_left(run, now))}, then {_describe_next(phase)}"
        case phases.Trying():
            return f"out of reach, looking for a way: {step}"
        case phases.Weighing():
            return f"out of reach, judging how near it is: {step}"
        case phases.Undoing():
            return f"out of reach, stepping back: {step}"
        case phases.Ended():
            return f"ended: {REASONS[phase.reason]}"
        case _:
            assert_never(phase)


def _describe_advising(run: Run, phase: phases.Advising) -> str:
    match phase.role:
        case "reflector":
            return "asking why it failed"
        case "monitor":
            return "reviewing the plan" if phase.drafted else "reviewing the path"
        case "outliner":
            return "rewriting the outline" if run.outline and run.outline.goals else "writing an outline"
        case "judge":
            return "judging how far the outline is"


def _describe_next(phase: phases.BackingOff) -> str:
    return {
        "check_outcome": "checking again",
        "ask_planner": "asking the planner again",
        "conclude": "checking again",
    }.get(phase.then.kind, "trying again")


def _seconds_left(run: Run, now: float) -> float:
    due = [issued.at + issued.command.seconds for issued in run.pending if isinstance(issued.command, commands.Wait)]
    return max(0.0, min(due, default=now) - now)
