"""Stays with a durable run. That is driven elsewhere, so Ctrl-C stops nothing: it asks what is meant."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from midcourse.cli.session.follower import BACK, CANCEL, LEAVE, Conductor, Followed
from midcourse.cli.session.prompt import Choice, Desk
from midcourse.cli.session.screen import Screen
from midcourse.cli.view.run import View
from midcourse.domain.approval import Decision, Question
from midcourse.domain.result import Result
from midcourse.ports.approver import Approver
from midcourse.ports.store import Store

LEFT_ALONE = Choice(key=LEAVE, label="[q]uit", leads_to="leave it alone; it goes on without you")
CHOICES = (
    Choice(key="w", label="[w]atch", leads_to="go on watching"),
    Choice(key="p", label="[p]ause", leads_to="after the step under way, until somebody resumes it"),
    Choice(key="r", label="[r]esume", leads_to="end a pause: look at the world again, then go on"),
    Choice(key="g", label="[g]uide", leads_to="give the planner advice for its next plan"),
    CANCEL,
    LEFT_ALONE,
)


class Attendant(Conductor):
    """One durable run in front of one person. Without a live view Ctrl-C leaves it, and it goes on."""

    instead_of_answering: ClassVar[Sequence[Choice]] = (BACK, CANCEL, LEFT_ALONE)

    def __init__(self, *, store: Store, view: View, screen: Screen, desk: Desk | None, live: bool) -> None:
        super().__init__(store=store, view=view, screen=screen, desk=desk, live=live)
        self._at_the_desk = asyncio.Lock()
        self._choosing: asyncio.Task[None] | None = None

    async def follow(self, run: Followed) -> Result | None:
        """The run's result. None: it was left, and goes on."""
        try:
            return await super().follow(run)
        finally:
            if self._choosing is not None:
                self._choosing.cancel()

    def in_turn(self, approver: Approver) -> Approver:
        """Asks only while nothing else is being asked: the run goes on, whatever is on the screen."""
        return _InTurn(approver, self._at_the_desk)

    def _interrupt(self) -> None:
        self._interrupts += 1
        if self._desk is not None and self._desk.keyboard.interrupt():
            return
        if self._interrupts > 1 or not self._can_pause:
            self.leave()
        else:
            self._choosing = asyncio.create_task(self._choose(), name="menu")

    async def _choose(self) -> None:
        async with self._at_the_desk:
            await self._menu("It goes on meanwhile.", CHOICES)
            self._interrupts = 0

    def _carry_out(self, choice: str, guidance: str) -> None:
        run = self._run
        assert run is not None
        match choice:
            case "p":
                run.pause()
            case "r":
                run.resume()
            case "g" if guidance:
                run.guide(guidance)
            case CANCEL.key:
                run.cancel()
            case LEFT_ALONE.key:
                self.leave()
            case _:
                pass


class _InTurn:
    def __init__(self, approver: Approver, desk: asyncio.Lock) -> None:
        self._approver = approver
        self._desk = desk

    async def ask(self, question: Question) -> Decision | None:
        async with self._desk:
            return await self._approver.ask(question)
