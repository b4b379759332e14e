"""The commands in a run's journal: when each was issued, and when it was answered."""

from collections.abc import Iterable
from dataclasses import dataclass

from midcourse.domain.commands import Wait
from midcourse.domain.events import ApprovalDecided
from midcourse.ports.store import JournalRow


@dataclass(kw_only=True)
class Performed:
    kind: str
    command: int
    issued: float
    answered: float = float("inf")

    def is_under_way(self, at: float) -> bool:
        return self.issued <= at < self.answered


def list_performed(journal: Iterable[JournalRow]) -> list[Performed]:
    """List all commands except timers, in the order in which they were issued."""
    found: dict[int, Performed] = {}
    for row in journal:
        event = row.event
        answers = event.question if isinstance(event, ApprovalDecided) else getattr(event, "answers", 0)
        if answers in found:
            found[answers].answered = min(found[answers].answered, event.at)
        for command in row.commands:
            if not isinstance(command, Wait):
                found[command.id] = Performed(kind=command.kind, command=command.id, issued=event.at)
    return list(found.values())
