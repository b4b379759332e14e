"""Port of the approver: a person, or a program that answers for one."""

from typing import Protocol

from midcourse.domain.approval import Decision, Question


class Approver(Protocol):
    async def ask(self, question: Question) -> Decision | None:
        """Ask the question. None: it was sent, and the decision will arrive through the mailbox."""
        ...
