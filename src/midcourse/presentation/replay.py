"""A replay in words: whether the changed run would have taken another course, what it would have saved, and what it would have lost."""

from dataclasses import dataclass

from midcourse.history.journal import Journal
from midcourse.presentation.narration import Narrator
from midcourse.presentation.vocabulary import format_seconds, pluralize
from midcourse.replay import Lost, Replayed, Tally

A_BUG = "a bug in Midcourse, unless another version wrote this journal; please report it with the file"
NO_WRAP_UP = "--set wrap_up_at=1 leaves that out"


@dataclass(frozen=True, kw_only=True)
class ReplayWords:
    """The texts about a replay. Empty ones are not shown."""

    headline: str
    recorded: str = ""
    """What happened at the event at which the two runs diverge."""
    this_is: str = ""
    saved: str = ""
    lost: str = ""
    hint: str = ""


def describe_replay(journal: Journal, again: Replayed) -> ReplayWords:
    return ReplayWords(
        headline=_headline(journal, again),
        recorded=_event_line(journal, again.at) if again.at else "",
        this_is=A_BUG if again.verdict == "nondeterminism" else "",
        saved=_describe_saved(again.saved, again.recorded) if again.saved else "",
        lost=_describe_lost(again.lost, again) if again.lost else "",
        hint=NO_WRAP_UP if "wrap up" in again.detail else "",
    )


def _headline(journal: Journal, again: Replayed) -> str:
    events = pluralize(len(journal.rows), "event")
    where = f"event {again.at} of {journal.state.seq}"
    match again.verdict:
        case "identical":
            return f"identical: {events} led to the same commands and the same state, to the byte"
        case "nondeterminism":
            return again.detail
        case "same_course":
            return f"no difference: {events} would have led to the same" + (f"; {again.detail}" if again.detail else "")
        case "ends_earlier":
            return f"would have ended earlier, at {where}: {again.detail}"
        case "asks_earlier":
            return f"would have asked a person at {where}, {again.detail}"
        case "undetermined":
            return f"undetermined after {where}: {again.detail}"
        case "not_recorded":
            return f"not recorded after {where}: {again.detail}"


def _event_line(journal: Journal, at: int) -> str:
    """This event and what followed from it, in words; empty for events that are not narrated."""
    narrator, text = Narrator(), ""
    narrator.add_commands(issued.command for issued in journal.opening.pending)
    for plan in journal.plans:
        narrator.add_plan(plan)
    for row in journal.rows:
        line = narrator.describe(row.event, row.commands)
        if row.seq == at:
            text = line.text if line else ""
    return text


def _describe_saved(saved: Tally, all_: Tally) -> str:
    parts = [
        f"{saved.calls} of {pluralize(all_.calls, 'call')}",
        f"{saved.executions} of {pluralize(all_.executions, 'act')}",
        f"{saved.planner_calls} of {pluralize(all_.planner_calls, 'planner call')}",
        f"{format_seconds(saved.seconds)} of {format_seconds(all_.seconds)}",
    ]
    return ", ".join(parts)


def _describe_lost(lost: Lost, again: Replayed) -> str:
    steps = pluralize(lost.steps, "completed step")
    ended = f"the recorded run ended as {again.reached}" if again.reached else "the recorded run has not ended"
    unless = ", unless a person agrees" if again.verdict == "asks_earlier" else ""
    if lost.success:
        return f"{steps} and the success: {ended}{unless}"
    return f"{steps}; {ended}{unless}" if lost.steps else f"nothing; {ended}"
