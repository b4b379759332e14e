"""Replays the recorded turns through `decide`."""

from collections.abc import Iterable

from midcourse.domain.budget import Limits
from midcourse.domain.commands import Finish
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.replay.equivalence import describe_commands
from midcourse.replay.recorded import Commands, Replayed, Row, build_result, take_turn
from midcourse.replay.what_if import ChangedReplay


def replay(opening: Run, rows: Iterable[Row], limits: Limits | None = None) -> Replayed:
    """Replay the recorded turns from this state on, with these limits in place of the recorded ones."""
    rows = tuple(rows)
    states: list[Run] = [opening]
    issued: list[Commands] = []
    for row in rows:
        run, commands = take_turn(states[-1], row.event)
        states.append(run)
        issued.append(commands)
        if (run.seq, _without_end_details(commands)) != (row.seq, _without_end_details(row.commands)):
            says = f"nondeterminism at event {row.seq}: recorded {describe_commands(row.commands)}, now {describe_commands(commands)}"
            return build_result("nondeterminism", run, run, issued, at=row.seq, detail=says)
    if limits is None or limits == opening.limits:
        return build_result("identical", states[-1], states[-1], issued)
    return ChangedReplay(opening, states, limits).walk(rows)


def _without_end_details(commands: Commands) -> Commands:
    """The commands without the wording of an end, which may have been improved since they were recorded."""
    return tuple(replace(command, detail="") if isinstance(command, Finish) else command for command in commands)


def list_states(opening: Run, rows: Iterable[Row]) -> tuple[Run, ...]:
    """The state before the first turn, and after each."""
    found = [opening]
    for row in rows:
        found.append(take_turn(found[-1], row.event)[0])
    return tuple(found)


def count_carried_out(opening: Run, rows: Iterable[Row]) -> dict[int, int]:
    """How many steps of each plan version were carried out, including `__replan__`."""
    segments = [run.segment for run in list_states(opening, rows) if run.segment is not None]
    return {segment.version: segment.cursor for segment in segments}
