"""What was sent before, at the head of a question that cannot be answered without knowing of it."""

from midcourse.cli.lookup.names import local_time
from midcourse.domain.approval import Earlier, Question

_FINDINGS = {
    "exists": "which exists",
    "may_exist": "which may exist",
    "reported_absent": "a probe reported it as absent",
}


def earlier_lines(question: Question) -> list[str]:
    """One for each request sent before, then an empty one; none if there is nothing to say."""
    if not question.earlier:
        return []
    if question.about == "repeat":
        lines = [f"This looks like the request sent at {_sent(one)}." for one in question.earlier]
    else:
        lines = [f"Attempt {n}: sent at {_sent(one)}." for n, one in enumerate(question.earlier, start=1)]
    return [*lines, ""]


def _sent(one: Earlier) -> str:
    return f"{local_time(one.at)}, {_FINDINGS[one.finding]}"
