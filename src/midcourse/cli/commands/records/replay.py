"""`midcourse replay`: replays the decisions of a recorded run, under the same or other settings."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

import typer
from rich.text import Text

from midcourse.cli.lookup import find_journal
from midcourse.cli.options import Change, Journal, Json, split_home, teach
from midcourse.history.journal import Journal as RunJournal
from midcourse.history.replay import replay_journal
from midcourse.presentation.replay import describe_replay
from midcourse.replay import Replayed
from midcourse.terminal.output import Marks, print_object, terminal

FOUND, BROKEN = 0, 1
"""Exit codes: the replay gave an answer; the unchanged run replays differently, which is a bug."""

STYLES = {"identical": "green", "same_course": "green", "nondeterminism": "red"}


commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse replay last", "the same commands again, to the byte"),
        ("midcourse replay last --set max_replans=2", "what would have been saved, and what lost"),
    ),
)
def replay(journal: Journal, set_: Change = None, json: Json = False) -> int:
    """Replay the decisions of a recorded run, under the same or other settings.

    Nothing is done in a world and no model is asked. The answer is exact if the
    run would only have ended earlier, or asked you earlier. If it would have
    acted differently, the outcome is unknown, and the command says so.

    Exit codes: 0 the replay gave an answer, 1 the unchanged run replays
    differently (a bug), 2 misuse.
    """
    settings, changes = split_home(set_)
    recorded = find_journal(journal, settings).journal
    again = replay_journal(recorded, changes)
    if json:
        print_object(_plain(recorded, again, changes))
    else:
        where = terminal()
        for line in _lines(recorded, again, where.marks):
            where.say(line)
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
    words = describe_replay(journal, again)
    yield Text(marks.clean(words.headline), f"bold {STYLES.get(again.verdict, 'yellow')}")
    labelled = {
        "recorded": words.recorded,
        "this is": words.this_is,
        "saved": words.saved,
        "lost": words.lost,
        "try": words.hint,
    }
    for label, text in labelled.items():
        if text:
            yield Text.assemble((f"  {label:<10}", "dim"), marks.clean(text))
