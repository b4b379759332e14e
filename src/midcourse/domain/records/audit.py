"""The audit log: who decided what, in rows that are chained by hashes."""

from dataclasses import dataclass


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
class Said:
    """An event that a person sent, as the journal has it."""

    run: str
    seq: int
    body: str


@dataclass(frozen=True, kw_only=True)
class AuditLog:
    """The rows, and what else in the store bears witness to them."""

    chain: str
    """Whose it is: a tenant. Part of every hash, so that no row fits into another's."""
    rows: tuple[AuditRow, ...] = ()
    anchors: tuple[Head, ...] = ()
    """Heads that results of runs carry: each was the last row when its run ended."""
    said: tuple[Said, ...] = ()
    """The events that people sent, from the journals; each must be in a row."""
    backed: bool = False
    """Whether each row must be in a journal, too. Not where places of a journal may be written again, or months dropped."""
