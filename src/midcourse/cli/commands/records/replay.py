"""`midcourse replay`: puts a recorded run through the director again, under other settings."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

import typer
from rich.text import Text

from midcourse.app.presentation.narration import Narrator
from midcourse.app.presentation.vocabulary import format_seconds, pluralize
from midcourse.app.records.journal import Journal as RunJournal
from midcourse.app.records.replay import replay_journal
from midcourse.cli.lookup import find_journal
from midcourse.cli.options import Change, Journal, Json, teach
from midcourse.cli.overrides import split_home
from midcourse.cli.view.symbols import Marks
from midcourse.cli.view.terminal import print_object, terminal
from midcourse.replay import Lost, Replayed, Tally

FOUND, BROKEN = 0, 1
"""Exit codes: there is an answer; the unchanged run replays differently, which is a bug."""

STYLES = {"identical": "green", "same_course": "green", "nondeterminism": "red"}


commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse replay last", "the same commands again, to the byte"),
        ("midcourse replay last --set max_replans=2", "what would have been saved, and what lost"),
    ),
)
def replay(journal: Journal, set_: Change = None, json: Json = False) -> int:
    """Put a recorded run through the director again, under other settings.

    Nothing is done and no model is asked. The answer is exact where the run
    would only have ended, or asked you, earlier. Where it would have acted
    differently, the outcome is unknown, and it says so.

    Exit codes: 0 there is an answer, 1 the unchanged run replays differently
    (a bug), 2 misuse.
    """
    settings, changes = split_home(set_)
    recorded = find_journal(journal, settings).journal
    again = replay_journal(recorded, changes)
    if json:
        print_object(_plain(recorded, again, changes))
    else:
        where = terminal()
        for line in _lines(recorded, again, where.marks):
            where.console.print(line, soft_wrap=True)
    return BROKEN if again.verdict == "nondeterminism" else FOUND


def _plain(journal: RunJournal, again: Replayed, changes: Mapping[str, str]) -> dict[str, object]:
    before, after = journal.opening.limits, again.final.limits
    return {
        "run": journal.opening.id,
        "verdict": again.verdict,
        "event": again.at or None,
        "events": len(journal.rows),
        "detail": again.detail,
        "changes": {name: {"from": getattr(before, name), "to": getattr(after, name)} for name in changes},
        "recorded": {**asdict(again.recorded), "final_reason": again.reached},
        "until": asdict(again.until),
        "saved": asdict(again.saved) if again.saved else None,
        "lost": asdict(again.lost) if again.lost else None,
    }


def _lines(journal: RunJournal, again: Replayed, marks: Marks) -> Iterator[Text]:
    yield Text(marks.clean(_headline(journal, again)), f"bold {STYLES.get(again.verdict, 'yellow')}")
    if again.at:
        yield from _labelled("recorded", _event_line(journal, again.at), marks)
    if again.verdict == "nondeterminism":
        advice = "a bug in Midcourse, unless another version wrote this journal; please report it with the file"
        yield from _labelled("this is", advice, marks)
    if again.saved is not None and again.lost is not None:
        yield from _labelled("saved", _saved(again.saved, again.recorded), marks)
        yield from _labelled("lost", _lost(again.lost, again), marks)
    if "wrap up" in again.detail:
        yield from _labelled("try", "--set wrap_up_at=1 leaves that out", marks)


def _labelled(label: str, text: str, marks: Marks) -> Iterator[Text]:
    if text:
        yield Text.assemble((f"  {label:<10}", "dim"), marks.clean(text))


def _headline(journal: RunJournal, again: Replayed) -> str:
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


def _event_line(journal: RunJournal, at: int) -> str:
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


def _saved(saved: Tally, all_: Tally) -> str:
    parts = [
        f"{saved.calls} of {pluralize(all_.calls, 'call')}",
        f"{saved.executions} of {pluralize(all_.executions, 'act')}",
        f"{saved.planner_calls} of {pluralize(all_.planner_calls, 'planner call')}",
        f"{format_seconds(saved.seconds)} of {format_seconds(all_.seconds)}",
    ]
    return ", ".join(parts)


def _lost(lost: Lost, again: Replayed) -> str:
    steps = pluralize(lost.steps, "completed step")
    ended = f"the recorded run ended as {again.reached}" if again.reached else "the recorded run has not ended"
    unless = ", unless a person agrees" if again.verdict == "asks_earlier" else ""
    if lost.success:
        return f"{steps} and the success: {ended}{unless}"
    return f"{steps}; {ended}{unless}" if lost.steps else f"nothing; {ended}"
