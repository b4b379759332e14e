"""What is to be seen after an act: a look, and what it says of the step's expectations, read where they are only words."""

from midcourse.domain.budget import Spent
from midcourse.domain.observation import Observation
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import Step
from midcourse.domain.replace import replace
from midcourse.perform.looking import Looked, look
from midcourse.perform.ports import Allowance, Ports
from midcourse.perform.reading import read_words
from midcourse.policy.evidence.verification import Sight


async def look_after(ports: Ports, command: int, step: Step, time: Allowance) -> Looked:
    return await look(ports, command, time.left(ports.task.limits.look_timeout_seconds), version=step.version)


async def sight_of(
    ports: Ports, step: Step, before: Observation, found: Looked, time: Allowance, report: Outcome | None = None
) -> tuple[Sight, tuple[Spent, ...]]:
    """What is to be seen, read where it is only words, and what the reading took. Of a failure nothing need be read."""
    after = found.seen if isinstance(found.seen, Observation) else None
    sight = Sight(before=before, after=after, expect=step.expect, absent_when=step.absent_when)
    if after is None or (report is not None and report.status not in ("ok", "unknown")):
        return sight, ()
    read = await read_words(ports, step.expect, after, time, before=before, version=step.version)
    if read.verdict is None:
        return sight, ()
    return replace(sight, read=read.verdict.holds, read_before=read.verdict.held_before), read.spent
