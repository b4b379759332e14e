"""Port of the approver: a person, or a program that answers for one."""

from typing import Protocol

from midcourse.domain.approval import Decision, Question


class Approver(Protocol):
    async def ask(self, question: Question) -> Decision | None:
        """Put the question. None: it is out, and the decision comes later through the mailbox."""
        ...
