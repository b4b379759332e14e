"""Finds earlier effects of this run that a request resembles. If only the form can tell, the world reads the form again."""

from midcourse.containment import Contained
from midcourse.domain.outcome import DISPUTED, SIGN_INS
from midcourse.domain.records.ledger import Alike, LedgerEntry, Likeness
from midcourse.perform.history import refresh_history
from midcourse.perform.ports import Deadline, Ports
from midcourse.policy.likeness import differing_names
from midcourse.ports.abilities import offers
from midcourse.ports.world import Call, Rereads

MOST_ALIKE = 20
"""The maximum number of effects that are reported, the latest last."""


async def find_similar_effects(
    ports: Ports, likeness: Likeness, identity: str, call: Call | None, time: Deadline
) -> tuple[Alike, ...]:
    """Find similar effects that were sent and are not known to be absent.

    One with the same identity is not among them, but prevents the step, unless it was a sign-in.
    """
    entries = (await refresh_history(ports)).entries
    lied = any(entry.outcome is not None and entry.outcome.reason == DISPUTED for entry in entries)
    found = [
        (entry, names)
        for entry in entries
        if entry.likeness is not None and (entry.identity != identity or _is_sign_in(entry)) and _may_exist(entry, lied)
        if (names := differing_names(entry.likeness, likeness)) is not None
    ]
    unsure = {name for _, names in found for name in names}
    changed = await _reread_changed_names(ports, call, tuple(sorted(unsure)), time) if unsure else frozenset[str]()
    alike = [entry for entry, names in found if changed is None or changed.issuperset(names)]
    return tuple(_build_alike(entry) for entry in alike[-MOST_ALIKE:])


async def _reread_changed_names(
    ports: Ports, call: Call | None, names: tuple[str, ...], time: Deadline
) -> frozenset[str] | None:
    """Which of these values the form changes by itself. None: unknown, so any of them may."""
    if call is None or not offers(ports.world, Rereads):
        return None
    try:
        seconds = time.left(ports.task.limits.look_timeout_seconds)
        async with Contained(seconds):
            changed = await ports.world.reread(call, names)
    except Exception:
        return None
    return None if changed is None else frozenset(changed)


def _may_exist(entry: LedgerEntry, lied: bool) -> bool:
    """Whether it may have happened. `lied`: the world said of an act that it was not sent, and was wrong."""
    if entry.dispatched_at is None:
        return False
    outcome = entry.outcome
    if lied and outcome is not None and outcome.claimed:
        return True
    return outcome is None or outcome.status != "no_effect" or not outcome.evidence


def _is_sign_in(entry: LedgerEntry) -> bool:
    return entry.outcome is not None and entry.outcome.reason in SIGN_INS


def _build_alike(entry: LedgerEntry) -> Alike:
    assert entry.dispatched_at is not None, "it was sent"
    return Alike(
        command=entry.command,
        identity=entry.identity,
        version=entry.version,
        index=entry.index,
        at=entry.dispatched_at,
        certain=entry.outcome is not None and entry.outcome.status == "ok",
    )
