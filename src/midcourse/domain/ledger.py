"""The action ledger: what was sent into the world, written before it is sent."""

from dataclasses import dataclass

from midcourse.domain.likeness import Likeness
from midcourse.domain.outcome import Outcome


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
    """From then on the world refuses this command, so that nobody can still carry it out late."""
    outcome: Outcome | None = None
    lesson: str = ""
    """By which this failure is known to memory; nothing if it teaches nothing, or was none."""
