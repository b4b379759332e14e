"""Whether a step needs approval: by the mode, by written rules, and by earlier decisions. Decided by code, never by a model.

Rules come first. Earlier decisions count only for what can be undone: no number of approvals makes an irreversible step skip
the question (design/0009).
"""

from fnmatch import fnmatchcase
from itertools import takewhile

from midcourse.domain.agreement import Agreement, Rule, Ruling
from midcourse.domain.approval import CommitSet, Consequence, Grant
from midcourse.domain.budget import Limits
from midcourse.domain.plan import PlannedStep, Step
from midcourse.domain.records.answers import AnsweredConsequence
from midcourse.domain.skill import Skill
from midcourse.domain.task import Task


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


def live_grant(
    grants: tuple[Grant, ...], consequence: str, now: float, *, repeat: bool = False, covers: str = ""
) -> Grant | None:
    """The unexpired approval of exactly this consequence, or of what it `covers`. `repeat`: it must also allow a repetition."""
    live = [g for g in grants if consequence and g.expires_at > now]
    valid = [g for g in live if g.consequence == consequence] + [g for g in live if covers and g.covers == covers]
    return next((g for g in valid if g.repeat or not repeat), None)


def find_ruling(agreement: Agreement, what: Consequence) -> Ruling:
    """`ask` or `never` by the rules, or empty. Before a consequence is read, rules match only its known parts."""
    fitting = [rule for rule in agreement.rules if _fits(rule, what)]
    if any(rule.ask for rule in fitting):
        return "ask"
    return "never" if fitting else ""


def _fits(rule: Rule, what: Consequence) -> bool:
    if rule.effects and what.effect not in rule.effects:
        return False
    if not rule.ask and what.effect == "irreversible" and "irreversible" not in rule.effects:
        return False
    return (
        fnmatchcase(what.skill, rule.skill)
        and fnmatchcase(what.origin, rule.origin)
        and fnmatchcase(what.target.label.casefold(), rule.label.casefold())
        and fnmatchcase(what.commit.address, rule.address)
    )


def planned_consequence(step: Step, origin: str) -> Consequence:
    """The consequence of a step before its commit set is read."""
    return Consequence(
        skill=step.skill,
        arguments=step.arguments,
        effect=step.effect,
        target=step.target,
        origin=origin,
        commit=CommitSet(),
    )


def provisional_ruling(task: Task, what: Consequence, skill: Skill) -> Ruling:
    """The ruling before the consequence is read. Where earlier decisions would count, it is unproven."""
    ruling = "ask" if skill.asks else find_ruling(task.agreement, what)
    return "unproven" if not ruling and weighs_experience(task.limits, what) else ruling


def weighs_experience(limits: Limits, what: Consequence) -> bool:
    """Whether earlier decisions determine if a person is asked."""
    return limits.approvals == "adaptive" and what.effect == "reversible"


def is_proven(agreement: Agreement, answered: tuple[AnsweredConsequence, ...]) -> bool:
    """Whether people approved this shape often enough since the last denial. `answered`: the latest first."""
    # A question counts once, by its first valid answer: later ones decided nothing.
    decisive: dict[tuple[str, int], bool] = {}
    for answer in reversed(answered):
        decision, asked = answer.decision, answer.asked
        approved = decision.verdict == "approved"
        if decision.by.strip() and (not approved or asked.consequence in decision.shown):
            decisive.setdefault((asked.run, asked.question), approved)
    approvals = takewhile(lambda approved: approved, reversed(decisive.values()))
    return sum(approvals) >= agreement.trust_after
