"""Whether a decision is valid: the one rule for every edge. An edge chooses words for a code, and adds no condition of its own.

A decision is checked twice. `find_objection` compares it with the question that its author saw, before it is sent to the run.
`find_objection_now` compares it with the state of the run, when the message is accepted and again when it is applied.
"""

import unicodedata
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from midcourse.domain.approval import VERDICTS, Change, Decision, Question, Verdict
from midcourse.domain.commands import Wait
from midcourse.domain.events import ApprovalDecided
from midcourse.domain.phases import Asking, Ended
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.approval.question import bind_decision, is_read_at_a_glance, list_digests

DENIALS: tuple[Verdict, ...] = ("rejected", "stop")
CONSENTS: tuple[Verdict, ...] = ("approved", "changed", "send_again", "spend_more")
"""Verdicts that allow something to be sent or spent. They apply to exactly what was shown."""
THROUGH_MCP = " (mcp)"
"""What follows the name of a person whose MCP host acts for them. The host is a model with the person's rights, not another person."""

ObjectionCode: TypeAlias = Literal[
    "withdrawn",  # evidence decided the question
    "ended",
    "none_open",
    "other_question",
    "wrong_verdict",
    "other_content",  # what was shown is not what is asked
    "invalid_changes",
    "wrong_author",
    "unread",
    "expired",
]
Reading: TypeAlias = Literal["glance", "through"]
"""How the question was read. `glance`: nothing shows that anyone read to its end. `through`: a person was shown all pages, or a
program has the whole question."""


@dataclass(frozen=True, kw_only=True)
class Objection:
    """Why a decision has no effect."""

    code: ObjectionCode
    text: str
    question: int = 0
    """The question that is open, if one is."""
    verdicts: tuple[Verdict, ...] = ()
    """For `wrong_verdict`: the verdicts that the question takes."""


def find_objection(
    question: Question, decision: Decision, *, shown: tuple[str, ...] | None = None, read: Reading = "through"
) -> Objection | None:
    """Why this decision does not answer this question; None if it does. `shown`: the digests that its author says they saw."""
    asked, bound = list_digests(question), bind_decision(question, decision)
    if shown is not None:
        bound = replace(bound, shown=shown)
    if objection := _compare(question, asked, bound):
        return objection
    # A denial does not have to say what was shown. But an author who says it, and saw something else, may deny something else.
    if bound.shown != asked:
        return _object_to_content(question.id)
    if decision.verdict in CONSENTS and not decision.all_values and needs_all_values(question, read):
        text = "part of what would be sent is shown only by its digest" if question.abridged else "a value is long"
        return Objection(
            code="unread",
            text=f"{text}: an approval has to say all_values (--all-values)",
            question=question.id,
        )
    return None


def needs_all_values(question: Question, read: Reading) -> bool:
    """Whether consent has to say `all_values`. Who reads a question through has read a long value, but not one shown by its digest."""
    return question.abridged if read == "through" else not is_read_at_a_glance(question.consequences)


def find_objection_now(run: Run, decision: ApprovalDecided) -> Objection | None:
    """Why this decision would have no effect on the run; None if it will be applied."""
    if closed := find_closed(run, decision.question):
        return closed
    assert isinstance(run.phase, Asking), "its question is open"
    phase = run.phase
    asked = tuple(step.consequence for step in phase.steps)
    if objection := _compare(run, asked, decision):
        return objection
    if decision.verdict == "changed" and phase.purpose != "segment":
        text = "a try of a detour cannot be changed: reject it with guidance"
        return Objection(code="invalid_changes", text=text, question=phase.question)
    # The timer of the question may be due, but behind the decision in the mailbox.
    now = max(run.now, decision.at)
    limits = (i for i in run.pending if isinstance(i.command, Wait) and i.command.id != phase.timer)
    if any(now >= issued.at + cast(Wait, issued.command).seconds for issued in limits):
        return Objection(code="expired", text="the time to answer is over", question=phase.question)
    return None


def find_closed(run: Run, question: int) -> Objection | None:
    """Why this question cannot be decided any more; None if it is open."""
    known = run.withdrawn
    if known and known.question == question:
        return Objection(code="withdrawn", text=f"question {question} was withdrawn: {known.why}")
    if isinstance(run.phase, Ended):
        return Objection(code="ended", text=f"the run has ended: {run.phase.reason}")
    if not isinstance(run.phase, Asking):
        return Objection(code="none_open", text="no question is open")
    if run.phase.question != question:
        text = f"question {question} is not open; question {run.phase.question} is"
        return Objection(code="other_question", text=text, question=run.phase.question)
    return None


def _compare(asked: Question | Run, consequences: tuple[str, ...], decision: ApprovalDecided) -> Objection | None:
    """Why this decision does not fit what is asked, as its author was shown it or as the run has it."""
    question = asked if isinstance(asked, Question) else cast(Asking, asked.phase)
    about = question.about
    number = decision.question
    if decision.verdict not in VERDICTS[about]:
        text = f"question {number} takes {', '.join(VERDICTS[about])}, not {decision.verdict}"
        return Objection(code="wrong_verdict", text=text, question=number, verdicts=VERDICTS[about])
    if decision.verdict in CONSENTS and (decision.shown, decision.more) != (consequences, question.more):
        return _object_to_content(number)
    if invalid := _find_invalid_changes(decision.verdict, decision.changes, len(consequences)):
        return Objection(code="invalid_changes", text=invalid, question=number)
    if why_not := why_may_not_decide(asked, decision):
        return Objection(code="wrong_author", text=why_not, question=number)
    return None


def _object_to_content(question: int) -> Objection:
    text = f"what was shown is not what question {question} asks about"
    return Objection(code="other_content", text=text, question=question)


def _find_invalid_changes(verdict: Verdict, changes: tuple[Change, ...], steps: int) -> str:
    if verdict != "changed":
        return "only an approval with changes changes anything" if changes else ""
    if not any(change.arguments for change in changes):
        return "it says 'changed' and has no changes"
    beyond = [change.step + 1 for change in changes if not 0 <= change.step < steps]
    return f"there is no step {beyond[0]} in the question" if beyond else ""


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
