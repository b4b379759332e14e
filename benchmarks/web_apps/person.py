"""The approver: approves only what the task asks for, and answers doubts by the application's record."""

from benchmarks.web_apps.application import Started
from midcourse.domain.approval import Decision, Question


class RecordApprover:
    """Also approves a request that was sent before, because the run itself must avoid repetition."""

    def __init__(self, started: Started) -> None:
        self._started = started
        self.approvals = 0
        """Questions whether something may be done."""
        self.doubts = 0
        """Questions whether something happened."""

    async def ask(self, question: Question) -> Decision:
        sent = [consequence.commit for consequence in question.consequences]
        if question.about == "approve":
            self.approvals += 1
            if all(self._started.asked_for(commit) for commit in sent):
                return Decision(verdict="approved", by="the benchmark", all_values=True)
            return Decision(verdict="rejected", guidance="Nobody asked for that.", by="the benchmark")
        self.doubts += 1
        there = all(self._started.has(commit) for commit in sent)
        return Decision(verdict="happened" if there else "did_not_happen", by="the benchmark")
