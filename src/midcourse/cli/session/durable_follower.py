"""Follows a durable run. A worker drives it, so Ctrl-C stops nothing: it opens a menu."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from midcourse.cli.session.approver import OneAtATime
from midcourse.cli.session.follower import BACK, CANCEL, LEAVE, FollowableRun, RunFollower
from midcourse.cli.session.prompt import Choice, Prompt
from midcourse.cli.session.screen import Screen
from midcourse.cli.view.run import RunView
from midcourse.domain.result import Result
from midcourse.ports.approver import Approver
from midcourse.ports.store import Store

LEFT_ALONE = Choice(key=LEAVE, label="[q]uit", leads_to="leave it; it continues without you")
CHOICES = (
    Choice(key="w", label="[w]atch", leads_to="continue watching"),
    Choice(key="p", label="[p]ause", leads_to="after the current step, until it is resumed"),
    Choice(key="r", label="[r]esume", leads_to="end a pause: look at the world again, then continue"),
    Choice(key="g", label="[g]uide", leads_to="give the planner advice for its next plan"),
    CANCEL,
    LEFT_ALONE,
)


class DurableRunFollower(RunFollower):
    """Follows a durable run in a terminal. Without a live view Ctrl-C leaves it, and it continues."""

    instead_of_answering: ClassVar[Sequence[Choice]] = (BACK, CANCEL, LEFT_ALONE)

    def __init__(self, *, store: Store, view: RunView, screen: Screen, prompt: Prompt | None, live: bool) -> None:
        super().__init__(store=store, view=view, screen=screen, prompt=prompt, live=live)
        self._prompt_lock = asyncio.Lock()
        self._choosing: asyncio.Task[None] | None = None

    async def follow(self, run: FollowableRun) -> Result | None:
        """The run's result. None: it was left, and continues."""
        try:
            return await super().follow(run)
        finally:
            if self._choosing is not None:
                self._choosing.cancel()

    def one_at_a_time(self, approver: Approver) -> Approver:
        """An approver that waits while the menu is open: the run continues, and may ask meanwhile."""
        return OneAtATime(approver, self._prompt_lock)

    def _interrupt(self) -> None:
        self._interrupts += 1
        if self._prompt is not None and self._prompt.keyboard.interrupt():
            return
        if self._interrupts > 1 or not self._can_pause:
            self.leave()
        else:
            self._choosing = asyncio.create_task(self._choose(), name="menu")

    async def _choose(self) -> None:
        async with self._prompt_lock:
            await self._menu("It continues meanwhile.", CHOICES)
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
