"""The invariants of drivers and speakers, checked on what the store holds after every commit.

1  Only the latest claim writes, and nothing of a refused batch is visible.
2  The journal is 1..n without gaps, and the state is that of turn n.
3  Each accepted message is in the journal once, in order, and nothing objects to it on the state that it is decided on
   (but the answers for lost commands come first, and if the run has ended then, only an approval is sure to count).
4  A run that rests although it has messages is found by the next sweep, and needs none if every signal arrives.
5  An irreversible act whose like was sent without a known outcome comes after that one was barred.
6  A clean rest leaves no trace. After an unclean end the next driver first writes `Resumed`.
7  Epochs grow, a driver that was placed earlier than the latest never claims, and no (epoch, holder) is given twice.
8  Loading gives exactly the pending commands that were written, whatever director wrote them.
9  Every run ends.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from midcourse.director.decide import why_no_effect
from midcourse.domain.events import ApprovalDecided, Event, Resumed
from midcourse.domain.phases import New
from midcourse.domain.run import Run
from midcourse.drive import is_over
from midcourse.ports.controls import Request
from midcourse.ports.world import Call
from tests.properties.drivers.scheduler import Process
from tests.properties.drivers.stores import Backend, Doing, Stored

RUN = "run"


@dataclass
class Auditor:
    backend: Backend
    stored: Stored = field(default_factory=Stored)
    claims: list[tuple[int, str, int]] = field(default_factory=list[tuple[int, str, int]])
    """Epoch, holder and placement of each, in order."""
    accepted: list[Request] = field(default_factory=list[Request])
    rested: tuple[int, str, int] = (0, "", -1)
    """The claim that rested last, and the turn."""
    unclean: bool = False
    """Whether the latest claim has to begin with `Resumed`."""
    first: bool = False
    """Whether the latest claim has written no turn yet."""
    broken: list[str] = field(default_factory=list[str])
    """What was found: a driver would treat an exception as an error of the store."""
    recovered: int = 0
    """The last message that waited while a driver answered for lost commands."""
    unchecked: tuple[int, ...] = ()
    """Invariants that are not to be expected here."""
    heard: Callable[[Process, Event], None] = lambda *_: None
    """Called with every turn."""

    def check(self, number: int, holds: bool, what: str) -> None:
        if not holds and number not in self.unchecked:
            self.broken.append(f"invariant {number}: {what}")

    async def committed(self, process: Process, doing: Doing) -> None:
        """Check what one call has changed. What raises here, such as a state that cannot be read, is a finding."""
        try:
            await self._check_commit(process, doing)
        except Exception as error:
            self.broken.append(f"invariant 2: after {doing.name}: {error!r}")

    async def _check_commit(self, process: Process, doing: Doing) -> None:
        before, after = self.stored, await self.backend.read(RUN)
        self.stored = after
        if doing.name == "save_turn" and not process.claimed[1]:
            self.check(1, False, "a turn without a claim")
        if before.everything == after.everything:
            return
        match doing.name:
            case "begin":
                pass
            case "claim_run":
                self._claimed(process, doing, before, after)
            case "post":
                self._posted(doing, before, after)
            case "rest":
                self._rests(process, doing, before, after)
            case _:
                self._wrote(process, doing, before, after)
        self._consistent(after)

    def _consistent(self, after: Stored) -> None:
        seqs = [row.seq for row in after.journal]
        self.check(2, seqs == list(range(1, len(seqs) + 1)), f"the journal is {seqs}")
        if after.state is not None:
            self.check(
                2, after.state.seq == len(seqs), f"the state is of {after.state.seq}, the journal of {len(seqs)}"
            )

    def _claimed(self, process: Process, doing: Doing, before: Stored, after: Stored) -> None:
        process.claimed = after.epoch, after.holder
        placed = doing.options["placed"]
        latest = max((placed for _, _, placed in self.claims), default=0)
        self.check(7, placed >= latest, f"placed at {placed}, after one placed at {latest}")
        self.check(7, after.epoch > before.epoch, f"epoch {after.epoch} after {before.epoch}")
        known = {(epoch, holder) for epoch, holder, _ in self.claims}
        self.check(7, process.claimed not in known, f"{process.claimed} twice")
        self.check(1, after.journal == before.journal, "a claim wrote a turn")
        self.claims.append((*process.claimed, placed))
        state = after.state
        assert state is not None
        clean = self.rested == (before.epoch, before.holder, state.seq)
        self.unclean = not clean and not isinstance(state.phase, New) and not is_over(state)
        self.first = True

    def _posted(self, doing: Doing, before: Stored, after: Stored) -> None:
        self.check(1, after.journal == before.journal, "a speaker wrote a turn")
        self.check(3, after.messages == before.messages + 1, f"message {after.messages} after {before.messages}")
        self.accepted.append(doing.arguments[1])

    def _rests(self, process: Process, doing: Doing, before: Stored, after: Stored) -> None:
        self._is_latest(process, before, "rested")
        self.check(4, before.messages == doing.options["known"], f"rested with {before.messages} messages unread")
        self.check(1, after.journal == before.journal, "a rest wrote a turn")
        self.rested = (*process.claimed, doing.options["seq"])

    def _is_latest(self, process: Process, before: Stored, what: str) -> None:
        latest = before.epoch, before.holder
        self.check(1, process.claimed == latest, f"{process.claimed} {what}, after the claim of {latest}")

    def _wrote(self, process: Process, doing: Doing, before: Stored, after: Stored) -> None:
        self._is_latest(process, before, f"wrote ({doing.name})")
        grown = after.journal[len(before.journal) :]
        self.check(1, after.journal[: len(before.journal)] == before.journal, "a turn was rewritten")
        if doing.name != "save_turn":
            self.check(2, not grown, f"{doing.name} wrote a turn")
            return
        run: Run = doing.arguments[0]
        known, message = doing.options.get("known"), doing.options.get("message", 0)
        self.check(1, known is None or before.messages == known, f"turn {run.seq} precedes an accepted message")
        if known is not None and not message:
            waiting = before.messages - before.decided
            self.check(3, not waiting, f"turn {run.seq} precedes {waiting} messages that it knows")
        self.check(2, len(grown) == 1, f"{len(grown)} turns at once")
        self.check(2, after.state == run, f"the state of turn {run.seq} is another one than was written")
        if after.state is not None:
            self.check(8, after.state.pending == run.pending, f"pending commands of turn {run.seq} differ")
        if grown:
            if known is None and not message:
                self.recovered = after.messages
            self._turn(process, before, grown[0].event, message)
            self.heard(process, grown[0].event)

    def _turn(self, process: Process, before: Stored, event: Event, message: int) -> None:
        if self.first:
            resumes = isinstance(event, Resumed)
            self.check(6, resumes == self.unclean, f"the first turn of {process.claimed} is {event}")
        self.first = False
        self.check(3, bool(message) == isinstance(event, Request), f"message {message} is {event}")
        if message and before.state is not None and isinstance(event, Request):
            self.check(3, message == before.decided + 1, f"message {message} after {before.decided}")
            self.check(3, event == self.accepted[message - 1], f"message {message} was decided as {event}")
            why = why_no_effect(before.state, event)
            excused = message <= self.recovered and not isinstance(event, ApprovalDecided)
            self.check(3, not why or excused, f"{event} was accepted, and then: {why}")

    # --- the world's side

    async def acts(self, call: Call, barred: set[int]) -> None:
        """Check an act right before it begins."""
        ledger = (await self.backend.read(RUN)).ledger
        mine = next((entry for entry in ledger if entry.command == call.command), None)
        if mine is None or not mine.identity:
            return
        for entry in ledger:
            open_end = entry.dispatched_at is not None and entry.outcome is None
            if entry.identity == mine.identity and entry.command != call.command and open_end:
                self.check(5, entry.command in barred, f"{call.command} acts, {entry.command} was never barred")

    def forget(self, stored: Stored) -> None:
        """The database has lost what was committed after this."""
        self.stored = stored
        self.claims = [(epoch, holder, 0) for epoch, holder, _ in self.claims]

    # --- at the end

    def ended(self, effects: list[str]) -> None:
        stored = self.stored
        self.check(9, stored.state is not None and is_over(stored.state), "the run did not end")
        self.check(3, stored.decided == stored.messages, f"{stored.messages - stored.decided} messages undecided")
        said = [row.event for row in stored.journal if isinstance(row.event, Request)]
        self.check(3, said == self.accepted, f"accepted {self.accepted}, decided {said}")
        self.check(5, len(effects) == len(set(effects)), f"effects in the world: {effects}")
