"""The action ledger: what was sent into the world, written before it is sent."""

from dataclasses import dataclass

from midcourse.domain.outcome import Outcome


@dataclass(frozen=True, kw_only=True)
class Likeness:
    """An irreversible effect without values such as tokens and nonces. Requests with equal likeness may be the same effect."""

    digest: str
    """Digest of the address and of every value that the form certainly does not change by itself."""
    hidden: tuple[tuple[str, str], ...] = ()
    """Digests, by name, of the values for which only the form can tell whether it changes them."""


@dataclass(frozen=True, kw_only=True)
class Alike:
    """An effect sent earlier in this run that a step would probably repeat."""

    command: int
    identity: str
    version: int
    index: int
    at: float
    certain: bool = False
    """Whether there is evidence that it happened; otherwise it may have."""


@dataclass(frozen=True, kw_only=True)
class Absence:
    """An irreversible act that a probe reported as absent, which is believed once per likeness."""

    likeness: str
    at: float
    """The time at which it was sent."""


@dataclass(frozen=True, kw_only=True)
class LedgerEntry:
    """One act. If it was dispatched and has no outcome, it may have happened."""

    command: int
    version: int
    index: int
    call: str
    identity: str = ""
    likeness: Likeness | None = None
    """Set only for an irreversible act. None in older ledgers."""
    consequence: str = ""
    """Digest of what was sent, which is its key in the store."""
    seen: str = ""
    """The observation that the act relied on."""
    target: str = ""
    """The label of the zone that was found, if it is not the one that the plan named."""
    dispatched_at: float | None = None
    """None: nothing was sent, or sending it twice is harmless (`read`, `set_state`)."""
    barred_at: float | None = None
    """The time from which the world refuses this command, so that it cannot be carried out late."""
    outcome: Outcome | None = None
    lesson: str = ""
    """The lesson key of the failure; empty if no lesson is kept for it, or it did not fail."""
