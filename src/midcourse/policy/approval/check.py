"""Approval checks: which steps need a person's approval, and which decisions are valid. Decided by code, never by a model."""

import unicodedata

from midcourse.domain.approval import Change, Decision, Grant, Question, Verdict
from midcourse.domain.budget import Limits
from midcourse.domain.events import ApprovalDecided
from midcourse.domain.plan import PlannedStep, Step
from midcourse.domain.run import Run

DENIALS: tuple[Verdict, ...] = ("rejected", "stop")
CONSENTS: tuple[Verdict, ...] = ("approved", "changed", "send_again")
"""Verdicts that allow something to be sent. They apply to exactly what was shown."""
THROUGH_MCP = " (mcp)"
"""What follows the name of a person whose MCP host acts for them. The host is a model with the person's rights, not another person."""


def needs_approval(limits: Limits, step: PlannedStep) -> bool:
    """Whether a step needs approval. Rules come before modes: with an `ask` rule it does even if `approvals` is `never`."""
    match step.ruled:
        case "ask" | "unproven":
            return True
        case "never":
            return False
        case "" | "proven":
            return limits.approvals != "never" and (step.effect == "irreversible" or step.asks)


def binds(step: PlannedStep | Step) -> bool:
    """Whether the step's consequence is bound: it must be known before anything is sent, and nothing else may be sent."""
    return step.effect == "irreversible" or step.asks or step.ruled in ("ask", "unproven", "proven")


def why_may_not_decide(asked: Question | Run, decision: Decision | ApprovalDecided) -> str:
    """Why the author of this decision may not make it, or an empty string. Anyone may deny.

    Identities are compared, because a person may have several names. Where one of the two is unknown, as in runs of earlier
    versions, names that could be the same person's count as the same.
    """
    if not (asked.not_by or asked.not_by_id) or decision.verdict in DENIALS:
        return ""
    name = decision.by.strip()
    if not name and not decision.by_id:
        return "the decision has no name, and the person who started the run must not decide"
    if asked.not_by_id and decision.by_id:
        same = asked.not_by_id == decision.by_id
    else:
        same = _fold_name(asked.not_by) == _fold_name(name)
    return f"{name or 'the same person'} started the run: another person must decide" if same else ""


def _fold_name(name: str) -> str:
    """The name without what two spellings of it may differ in: case, width, accents' encoding, invisible characters and spaces."""
    plain = unicodedata.normalize("NFKC", name).casefold().removesuffix(THROUGH_MCP)
    return "".join(char for char in plain if unicodedata.category(char)[0] not in "CZ")


def why_changes_invalid(verdict: Verdict, changes: tuple[Change, ...], steps: int) -> str:
    """Why these changes do not answer a question about this number of steps, or an empty string."""
    if verdict != "changed":
        return "only an approval with changes changes anything" if changes else ""
    if not any(change.arguments for change in changes):
        return "it says 'changed' and has no changes"
    beyond = [change.step + 1 for change in changes if not 0 <= change.step < steps]
    return f"there is no step {beyond[0]} in the question" if beyond else ""


def why_needs_all_values(question: Question, decision: Decision) -> str:
    """Why this decision does not approve what the question shows only in part, or an empty string."""
    if decision.verdict not in CONSENTS or decision.all_values or not question.abridged:
        return ""
    return "part of what would be sent is shown only by its digest: an approval has to say all_values (--all-values)"


def live_grant(grants: tuple[Grant, ...], consequence: str, now: float, *, repeat: bool = False) -> Grant | None:
    """The unexpired approval of exactly this consequence. `repeat`: it must also allow a repetition."""
    valid = (g for g in grants if consequence and g.consequence == consequence and g.expires_at > now)
    return next((g for g in valid if g.repeat or not repeat), None)
