"""Approvers for tests. Each keeps the `questions` it was asked."""

import asyncio

from midcourse.domain.approval import Decision, Question, Verdict


class Approves:
    """An approver that approves everything, except sending something a second time and, without `more`, spending beyond a ceiling.

    If it is asked whether something happened, it answers `doubt`.
    """

    def __init__(self, once: bool = True, *, doubt: Verdict = "stop", more: bool = False, by: str = "testing") -> None:
        self._more = more
        self._yes = Decision(verdict="approved", once=once, by=by, all_values=True)
        self._doubt = Decision(verdict=doubt, by=by)
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Decision | None:
        self.questions.append(question)
        match question.about:
            case "approve":
                return self._yes
            case "happened":
                return self._doubt
            case "stuck" | "question":
                return Decision(verdict="go_on", by=self._yes.by)
            case "repeat":
                return Decision(verdict="rejected", by=self._yes.by)
            case "more":
                return Decision(verdict="spend_more" if self._more else "stop", by=self._yes.by)


class Rejects:
    """Rejects everything, and answers a doubt with stop. With guidance, the run plans again."""

    def __init__(self, guidance: str = "", *, by: str = "testing") -> None:
        self._no = Decision(verdict="rejected", guidance=guidance, by=by)
        self._stop = Decision(verdict="stop", guidance=guidance, by=by)
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Decision | None:
        self.questions.append(question)
        return self._no if question.about in ("approve", "repeat") else self._stop


class Answers:
    """Gives these decisions in order, fitting or not, and None for every question after the last."""

    def __init__(self, *decisions: Decision | None) -> None:
        self._decisions = decisions
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Decision | None:
        self.questions.append(question)
        asked = len(self.questions)
        return self._decisions[asked - 1] if asked <= len(self._decisions) else None


class Silent:
    """Never answers, and never comes back from the question."""

    def __init__(self) -> None:
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Decision | None:
        self.questions.append(question)
        await asyncio.Event().wait()
        return None


class Posts:
    """Takes the question and returns immediately; the test decides by reading `questions`."""

    def __init__(self) -> None:
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Decision | None:
        self.questions.append(question)
        return None
