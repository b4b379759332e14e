"""`midcourse audit`: shows what people decided, and checks whether the log of it is intact."""

import asyncio
import json as json_format
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from midcourse.cli.lookup import open_local_store
from midcourse.cli.options import DurableOnly, Fleet, Json, Overrides, load_fleet_settings, load_settings, teach
from midcourse.codec import decode_any
from midcourse.domain.events import Event
from midcourse.domain.records.audit import START, AuditLog, Head
from midcourse.errors import TaskInvalid
from midcourse.home.folder import has_store
from midcourse.policy.audit import verify_log
from midcourse.presentation.narration import describe_input
from midcourse.presentation.vocabulary import format_time
from midcourse.terminal.output import print_object, terminal

HOLDS, BROKEN = 0, 1
HEAD = re.compile(r"(\d+):([0-9a-f]{64})")

commands = typer.Typer(
    help="Show who decided what, and verify that the log of it was not changed.", no_args_is_help=True
)


@commands.command(
    epilog=teach(
        ("midcourse audit show", "every decision, who made it, and when"),
        ("midcourse audit show last-month --durable --json", "of one run of the fleet, for programs"),
    ),
)
def show(
    run: Annotated[
        str,
        typer.Argument(metavar="[RUN]", help="Show only this run: its id, or the beginning of it.", show_default=False),
    ] = "",
    set_: Fleet = None,
    durable: DurableOnly = False,
    json: Json = False,
) -> None:
    """Show what people decided and advised, the oldest entry first."""
    rows = [row for row in _load_log(set_, durable=durable).rows if row.run.startswith(run)]
    if json:
        print_object(
            [
                {"n": row.n, "run": row.run, "seq": row.seq, "event": json_format.loads(row.body), "hash": row.hash}
                for row in rows
            ]
        )
        return
    where = terminal()
    for row in rows:
        event: Event = decode_any(Event, row.body)
        head = (f"{row.n:>5}  {format_time(event.at)}  ", "dim")
        where.say(head, (row.run, "bold"), f"  {describe_input(event)}  ", (row.hash[:12], "dim"))
    if not rows:
        where.say("no decisions yet")


@commands.command(
    epilog=teach(
        ("midcourse audit verify", "check that every row is unchanged and in its place"),
        ("midcourse audit verify --through 41:9c1f…", "also check that it contains the head that you kept"),
        ("midcourse audit verify --through result.json", "the same with the head in a result that you kept"),
    ),
)
def verify(
    through: Annotated[
        str,
        typer.Option(
            "--through",
            metavar="N:HASH|FILE",
            help="A head that you kept: the text that verify printed, or the result.json of a run.",
        ),
    ] = "",
    set_: Fleet = None,
    durable: DurableOnly = False,
    json: Json = False,
) -> int:
    """Find out whether the audit log was tampered with.

    Rows that were changed, moved, added or removed break the chain of hashes.
    A log that was cut off or rewritten does not match the results and journals
    of runs. An attacker who can write all three can make them match: to find
    that, keep the head that this command prints somewhere else, and pass it to
    --through.

    Exit codes: 0 the log is intact, 1 it is not, 2 misuse.
    """
    kept = _parse_head(through)
    log = _load_log(set_, durable=durable)
    found = verify_log(log, kept)
    if json:
        head = {"n": found.head.n, "hash": found.head.hash}
        print_object({"holds": not found.problem, "problem": found.problem, "rows": len(log.rows), "head": head})
    elif found.problem:
        terminal().say(("tampered with", "bold red"), f": {found.problem}")
    else:
        held = f": {found.head.n} rows, and {len(log.anchors)} results that lead through them"
        where = terminal()
        where.say(("the log holds", "bold green"), held)
        if found.head.n:
            where.say(f"keep this elsewhere: {found.head.n}:{found.head.hash}")
    return BROKEN if found.problem else HOLDS


def _load_log(overrides: Overrides, *, durable: bool) -> AuditLog:
    return asyncio.run(_load_fleet_log(overrides) if durable else _load_home_log(overrides))


async def _load_home_log(overrides: Overrides) -> AuditLog:
    settings = load_settings(overrides, "home")
    if not has_store(settings):
        return AuditLog(chain="")
    with open_local_store(settings) as store:
        return await store.audit()


async def _load_fleet_log(overrides: Overrides) -> AuditLog:
    from midcourse.home.fleet_store import open_fleet_store

    _, settings = load_fleet_settings(overrides)
    async with open_fleet_store(settings) as store:
        return await store.audit()


def _parse_head(text: str) -> Head:
    """Parse a head: the text itself, or a file with it, which is a result.json or the output of `verify --json`."""
    if not text:
        return START
    if found := HEAD.fullmatch(text.strip()):
        return Head(n=int(found[1]), hash=found[2])
    path = Path(text)
    if not path.is_file():
        raise TaskInvalid(f"--through {text}: give a head, such as 41:9c1f…, or a file that has one")
    try:
        written: dict[str, Any] = json_format.loads(path.read_text(encoding="utf-8").splitlines()[-1])
        head = written.get("audit") or written["head"]
        return Head(n=int(head["n"]), hash=str(head["hash"]))
    except (ValueError, LookupError, TypeError, AttributeError):
        raise TaskInvalid(f"--through {text}: this file has no head of an audit log") from None
