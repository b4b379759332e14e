"""`midcourse audit`: what people decided, and whether the log of it is what was written."""

import asyncio
import json as json_format
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from midcourse.cli.lookup.names import has_store, local_time, opened_store
from midcourse.cli.overrides import fleet_with, settings_with
from midcourse.cli.view.symbols import Marks
from midcourse.cli.view.terminal import print_object, terminal
from midcourse.codec import decode_any
from midcourse.domain.event import ApprovalDecided, Event, Guided
from midcourse.domain.records.audit import START, AuditLog, AuditRow, Head
from midcourse.errors import TaskInvalid
from midcourse.policy.audit import verify_log

HOLDS, BROKEN = 0, 1
HEAD = re.compile(r"(\d+):([0-9a-f]{64})")

VERDICTS = {
    "approved": "approved question {question}",
    "rejected": "rejected question {question}",
    "changed": "approved question {question} with changes",
    "take_over": "took over at question {question}",
    "go_on": "said to go on at question {question}",
    "happened": "said of question {question} that it happened",
    "did_not_happen": "said of question {question} that it did not happen",
    "stop": "stopped at question {question}",
    "send_again": "said at question {question} to send it again",
}
WORDS = {"pause_asked": "asked for a pause", "resume_asked": "let it go on", "cancel_asked": "cancelled it"}


def show(run: str, overrides: Sequence[str], *, durable: bool, json: bool) -> None:
    rows = [row for row in _log(overrides, durable=durable).rows if row.run.startswith(run)]
    if json:
        print_object([_plain(row) for row in rows])
        return
    where = terminal()
    for row in rows:
        where.console.print(_line(row, where.marks), soft_wrap=True)
    if not rows:
        where.console.print("nobody has decided anything yet", soft_wrap=True)


def verify(through: str, overrides: Sequence[str], *, durable: bool, json: bool) -> int:
    kept = _head(through)
    log = _log(overrides, durable=durable)
    found = verify_log(log, kept)
    if json:
        head = {"n": found.head.n, "hash": found.head.hash}
        print_object({"holds": not found.problem, "problem": found.problem, "rows": len(log.rows), "head": head})
    elif found.problem:
        terminal().console.print(Text.assemble(("tampered with", "bold red"), f": {found.problem}"), soft_wrap=True)
    else:
        held = f": {found.head.n} rows, and {len(log.anchors)} results that lead through them"
        where = terminal().console
        where.print(Text.assemble(("the log holds", "bold green"), held), soft_wrap=True)
        if found.head.n:
            where.print(f"keep this elsewhere: {found.head.n}:{found.head.hash}", soft_wrap=True)
    return BROKEN if found.problem else HOLDS


def _log(overrides: Sequence[str], *, durable: bool) -> AuditLog:
    return asyncio.run(_of_fleet(overrides) if durable else _of_home(overrides))


async def _of_home(overrides: Sequence[str]) -> AuditLog:
    settings = settings_with(overrides, "home")
    if not has_store(settings):
        return AuditLog(chain="")
    with opened_store(settings) as store:
        return await store.audit()


async def _of_fleet(overrides: Sequence[str]) -> AuditLog:
    from midcourse.app.fleet.store import open_fleet_store

    _, settings = fleet_with(overrides)
    async with open_fleet_store(settings) as store:
        return await store.audit()


def _head(text: str) -> Head:
    """As it was kept: in words, in a result, or in what `verify --json` printed."""
    if not text:
        return START
    if found := HEAD.fullmatch(text.strip()):
        return Head(n=int(found[1]), hash=found[2])
    path = Path(text)
    if not path.is_file():
        raise TaskInvalid(f"--through {text}: is neither a head, such as 41:9c1f…, nor a file that has one")
    try:
        said: dict[str, Any] = json_format.loads(path.read_text(encoding="utf-8").splitlines()[-1])
        head = said.get("audit") or said["head"]
        return Head(n=int(head["n"]), hash=str(head["hash"]))
    except (ValueError, LookupError, TypeError, AttributeError):
        raise TaskInvalid(f"--through {text}: there is no head of an audit log in this file") from None


def _plain(row: AuditRow) -> dict[str, object]:
    return {"n": row.n, "run": row.run, "seq": row.seq, "event": json_format.loads(row.body), "hash": row.hash}


def _line(row: AuditRow, marks: Marks) -> Text:
    event: Event = decode_any(Event, row.body)
    when = local_time(event.at)
    return Text.assemble(
        (f"{row.n:>5}  {when}  ", "dim"), (row.run, "bold"), f"  {marks.clean(_words(event))}  ", (row.hash[:12], "dim")
    )


def _words(event: Event) -> str:
    match event:
        case ApprovalDecided():
            who = event.by or "somebody"
            what = VERDICTS[event.verdict].format(question=event.question)
            words = f": {event.guidance}" if event.guidance else ""
            return f"{who} {what}{words}"
        case Guided():
            return f"somebody advised: {event.text}"
        case _:
            return f"somebody {WORDS[event.kind]}"
