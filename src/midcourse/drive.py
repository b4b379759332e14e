"""The loop: pass each event to `decide`, start the commands it returns. The same on every runtime."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from midcourse.director.decide import take_turn
from midcourse.domain.commands import Command
from midcourse.domain.events import Event
from midcourse.domain.phases import Ended
from midcourse.domain.run import Issued, Run


@dataclass(frozen=True, kw_only=True)
class Progress:
    """One turn: the event, the state it led to, and the commands issued."""

    event: Event
    run: Run
    commands: tuple[Command, ...]


class Runtime(Protocol):
    """What the loop needs of a runtime: it performs commands, delivers events and stores turns."""

    def start(self, issued: Issued) -> None:
        """Begin to perform a command; its answer goes to the mailbox."""
        ...

    def stop(self, command: Command) -> None:
        """Cancel a command whose answer is no longer needed. Never called for an act."""
        ...

    async def receive(self) -> Event:
        """Wait for the next event of the mailbox. It is stamped with the time."""
        ...

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Return a context in which an event is decided and stored. Entering it may wait for turns of other runs."""
        ...

    async def save_turn(self, progress: Progress) -> bool:
        """Store the turn. Its commands are started only after this returns.

        False: a message was accepted for the state before the turn, and nothing was written. `receive` returns the message
        next, and then this event again.
        """
        ...

    async def should_rest(self, run: Run, fresh: tuple[Issued, ...]) -> bool:
        """Whether `drive` returns before these commands are started. Another `drive` then continues from the state."""
        ...


async def drive(run: Run, runtime: Runtime) -> Run:
    """Perform the pending commands, then take turns until the run ends or rests. It also starts, resumes and continues runs."""
    fresh = run.pending
    while not is_over(run):
        if await runtime.should_rest(run, fresh):
            return run
        for issued in fresh:
            runtime.start(issued)
        event = await runtime.receive()
        before, fresh = run, ()
        async with runtime.turn():
            run, commands = take_turn(run, event)
            is_saved = await runtime.save_turn(Progress(event=event, run=run, commands=commands))
        if not is_saved:
            run = before
            continue
        # The turn gave these up: they are no longer pending, and are not what the event answers.
        kept = {issued.command.id for issued in run.pending} | {getattr(event, "answers", None)}
        for issued in before.pending:
            if issued.command.id not in kept:
                runtime.stop(issued.command)
        fresh = tuple(issued for issued in run.pending if issued.command.id >= before.next_id)
    return run


def is_over(run: Run) -> bool:
    """Whether the run has ended and its result is stored."""
    return isinstance(run.phase, Ended) and not run.pending
