"""`midcourse replay`: a recorded run through the director again, under other settings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from rich.text import Text

from midcourse.app.records.journal import Journal
from midcourse.app.records.replay import replay_journal
from midcourse.cli.lookup.journals import find_journal, split_home
from midcourse.cli.view.narration import Teller
from midcourse.cli.view.symbols import Marks
from midcourse.cli.view.terminal import print_object, terminal
from midcourse.cli.view.vocabulary import seconds, several
from midcourse.replay import Lost, Replayed, Tally

FOUND, BROKEN = 0, 1
"""Exit codes: there is an answer; the replay of the unchanged run came to something else, which is a bug."""

STYLES = {"identical": "green", "same_course": "green", "nondeterminism": "red"}


def replay(name: str, overrides: Sequence[str], *, json: bool) -> int:
    settings, changes = split_home(overrides)
    journal = find_journal(name, settings).journal
    again = replay_journal(journal, changes)
    if json:
        print_object(_plain(journal, again, changes))
    else:
        where = terminal()
        for line in _lines(journal, again, where.marks):
            where.console.print(line, soft_wrap=True)
    return BROKEN if again.verdict == "nondeterminism" else FOUND


def _plain(journal: Journal, again: Replayed, changes: Mapping[str, str]) -> dict[str, object]:
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


def _lines(journal: Journal, again: Replayed, marks: Marks) -> Iterator[Text]:
    yield Text(marks.clean(_headline(journal, again)), f"bold {STYLES.get(again.verdict, 'yellow')}")
    if again.at:
        yield from _labelled("recorded", _told(journal, again.at), marks)
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


def _headline(journal: Journal, again: Replayed) -> str:
    events = several(len(journal.rows), "event")
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


def _told(journal: Journal, at: int) -> str:
    """What happened at this event and what was done about it, if it is worth any words."""
    teller, told = Teller(), ""
    teller.expect(issued.command for issued in journal.opening.pending)
    for plan in journal.plans:
        teller.learn(plan)
    for row in journal.rows:
        happening = teller.tell(row.event, row.commands)
        if row.seq == at:
            told = happening.text if happening else ""
    return told


def _saved(saved: Tally, all_: Tally) -> str:
    parts = [
        f"{saved.calls} of {several(all_.calls, 'call')}",
        f"{saved.executions} of {several(all_.executions, 'act')}",
        f"{saved.planner_calls} of {several(all_.planner_calls, 'planner call')}",
        f"{seconds(saved.seconds)} of {seconds(all_.seconds)}",
    ]
    return ", ".join(parts)


def _lost(lost: Lost, again: Replayed) -> str:
    steps = several(lost.steps, "completed step")
    ended = f"the recorded run ended as {again.reached}" if again.reached else "the recorded run has not ended"
    unless = ", unless somebody agrees" if again.verdict == "asks_earlier" else ""
    if lost.success:
        return f"{steps} and the success: {ended}{unless}"
    return f"{steps}; {ended}{unless}" if lost.steps else f"nothing; {ended}"
