"""The contents of a question to a person: its title, what to know before, what was sent before, and what would be sent.

The terminal, the console and exported pages take their words from here.
"""

import json

from midcourse.codec import encode
from midcourse.domain.approval import About, Consequence, Earlier, Question
from midcourse.domain.argument import Argument
from midcourse.policy.approval.question import QuestionRow, count_addresses, find_changes, list_digests, list_rows
from midcourse.presentation.vocabulary import format_cost, format_time

TITLES: dict[About, str] = {
    "approve": "May this be done?",
    "happened": "Did this happen?",
    "stuck": "How should it continue?",
    "repeat": "Send this again?",
    "question": "What is your answer?",
    "more": "May it spend more?",
}
VOID = "What you approved is not what would be sent now. The old approval is void, nothing was sent."
FOR_RUN = "An answer 'for this run' also covers"
ABRIDGED = (
    "Not all of it can be shown: what ends in a SHA-256 below is too large, or not text, and that digest is all that "
    "you would agree to."
)
_FINDINGS = {
    "exists": "which exists",
    "may_exist": "which may exist",
    "reported_absent": "a probe reported it as absent",
}


def list_notices(question: Question) -> tuple[str, ...]:
    """Sentences to read before what would be sent: what is known, and why it is asked."""
    lines = [VOID] if question.changed_from is not None else []
    match question.about:
        case "happened" if question.contradicted:
            lines.append("It was said that it did not happen, and now something shows that it did. Please look again.")
        case "happened":
            lines.append(
                "It was sent, and no rule can tell yet whether it happened. Please look for yourself; it is looked for meanwhile, too."
            )
        case "stuck":
            lines.append("New plans make no progress. Continue, best with advice, or stop here?")
        case "question":
            lines.append("The planner asks, because only you can know:")
        case "approve":
            covered = [each.commit.covers for each in question.consequences if each.commit.covers]
            lines += [f"{FOR_RUN}: {quote_page(covers)}" for covers in dict.fromkeys(covered)]
        case "more":
            assert question.more is not None, "it says how much"
            lines.append(f"It has reached its ceiling. May it use up to {format_cost(question.more)} more?")
            lines.append("When that is used up, it asks again. Without it, the run ends here.")
        case "repeat":
            pass
    return (*lines, *((ABRIDGED,) if question.abridged else ()))


def earlier_lines(question: Question) -> list[str]:
    """One line for each request sent before, then an empty line; no lines if nothing was sent before."""
    if not question.earlier:
        return []
    if question.about == "repeat":
        lines = [f"This looks like the request sent at {_describe_earlier(request)}." for request in question.earlier]
    else:
        lines = [
            f"Attempt {n}: sent at {_describe_earlier(request)}." for n, request in enumerate(question.earlier, start=1)
        ]
    return [*lines, ""]


def sight_lines(question: Question) -> list[str]:
    """What the screen shows now and why that does not decide whether it happened. Texts of the page are in quotes."""
    lines: list[str] = []
    if question.page:
        lines.append(f"The page now: {quote_page(question.page)}")
    if question.appeared:
        lines.append(f"New on it since: {', '.join(map(quote_page, question.appeared))}")
    lines += [f"{why[:1].upper()}{why[1:]}" for why in question.unmet]
    if question.picture:
        lines.append(f"A picture of the page: midcourse show {question.run} --pictures FOLDER, {question.picture}")
    return lines


def quote_page(text: str) -> str:
    """A text of a page, quoted so that it cannot be read as one of ours."""
    return json.dumps(text, ensure_ascii=False)


def _describe_earlier(request: Earlier) -> str:
    return f"{format_time(request.at)}, {_FINDINGS[request.finding]}"


def why_unseen(question: Question, *, in_full: bool) -> str:
    """Why the approver has not seen everything that would be sent; empty if all was seen. `in_full`: paged to the end."""
    if question.abridged:
        return "Part of what would be sent was shown only by its digest."
    return "" if in_full else "You stopped reading before the end of what would be sent."


def title_step(question: Question, number: int) -> str:
    """What a step of the question is called. A skill alone says nothing, so it is named by what would be sent, or where it acts."""
    says, what = question.says[number].strip(), question.consequences[number]
    if says and says != what.skill:
        return says
    if what.commit.address:
        return f"{what.skill}: sends {count_addresses(what.commit.address)}"
    where = " ".join(filter(None, (what.target.role, what.target.label and quote_page(what.target.label))))
    return f"{what.skill}: {where}" if where else what.skill


def before_of(question: Question, number: int) -> Consequence | None:
    """The consequence of this step when it was last approved or asked about; None if it is new."""
    changed = question.changed_from if number == 0 else None
    return changed or (question.before[number] if number < len(question.before) else None)


def step_json(question: Question, number: int) -> dict[str, object]:
    """One step of the question as JSON: every row that a person sees, its digest, and changes since it was last asked about."""
    consequence = question.consequences[number]
    before = before_of(question, number)
    return {
        "says": title_step(question, number),
        "digest": list_digests(question)[number],
        "abridged": consequence.commit.abridged,
        "shows": [_row(row) for row in list_rows(consequence)],
        "changed": [
            {"was": each.was and _row(each.was), "now": each.now and _row(each.now)}
            for each in (find_changes(before, consequence) if before else ())
        ],
    }


def _row(row: QuestionRow) -> dict[str, object]:
    value = json.loads(encode(row.value, Argument))
    numbered = {"number": row.number, "of": row.of} if row.of > 1 else {}
    words = {name: text for name, text in (("label", row.label), ("page_shows", row.shows)) if text}
    return {"kind": row.kind, "name": row.name, "value": value, **numbered, **words}
