"""The action ledger: what was sent into the world, written before it is sent."""

from dataclasses import dataclass

from midcourse.domain.outcome import Outcome


@dataclass(frozen=True, kw_only=True)
class Likeness:
    """An irreversible effect without tokens, nonces and the like. Two requests with equal ones may be the same effect."""

    digest: str
    """Of the address and of every value that is certainly not changed by the form itself."""
    hidden: tuple[tuple[str, str], ...] = ()
    """Digests, by name, of the values of which only the form can tell whether it changes them."""


@dataclass(frozen=True, kw_only=True)
class Alike:
    """An effect sent earlier in this run that a step would probably send again."""

    command: int
    identity: str
    version: int
    index: int
    at: float
    certain: bool = False
    """Whether there is evidence that it happened; otherwise it may have."""


@dataclass(frozen=True, kw_only=True)
class Absence:
    """An irreversible act that a probe reported as absent. That is believed once for each likeness."""

    likeness: str
    at: float
    """When it was sent."""


@dataclass(frozen=True, kw_only=True)
class LedgerEntry:
    """One act. Dispatched and without an outcome means: it may have happened."""

    command: int
    version: int
    index: int
    call: str
    identity: str = ""
    likeness: Likeness | None = None
    """Of an irreversible act. None in ledgers older than that."""
    consequence: str = ""
    """Digest of what was sent, under which the store keeps it."""
    seen: str = ""
    """Observation that the act relied on."""
    dispatched_at: float | None = None
    """None: nothing was sent, or sending it twice would do no harm (`read`, `set_state`)."""
    barred_at: float | None = None
    """From then on the world refuses this command, so that it cannot be carried out late."""
    outcome: Outcome | None = None
    lesson: str = ""
    """By which this failure is known to memory; nothing if it teaches nothing, or was none."""
