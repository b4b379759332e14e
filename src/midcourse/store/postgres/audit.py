"""The audit log: who decided what, in rows that are chained so that none can be changed or taken out unnoticed.

The database itself numbers and chains them, and the application may only add. Whoever owns the database could still make
up a whole new chain, or cut off its end: keep the `Head` of each verification somewhere else and give it to the next.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256


@dataclass(frozen=True, kw_only=True)
class AuditRow:
    n: int
    run: str
    seq: int
    """Which event of the run."""
    body: str
    """The event, as JSON."""
    hash: str


@dataclass(frozen=True, kw_only=True)
class Head:
    """The last row of a chain, which stands for all before it."""

    n: int
    hash: str


START = Head(n=0, hash="")


@dataclass(frozen=True, kw_only=True)
class Verified:
    """How far the chain holds, and what is wrong after that, or nothing."""

    head: Head
    problem: str = ""


def verify_chain(tenant: str, rows: Iterable[AuditRow], through: Head = START) -> Verified:
    """Whether these rows, from the first on, are one chain, and whether it leads through the head of an earlier one."""
    head = START
    for row in rows:
        if row.n != head.n + 1:
            return Verified(head=head, problem=f"row {head.n + 1} is missing")
        if row.hash != hash_of(tenant, row, head.hash):
            return Verified(head=head, problem=f"row {row.n} is not what was written, or not after what is before it")
        if row.n == through.n and row.hash != through.hash:
            return Verified(head=head, problem=f"row {row.n} is another than it was")
        head = Head(n=row.n, hash=row.hash)
    if head.n < through.n:
        return Verified(head=head, problem=f"row {head.n + 1} is missing: there were {through.n}")
    return Verified(head=head)


def hash_of(tenant: str, row: AuditRow, before: str) -> str:
    """As the trigger has it. Lengths go before what may hold anything, so no two rows read the same."""
    text = f"{before} {row.n} {row.seq} {len(tenant)} {tenant} {len(row.run)} {row.run} {row.body}"
    return sha256(text.encode()).hexdigest()
