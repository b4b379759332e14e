"""Answers for commands that were lost with their driver, according to the ledger."""

from midcourse.director.lost import answer_for_lost
from midcourse.domain.budget import FREE
from midcourse.domain.commands import Act
from midcourse.domain.events import Event
from midcourse.domain.replace import replace
from midcourse.domain.run import Issued
from midcourse.perform import Ports
from midcourse.perform.acting import LEDGERED, load_step


async def find_answer(ports: Ports, issued: Issued) -> Event | None:
    """The answer for a lost command. None: nothing was spent or sent, so it is performed again."""
    command = issued.command
    answer = answer_for_lost(command, issued.reserved)
    if answer is None or not isinstance(command, Act):
        return None if issued.reserved == FREE else answer
    step = await load_step(ports, command.version, command.index, command.made_by, command.effect)
    entry = await ports.store.ledger_entry(ports.run_id, command.id)
    if step.effect in LEDGERED and entry is None:
        return replace(answer, status="no_effect", reason="not_dispatched", dispatched=False)
    if entry is None or entry.outcome is None:
        return replace(answer, identity=entry.identity if entry else "")
    known = entry.outcome
    return replace(
        answer,
        status=known.status,
        reason=known.reason,
        detail=known.detail,
        evidence=known.evidence,
        claimed=known.claimed,
        dispatched=step.effect not in LEDGERED or entry.dispatched_at is not None,
        identity=entry.identity,
    )
