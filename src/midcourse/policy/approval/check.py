"""Approval checks: which steps need a person's approval, and which decisions are valid. Decided by code, never by a model."""

from midcourse.domain.approval import Change, Decision, Grant, Question, Verdict
from midcourse.domain.budget import Limits
from midcourse.domain.plan import PlannedStep, Step

DENIALS: tuple[Verdict, ...] = ("rejected", "stop")
CONSENTS: tuple[Verdict, ...] = ("approved", "changed", "send_again")
"""Verdicts that allow something to be sent. They apply to exactly what was shown."""


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


def why_may_not_decide(not_by: str, verdict: Verdict, by: str) -> str:
    """Why this person may not make this decision, or an empty string. Anyone may deny."""
    if not not_by or verdict in DENIALS:
        return ""
    if not by.strip():
        return "the decision has no name, and the person who started the run must not decide"
    if by.strip().casefold() == not_by.strip().casefold():
        return f"{by.strip()} started the run: another person must decide"
    return ""


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
