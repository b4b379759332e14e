"""The audit log: who decided what, in rows that are chained by hashes."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class AuditRow:
    """A row of the audit log: one event that a person sent."""

    n: int
    run: str
    seq: int
    """Number of the event in the run."""
    body: str
    """The event, as JSON."""
    hash: str


@dataclass(frozen=True, kw_only=True)
class Head:
    """The last row of a chain, whose hash covers all rows before it."""

    n: int
    hash: str


START = Head(n=0, hash="")


@dataclass(frozen=True, kw_only=True)
class HumanInput:
    """An event that a person sent, from the journal."""

    run: str
    seq: int
    body: str


@dataclass(frozen=True, kw_only=True)
class AuditLog:
    """The rows, and what in the store can confirm them."""

    chain: str
    """The tenant. Part of every hash, so that no row fits into another chain."""
    rows: tuple[AuditRow, ...] = ()
    anchors: tuple[Head, ...] = ()
    """Heads that results of runs carry: each was the last row when its run ended."""
    inputs: tuple[HumanInput, ...] = ()
    """The events that people sent, from the journals; each must be in a row."""
    backed: bool = False
    """Whether each row must be in a journal, too. False where months of journals may be dropped."""
    pruned: frozenset[str] = frozenset()
    """Runs without journals, because these were deleted. Their rows are in no journal."""
