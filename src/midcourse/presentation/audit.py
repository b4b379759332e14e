"""Entries of the audit log as sentences: what people decided."""

from midcourse.domain.events import ApprovalDecided, Event, Guided, TakenOver

VERDICTS = {
    "approved": "approved question {question}",
    "rejected": "rejected question {question}",
    "changed": "approved question {question} with changes",
    "take_over": "took over at question {question}",
    "go_on": "answered question {question}: continue",
    "happened": "answered question {question}: it happened",
    "did_not_happen": "answered question {question}: it did not happen",
    "stop": "stopped at question {question}",
    "send_again": "answered question {question}: send it again",
}
WORDS = {"pause_asked": "asked for a pause", "resume_asked": "resumed it", "cancel_asked": "cancelled it"}


def describe_taking_over(event: TakenOver) -> str:
    """What a person did in the world, without the person's name."""
    return f"acted in place of the run: {'; '.join(event.did)}" if event.did else "took over the world of the run"


def describe_input(event: Event) -> str:
    """What a person did, as a sentence."""
    match event:
        case ApprovalDecided():
            who = event.by or "a person"
            what = VERDICTS[event.verdict].format(question=event.question)
            words = f": {event.guidance}" if event.guidance else ""
            return f"{who} {what}{words}"
        case Guided():
            return f"a person advised: {event.text}"
        case TakenOver():
            return f"{event.by} {describe_taking_over(event)}"
        case _:
            return f"a person {WORDS[event.kind]}"
