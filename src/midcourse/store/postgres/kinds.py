"""The kinds of records that are stored as a whole under a run and a key, with their tables, encoding and decoding."""

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
    """One kind of record: how it is written, read and decoded."""

    write: Statement
    select_one: bytes
    """SQL that selects the body by run and key."""
    decode: Callable[[str], T]
    select_since: bytes = b""
    """SQL that selects keys and bodies of a run from a key on, in order; empty for kinds that are never read this way."""
    is_cached: bool = False
    choose: Callable[[T, T], T] | None = None
    """Chooses between the stored and the new value. If it is None, the new value replaces the stored one."""


def _choose_later(stored: PlanVersion, new: PlanVersion) -> PlanVersion:
    """Return the plan of the later command."""
    return new if new.made_by >= stored.made_by else stored


_OBSERVATION = b"""SELECT body FROM midcourse.observations WHERE run = %(run)s AND id = %(key)s
    AND month = (SELECT month FROM midcourse.runs WHERE id = %(run)s)"""

OBSERVATION = Kind(write=SAVE_OBSERVATION, select_one=_OBSERVATION, decode=partial(decode, Observation), is_cached=True)
"""Observations of a run. The body may refer to a base."""
BASE = Kind(write=SAVE_OBSERVATION, select_one=_OBSERVATION, decode=partial(ObservationBase, ""), is_cached=True)
"""The latest base of a run. It is cached under one key for each run, and stored under its id."""
PLAN = Kind(
    write=SAVE_PLAN,
    select_one=b"SELECT body FROM midcourse.plans WHERE run = %(run)s AND version = %(key)s",
    select_since=b"""SELECT version, body FROM midcourse.plans WHERE run = %(run)s AND version >= %(since)s
    ORDER BY version""",
    decode=partial(decode, PlanVersion),
    is_cached=True,
    choose=_choose_later,
)
CONSEQUENCE = Kind(
    write=SAVE_CONSEQUENCE,
    select_one=b"SELECT body FROM midcourse.consequences WHERE run = %(run)s AND digest = %(key)s",
    decode=partial(decode, Consequence),
)
ENTRY = Kind(
    write=WRITE_LEDGER,
    select_one=b"SELECT body FROM midcourse.ledger WHERE run = %(run)s AND command = %(key)s",
    select_since=b"""SELECT command, body FROM midcourse.ledger WHERE run = %(run)s AND command >= %(since)s
    ORDER BY command""",
    decode=partial(decode, LedgerEntry),
)
RESULT = Kind(
    write=SAVE_RESULT,
    select_one=b"SELECT body FROM midcourse.results WHERE run = %(run)s",
    decode=partial(decode, Result),
)
SESSION = Kind(
    write=SAVE_SESSION,
    select_one=b"SELECT handle FROM midcourse.sessions WHERE run = %(run)s",
    decode=str,
)
SINGLE = ""
"""The key of kinds with one record per run."""
