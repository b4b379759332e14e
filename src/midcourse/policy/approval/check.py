"""Does a person have to agree first? The gate is here, in code, outside any model."""

from midcourse.domain.approval import Change, Decision, Grant, Question, Verdict
from midcourse.domain.budget import Limits
from midcourse.domain.plan import PlannedStep, Step

DENIALS: tuple[Verdict, ...] = ("rejected", "stop")
CONSENTS: tuple[Verdict, ...] = ("approved", "changed", "send_again")
"""What lets something be sent, and so is for exactly what was shown."""


def needs_approval(limits: Limits, step: PlannedStep) -> bool:
    """Rules before modes: what somebody wrote down to be asked about is asked about, also where nobody else is asked."""
    match step.ruled:
        case "ask" | "unproven":
            return True
        case "never":
            return False
        case "" | "proven":
            return limits.approvals != "never" and (step.effect == "irreversible" or step.asks)


def binds(step: PlannedStep | Step) -> bool:
    """Whether exactly one consequence may follow from it, so that it has to be known before anything is sent."""
    return step.effect == "irreversible" or step.asks or step.ruled in ("ask", "unproven", "proven")


def why_may_not_decide(not_by: str, verdict: Verdict, by: str) -> str:
    """Why this person cannot decide this, or nothing. Saying no is everybody's right."""
    if not not_by or verdict in DENIALS:
        return ""
    if not by.strip():
        return "nobody says who decides, and whoever started the run must not"
    if by.strip().casefold() == not_by.strip().casefold():
        return f"{by.strip()} started the run: somebody else has to decide"
    return ""


def why_changes_invalid(verdict: Verdict, changes: tuple[Change, ...], steps: int) -> str:
    """Why these changes are none that a question about so many steps can be answered with, or nothing."""
    if verdict != "changed":
        return "only an approval with changes changes anything" if changes else ""
    if not any(change.arguments for change in changes):
        return "it says that something is to be changed, and not what"
    beyond = [change.step + 1 for change in changes if not 0 <= change.step < steps]
    return f"there is no step {beyond[0]} in the question" if beyond else ""


def why_needs_all_values(question: Question, decision: Decision) -> str:
    """Why this decision does not approve what the question shows only in part, or nothing."""
    if decision.verdict not in CONSENTS or decision.all_values or not question.abridged:
        return ""
    return "part of what would be sent is shown only by its digest: an approval has to say all_values (--all-values)"


def live_grant(grants: tuple[Grant, ...], consequence: str, now: float, *, repeat: bool = False) -> Grant | None:
    """The approval that allows exactly this consequence and has not expired. `repeat`: also as a repetition."""
    alive = (g for g in grants if consequence and g.consequence == consequence and g.expires_at > now)
    return next((g for g in alive if g.repeat or not repeat), None)
