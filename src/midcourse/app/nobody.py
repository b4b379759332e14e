"""The approver of a program that named none: unhandled means denied."""

from midcourse.domain.approval import Decision, Question

NOBODY = "nobody was there to ask"


class Nobody:
    """There is nobody to ask, so nothing is allowed and nothing is claimed to have happened."""

    async def ask(self, question: Question) -> Decision:
        return Decision(verdict="rejected" if question.about in ("approve", "repeat") else "stop", by=NOBODY)
