"""The evidence for what a run sent: when each act was dispatched, how it was verified, and what decided its outcome."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from midcourse.domain.approval import Consequence
from midcourse.domain.commands import AskPerson, Verify
from midcourse.domain.events import Acted, ApprovalDecided, Verified
from midcourse.domain.outcome import Evidence, Outcome, Status
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.history.journal import Journal
from midcourse.ports.store import Store
from midcourse.presentation.result import describe_evidence
from midcourse.presentation.vocabulary import describe_step

Finding: TypeAlias = Literal["happened", "did_not_happen", "undecided", "too_early", "unknown"]


@dataclass(frozen=True, kw_only=True)
class Look:
    """One attempt to find out whether an act happened."""

    seq: int
    at: float
    how: Literal["act", "verification", "person"]
    """`act`: the response to the act; `verification`: an observation or probe afterwards; `person`: a person's answer."""
    finding: Finding
    evidence: Evidence
    detail: str
    observation: str = ""
    by: str = ""
    """The person who decided."""


@dataclass(frozen=True, kw_only=True)
class SentAct:
    """One act that was sent into the world."""

    command: int
    version: int
    index: int
    says: str
    consequence: Consequence | None
    """Everything that was sent; None for acts without values to approve."""
    digest: str
    """The digest of the consequence."""
    dispatched_at: float
    barred_at: float | None
    """Since when the world refuses this command, so that a delayed copy of it has no effect; None if it does not."""
    status: Status
    evidence: Evidence
    words: str
    """The evidence for the outcome, in words."""
    detail: str
    seen: str
    """The id of the observation before the act."""
    looks: tuple[Look, ...] = ()


async def sent_acts(store: Store, journal: Journal) -> tuple[SentAct, ...]:
    """Every act that was dispatched, in order, with all attempts to find out whether it happened."""
    looks = _collect_looks(journal)
    found: list[SentAct] = []
    for entry in await store.ledger(journal.opening.id):
        if entry.dispatched_at is None:
            continue
        what = await store.consequence(journal.opening.id, entry.consequence) if entry.consequence else None
        found.append(_sent_act(journal, entry, what, looks.get(entry.command, [])))
    return tuple(found)


def _sent_act(journal: Journal, entry: LedgerEntry, what: Consequence | None, looks: list[Look]) -> SentAct:
    outcome = entry.outcome or Outcome(status="unknown")
    decided = next((look for look in reversed(looks) if look.finding in ("happened", "did_not_happen")), None)
    if outcome.status == "unknown" and decided is not None:
        status: Status = "ok" if decided.finding == "happened" else "failed"
        outcome = replace(outcome, status=status, evidence=decided.evidence, detail=decided.detail)
    plan = journal.plan(entry.version)
    says = describe_step(plan.steps[entry.index]) if plan and entry.index < len(plan.steps) else ""
    return SentAct(
        command=entry.command,
        version=entry.version,
        index=entry.index,
        says=says,
        consequence=what,
        digest=entry.consequence,
        dispatched_at=entry.dispatched_at or 0.0,
        barred_at=entry.barred_at,
        status=outcome.status,
        evidence=outcome.evidence,
        words=describe_evidence(outcome),
        detail=outcome.detail,
        seen=entry.seen,
        looks=tuple(looks),
    )


def _collect_looks(journal: Journal) -> dict[int, list[Look]]:
    """The looks of each act, by the command that acted."""
    doubted: dict[int, int] = {}
    asked: dict[int, int] = {}
    checks: set[int] = set()
    latest = 0
    found: dict[int, list[Look]] = {}
    for row in journal.rows:
        event = row.event
        match event:
            case Acted() if event.dispatched:
                found.setdefault(event.answers, []).append(_look_by_act(row.seq, event))
            case Verified() if event.answers in checks and event.verdict in ("undecided", "too_early"):
                pass  # one of many looks while a person was asked
            case Verified() if event.answers in doubted:
                latest = doubted[event.answers]
                found.setdefault(latest, []).append(_look_by_verification(row.seq, event))
            case ApprovalDecided() if event.question in asked and event.verdict in ("happened", "did_not_happen"):
                found.setdefault(asked[event.question], []).append(_look_by_person(row.seq, event))
            case _:
                pass
        for command in row.commands:
            if isinstance(command, Verify):
                doubted[command.id] = latest = command.doubted
                checks |= {command.id} if command.question else set()
            elif isinstance(command, AskPerson) and command.about == "happened":
                asked[command.id] = latest
    return found


def _look_by_act(seq: int, event: Acted) -> Look:
    finding: Finding = (
        "unknown" if event.status == "unknown" else "happened" if event.status == "ok" else "did_not_happen"
    )
    seen = event.seen.id if event.seen else ""
    detail = event.detail or event.reason
    return Look(
        seq=seq, at=event.at, how="act", finding=finding, evidence=event.evidence, detail=detail, observation=seen
    )


def _look_by_verification(seq: int, event: Verified) -> Look:
    return Look(
        seq=seq,
        at=event.at,
        how="verification",
        finding=event.verdict,
        evidence=event.evidence,
        detail=event.detail or event.reason,
        observation=event.seen.id if event.seen else "",
    )


def _look_by_person(seq: int, event: ApprovalDecided) -> Look:
    finding: Finding = "happened" if event.verdict == "happened" else "did_not_happen"
    return Look(
        seq=seq, at=event.at, how="person", finding=finding, evidence="person", detail=event.guidance, by=event.by
    )
