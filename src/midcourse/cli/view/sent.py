"""What a run sent into the world, and what shows how it turned out."""

from dataclasses import asdict, dataclass

from midcourse.domain.approval import Consequence
from midcourse.domain.outcome import Evidence, Outcome
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.ports.store import Store

SHOWN_BY: dict[Evidence, str] = {
    "": "the world's own word",
    "expectation": "what was expected was seen",
    "absent_when": "it was seen that nothing was stored",
    "probe": "a probe found it",
    "rule": "the answer means so, by your policy",
    "response": "a success that led to another page",
    "not_dispatched": "nothing was sent",
    "person": "you said so",
}
"""Evidence in words."""


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One irreversible act."""

    what: str
    """The request, or skill and target where it is none."""
    happened: bool | None
    """None: nothing shows it."""
    evidence: str
    detail: str = ""


async def sent_by(store: Store, run_id: str) -> tuple[Sent, ...]:
    """In the order in which it was sent."""
    found: list[Sent] = []
    for entry in await store.ledger(run_id):
        if entry.dispatched_at is None or not entry.consequence:
            continue
        consequence = await store.consequence(run_id, entry.consequence)
        if consequence is not None and consequence.effect == "irreversible":
            found.append(_sent(entry, consequence))
    return tuple(found)


def plain_sent(sent: Sent) -> dict[str, object]:
    return asdict(sent)


def _sent(entry: LedgerEntry, consequence: Consequence) -> Sent:
    outcome = entry.outcome or Outcome(status="unknown")
    what = consequence.commit.address or f"{consequence.skill} {consequence.target.label}".strip()
    return Sent(what=what, happened=_happened(outcome), evidence=_words(outcome), detail=outcome.detail)


def _happened(outcome: Outcome) -> bool | None:
    return None if outcome.status == "unknown" else outcome.status == "ok"


def _words(outcome: Outcome) -> str:
    if outcome.status == "unknown":
        return "nothing shows whether it happened"
    if outcome.status != "ok" and outcome.evidence == "probe":
        return "a probe did not find it"
    return SHOWN_BY[outcome.evidence]
