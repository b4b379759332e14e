"""Verification of the audit log: its rows are chained, and results and journals confirm them.

A row that was changed, moved, inserted or removed breaks the chain. A chain that was cut off, or rewritten from some row on, is
consistent in itself; but it does not contain the heads that results carry, and its rows do not match the events in journals.
An attacker who can change results and journals as well can make all of it fit: only a head that was kept elsewhere shows that.
"""

from dataclasses import dataclass
from hashlib import sha256

from midcourse.domain.events import ApprovalDecided, CancelAsked, Event, Guided, PauseAsked, ResumeAsked, TakenOver
from midcourse.domain.records.audit import START, AuditLog, AuditRow, Head

HUMAN_INPUTS = (ApprovalDecided, PauseAsked, ResumeAsked, CancelAsked, Guided, TakenOver)
"""Events that people send to a run. They are in the log."""
HUMAN_INPUT_KINDS = ("approval_decided", "pause_asked", "resume_asked", "cancel_asked", "guided", "taken_over")


def is_human_input(event: Event) -> bool:
    return isinstance(event, HUMAN_INPUTS)


@dataclass(frozen=True, kw_only=True)
class Verification:
    """How far the chain is intact, and the problem after that, or an empty string."""

    head: Head
    problem: str = ""


def verify_log(log: AuditLog, through: Head = START) -> Verification:
    """Verify the log. `through` is the head of an earlier verification."""
    found = _verify_chain(log)
    return found if found.problem else Verification(head=found.head, problem=_find_contradiction(log, through))


def _verify_chain(log: AuditLog) -> Verification:
    head = START
    for row in log.rows:
        if row.n != head.n + 1:
            return Verification(head=head, problem=f"row {head.n + 1} is missing")
        if row.hash != row_hash(log.chain, row, head.hash):
            return Verification(
                head=head, problem=f"row {row.n} is not what was written, or does not follow the row before it"
            )
        head = Head(n=row.n, hash=row.hash)
    return Verification(head=head)


def _find_contradiction(log: AuditLog, through: Head) -> str:
    """What in the store contradicts an intact chain, or an empty string."""
    hashes = {row.n: row.hash for row in log.rows}
    for head in (through, *log.anchors):
        if head.n > len(log.rows):
            return f"row {len(log.rows) + 1} is missing: there were {head.n}"
        if head.n and hashes[head.n] != head.hash:
            return f"row {head.n} has changed since"
    logged = {(row.run, row.seq, row.body) for row in log.rows}
    sent = {(event.run, event.seq, event.body) for event in log.inputs}
    for run, seq, _ in sorted(sent - logged):
        return f"event {seq} of run {run} is in no row"
    for row in log.rows if log.backed else ():
        if row.run not in log.pruned and (row.run, row.seq, row.body) not in sent:
            return f"row {row.n} is in no journal"
    return ""


def row_hash(chain: str, row: AuditRow, before: str) -> str:
    """The hash of a row, as the PostgreSQL trigger computes it. Lengths precede free text, so no two rows encode the same."""
    text = f"{before} {row.n} {row.seq} {len(chain)} {chain} {len(row.run)} {row.run} {row.body}"
    return sha256(text.encode()).hexdigest()


def next_row(chain: str, head: Head, run: str, seq: int, body: str) -> AuditRow:
    """The row that comes after this head."""
    row = AuditRow(n=head.n + 1, run=run, seq=seq, body=body, hash="")
    return AuditRow(n=row.n, run=run, seq=seq, body=body, hash=row_hash(chain, row, head.hash))
