"""Runs to replay: played on the scenarios' stage, driven by hand, or made up byte by byte."""

from dataclasses import dataclass, replace
from typing import Any

from midcourse.codec import encode
from midcourse.domain.budget import Limits
from midcourse.domain.commands import Command
from midcourse.domain.events import Event
from midcourse.domain.run import Run
from midcourse.ports.store import JournalRow
from midcourse.replay import Replayed, replay
from midcourse.store.state import COMMANDS
from tests.harness import Drill
from tests.properties.adversary import Adversary
from tests.scenarios.stage import RUN, Played, Stage


@dataclass(frozen=True, kw_only=True)
class Recording:
    opening: Run
    rows: tuple[JournalRow, ...]
    state: Run

    def again(self, **changes: Any) -> Replayed:
        return replay(self.opening, self.rows, replace(self.opening.limits, **changes) if changes else None)

    def under(self, limits: Limits) -> Replayed:
        return replay(self.opening, self.rows, limits)

    def is_identical(self) -> bool:
        """To the byte: every turn's commands, and the state in the end."""
        again = self.again()
        recorded = [written(row.commands) for row in self.rows]
        return (
            again.verdict == "identical"
            and [written(commands) for commands in again.commands] == recorded
            and encode(again.final) == encode(self.state)
        )


def written(commands: tuple[Command, ...]) -> str:
    return encode(commands, COMMANDS)


async def recording_of(stage: Stage) -> Recording:
    """What the stage's store has of its run."""
    state, _ = await stage.store.load(RUN)
    return Recording(opening=await stage.store.initial_state(RUN), rows=await stage.store.journal(RUN), state=state)


async def recorded(stage: Stage) -> tuple[Recording, Played]:
    played = await stage.play()
    return await recording_of(stage), played


def made_up(data: bytes, **limits: Any) -> Recording:
    adversary = Adversary(data, **limits)
    opening = adversary.run
    turns = tuple(adversary.turns())
    rows = tuple(JournalRow(seq=turn.after.seq, event=turn.event, commands=turn.commands) for turn in turns)
    return Recording(opening=opening, rows=rows, state=adversary.run)


class Recorder(Drill):
    """A run driven by hand that keeps its journal."""

    def __init__(self, **limits: Any) -> None:
        super().__init__(**limits)
        self._opening = self.run
        self._rows: list[JournalRow] = []

    def tell(self, event: Event, after: float = 1.0) -> "Recorder":
        known = len(self.commands)
        super().tell(event, after)
        row = JournalRow(seq=self.run.seq, event=replace(event, at=self.now), commands=tuple(self.commands[known:]))
        self._rows.append(row)
        return self

    def again(self, **changes: Any) -> Replayed:
        return self.recording().again(**changes)

    def recording(self) -> Recording:
        return Recording(opening=self._opening, rows=tuple(self._rows), state=self.run)
