"""Verification of the audit log: its rows are chained, and results and journals confirm them.

A row that was changed, moved, inserted or removed breaks the chain. A chain that was cut off, or rewritten from some row on, is
consistent in itself; but it does not contain the heads that results carry, and its rows do not match the events in journals.
An attacker who can change results and journals as well can make all of it fit: only a head that was kept elsewhere shows that.
"""

from dataclasses import dataclass
from hashlib import sha256

from midcourse.domain.event import ApprovalDecided, CancelAsked, Event, Guided, PauseAsked, ResumeAsked
from midcourse.domain.records.audit import START, AuditLog, AuditRow, Head

HUMAN_INPUTS = (ApprovalDecided, PauseAsked, ResumeAsked, CancelAsked, Guided)
"""Events that people send to a run. They are in the log."""
HUMAN_INPUT_KINDS = ("approval_decided", "pause_asked", "resume_asked", "cancel_asked", "guided")


def is_human_input(event: Event) -> bool:
    return isinstance(event, HUMAN_INPUTS)


@dataclass(frozen=True, kw_only=True)
class Verified:
    """How far the chain holds, and what is wrong after that, or nothing."""

    head: Head
    problem: str = ""


def verify_log(log: AuditLog, through: Head = START) -> Verified:
    """`through`: the head of an earlier verification, from wherever it was kept."""
    found = _chained(log)
    return found if found.problem else Verified(head=found.head, problem=_contradiction(log, through))


def _chained(log: AuditLog) -> Verified:
    head = START
    for row in log.rows:
        if row.n != head.n + 1:
            return Verified(head=head, problem=f"row {head.n + 1} is missing")
        if row.hash != row_hash(log.chain, row, head.hash):
            return Verified(head=head, problem=f"row {row.n} is not what was written, or not after what is before it")
        head = Head(n=row.n, hash=row.hash)
    return Verified(head=head)


def _contradiction(log: AuditLog, through: Head) -> str:
    """What speaks against a chain that is whole."""
    hashes = {row.n: row.hash for row in log.rows}
    for head in (through, *log.anchors):
        if head.n > len(log.rows):
            return f"row {len(log.rows) + 1} is missing: there were {head.n}"
        if head.n and hashes[head.n] != head.hash:
            return f"row {head.n} is another than it was"
    logged = {(row.run, row.seq, row.body) for row in log.rows}
    said = {(word.run, word.seq, word.body) for word in log.said}
    for run, seq, _ in sorted(said - logged):
        return f"event {seq} of run {run} is in no row"
    for row in log.rows if log.backed else ():
        if (row.run, row.seq, row.body) not in said:
            return f"row {row.n} is in no journal"
    return ""


def row_hash(chain: str, row: AuditRow, before: str) -> str:
    """As the trigger of PostgreSQL has it. Lengths go before what may hold anything, so no two rows read the same."""
    text = f"{before} {row.n} {row.seq} {len(chain)} {chain} {len(row.run)} {row.run} {row.body}"
    return sha256(text.encode()).hexdigest()


def next_row(chain: str, head: Head, run: str, seq: int, body: str) -> AuditRow:
    """The row that comes after this head."""
    row = AuditRow(n=head.n + 1, run=run, seq=seq, body=body, hash="")
    return AuditRow(n=row.n, run=run, seq=seq, body=body, hash=row_hash(chain, row, head.hash))
