"""The writes that follow an event from a person: a row of the audit log, and the end of a question."""

from midcourse.domain.events import ApprovalDecided, Event
from midcourse.policy.audit import is_human_input
from midcourse.store.postgres.statements import ADD_TO_AUDIT, CLOSE_QUESTION, NO_QUESTION, Statement, Values


def answered_question(event: Event) -> int:
    return event.question if isinstance(event, ApprovalDecided) else NO_QUESTION


def writes_for(run_id: str, seq: int, event: Event, body: str) -> list[tuple[Statement, Values]]:
    if not is_human_input(event):
        return []
    audit = ADD_TO_AUDIT, (run_id, seq, body)
    question = answered_question(event)
    return [audit, (CLOSE_QUESTION, (run_id, question, body))] if question else [audit]
