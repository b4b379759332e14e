"""Kinds of records that are stored as a whole under a run and a key: their tables, encoding and decoding."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeAlias, TypeVar

from midcourse.codec import decode
from midcourse.domain.approval import Consequence
from midcourse.domain.observation import Observation
from midcourse.domain.plan import PlanVersion
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.result import Result
from midcourse.store.observations import ObservationBase
from midcourse.store.postgres.statements import (
    SAVE_CONSEQUENCE,
    SAVE_OBSERVATION,
    SAVE_PLAN,
    SAVE_RESULT,
    SAVE_SESSION,
    WRITE_LEDGER,
    Statement,
)

T = TypeVar("T")
Key: TypeAlias = str | int


@dataclass(frozen=True, kw_only=True, eq=False)
class Kind(Generic[T]):
    write: Statement
    one: bytes
    """Selects the body by run and key."""
    decode: Callable[[str], T]
    since: bytes = b""
    """Selects keys and bodies by run from a key on, in order; only for kinds that are read this way."""
    remembered: bool = False
    settle: Callable[[T, T], T] | None = None
    """Chooses between the stored and the new value; None: the new one."""


def _choose_later(there: PlanVersion, comes: PlanVersion) -> PlanVersion:
    """The plan of the later command."""
    return comes if comes.made_by >= there.made_by else there


_OBSERVATION = b"""SELECT body FROM midcourse.observations WHERE run = %(run)s AND id = %(key)s
    AND month = (SELECT month FROM midcourse.runs WHERE id = %(run)s)"""

OBSERVATION = Kind(write=SAVE_OBSERVATION, one=_OBSERVATION, decode=partial(decode, Observation), remembered=True)
"""The body may refer to a base."""
BASE = Kind(write=SAVE_OBSERVATION, one=_OBSERVATION, decode=partial(ObservationBase, ""), remembered=True)
"""The latest base of a run. It is cached under one key, and stored under its own."""
PLAN = Kind(
    write=SAVE_PLAN,
    one=b"SELECT body FROM midcourse.plans WHERE run = %(run)s AND version = %(key)s",
    since=b"""SELECT version, body FROM midcourse.plans WHERE run = %(run)s AND version >= %(since)s
    ORDER BY version""",
    decode=partial(decode, PlanVersion),
    remembered=True,
    settle=_choose_later,
)
CONSEQUENCE = Kind(
    write=SAVE_CONSEQUENCE,
    one=b"SELECT body FROM midcourse.consequences WHERE run = %(run)s AND digest = %(key)s",
    decode=partial(decode, Consequence),
)
ENTRY = Kind(
    write=WRITE_LEDGER,
    one=b"SELECT body FROM midcourse.ledger WHERE run = %(run)s AND command = %(key)s",
    since=b"""SELECT command, body FROM midcourse.ledger WHERE run = %(run)s AND command >= %(since)s
    ORDER BY command""",
    decode=partial(decode, LedgerEntry),
)
RESULT = Kind(
    write=SAVE_RESULT,
    one=b"SELECT body FROM midcourse.results WHERE run = %(run)s",
    decode=partial(decode, Result),
)
SESSION = Kind(
    write=SAVE_SESSION,
    one=b"SELECT handle FROM midcourse.sessions WHERE run = %(run)s",
    decode=str,
)
SINGLE = ""
"""The key of kinds with one record per run."""
