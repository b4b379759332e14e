"""Follows a run to its end: shows it, and turns Ctrl-C into a pause and a menu."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import ClassVar, Protocol

from rich.text import Text

from midcourse.cli.session.screen import Screen
from midcourse.cli.session.signals import handle_signals
from midcourse.cli.view.run import RunView
from midcourse.config.defaults import user, user_id
from midcourse.domain.approval import Decision
from midcourse.domain.events import ApprovalDecided, ResumeAsked
from midcourse.domain.phases import Paused
from midcourse.domain.result import Result
from midcourse.drive import Progress
from midcourse.policy.approval.objection import why_may_not_decide
from midcourse.ports.approver import Approver
from midcourse.ports.store import Store
from midcourse.terminal.approver import OneAtATime, TerminalApprover
from midcourse.terminal.prompt import Choice, InputEnded, Interrupted, Prompt

CANCEL = Choice(key="c", label="[c]ancel", leads_to="end the run here; what is done stays done")
LEAVE = "q"
QUIT = Choice(key=LEAVE, label="[q]uit", leads_to="leave it as it is; `midcourse resume` continues it")
TAKE = Choice(key="t", label="[t]ake over", leads_to="act in its world yourself, then continue")
PAUSED = (
    Choice(key="r", label="[r]esume", leads_to="look at the world again, then continue"),
    Choice(
        key="g", label="[g]uide", leads_to="give the planner advice for its next plan, and continue", takes_words=True
    ),
    TAKE,
    CANCEL,
    QUIT,
)
BACK = Choice(key="b", label="[b]ack", leads_to="to the question")
CONTINUES = "It is not paused any more: it was resumed or ended elsewhere."
PLAN_LINES = 10
"""The number of lines of the plan that are shown above the menu of a paused run."""


class FollowableRun(Protocol):
    """A run that can be followed and controlled, driven here or elsewhere."""

    async def result(self) -> Result: ...
    def __aiter__(self) -> AsyncIterator[Progress]: ...
    def pause(self) -> str: ...
    def resume(self) -> str: ...
    def cancel(self) -> str: ...
    def guide(self, text: str) -> str: ...
    async def attend(self) -> str: ...


class RunFollower:
    """Follows a run. The first Ctrl-C pauses it and opens a menu, or without a live view cancels it; the second leaves it."""

    instead_of_answering: ClassVar[Sequence[Choice]] = (BACK, CANCEL, QUIT)

    def __init__(self, *, store: Store, view: RunView, screen: Screen, prompt: Prompt | None, live: bool) -> None:
        self._store = store
        self._view = view
        self._screen = screen
        self._prompt = prompt
        self._can_pause = live and prompt is not None
        self._run: FollowableRun | None = None
        self._outcome: asyncio.Task[Result] | None = None
        self._one_prompt = asyncio.Lock()
        self._menu_task: asyncio.Task[None] | None = None
        self._menu_of_pause = False
        """Whether the open menu is for a paused run only."""
        self._interrupts = 0
        self._paused = self._pausing = False
        self._left = False

    async def follow(self, run: FollowableRun) -> Result | None:
        """Follow the run to its end and return its result; None if the user left, so that the run can be resumed."""
        self._run = run
        self._outcome = asyncio.create_task(run.result(), name="result")
        try:
            with handle_signals(interrupt=self._interrupt, terminate=self.leave), self._screen.open():
                try:
                    async for progress in run:
                        await self._take_turn(progress)
                finally:
                    await self._close_menu()
            return await self._outcome
        except asyncio.CancelledError:
            if not self._left:
                raise
            return None
        finally:
            self._outcome.cancel()
            await asyncio.gather(self._outcome, return_exceptions=True)

    def build_approver(self) -> Approver | None:
        """Build the approver that asks here, but not while a menu is open; None if there is no terminal to ask in."""
        if self._prompt is None:
            return None
        asks = TerminalApprover(
            prompt=self._prompt,
            make_room=self._screen.make_room,
            interrupted=self.handle_question_interrupt,
            ended=self.leave,
        )
        return OneAtATime(asks, self._one_prompt)

    def leave(self) -> None:
        """Stop driving the run. An interrupted step is verified when the run is resumed."""
        self._left = True
        if self._outcome is not None:
            self._outcome.cancel()

    async def handle_question_interrupt(self) -> bool:
        """Handle Ctrl-C while an approver asks. Returns whether the question still needs an answer."""
        chosen = "" if self._left else await self._show_menu("The question stays open.", self.instead_of_answering)
        self._interrupts = 0
        return chosen == BACK.key

    async def _take_turn(self, progress: Progress) -> None:
        version = self._view.narrator.new_plan_version(progress.event)
        plan = await self._store.plan(progress.run.id, version) if version else None
        self._screen.show(progress, self._view.add_turn(progress, plan))
        taken_over = isinstance(progress.event, ApprovalDecided) and self._prompt is not None
        self._paused = isinstance(progress.run.phase, Paused)
        if isinstance(progress.event, ResumeAsked):
            self._interrupts, self._pausing = 0, False
        if self._paused and (self._pausing or taken_over) and not self._left:
            self._open_menu("Paused.", PAUSED)
        elif not self._paused and self._menu_of_pause:
            await self._close_menu(CONTINUES)

    # --- menus

    def _open_menu(self, title: str, choices: Sequence[Choice]) -> None:
        """Show a menu while the run is followed. Only one menu is open at a time."""
        if self._menu_task is None:
            self._menu_of_pause = choices is PAUSED
            self._menu_task = asyncio.create_task(self._choose(title, choices), name="menu")

    async def _choose(self, title: str, choices: Sequence[Choice]) -> None:
        try:
            async with self._one_prompt:
                await self._show_menu(title, choices)
        finally:
            self._menu_task, self._menu_of_pause = None, False
            self._interrupts, self._pausing = 0, False

    async def _close_menu(self, why: str = "") -> None:
        """Close the menu if it is open: another terminal, or a deadline, was faster."""
        menu = self._menu_task
        if menu is not None:
            menu.cancel()
            await asyncio.gather(menu, return_exceptions=True)
            if why and self._prompt is not None:
                self._prompt.print(Text(why, "yellow"))

    async def _show_menu(self, title: str, choices: Sequence[Choice]) -> str:
        prompt = self._prompt
        assert prompt is not None
        guidance = ""
        with self._screen.make_room():
            prompt.keyboard.forget()
            for line in self._view.plan_lines(prompt.width, PLAN_LINES, roomy=False) if choices is PAUSED else ():
                prompt.print(line)
            prompt.print(Text(title, "bold magenta"))
            try:
                choice, guidance = await prompt.choose(choices)
                if choice == "g" and not guidance:
                    guidance = await prompt.line("Advice for the planner: ")
                elif choice == TAKE.key:
                    await self._take_over(prompt)
            except (Interrupted, InputEnded):
                choice = LEAVE
        self._carry_out(choice, guidance, paused=choices is PAUSED)
        return choice

    async def _take_over(self, prompt: Prompt) -> None:
        assert self._run is not None
        taking_over = Decision(verdict="take_over", by=user(), by_id=user_id())
        if self._view.run and (why_not := why_may_not_decide(self._view.run, taking_over)):
            prompt.print(Text(f"  {why_not}", "yellow"))
            return
        try:
            where = await self._run.attend()
        except ConnectionError as trouble:
            prompt.print(Text(f"  {trouble}", "yellow"))
            return
        prompt.print(Text(f"  You have taken over the world{f', {where}' if where else ''}.", "magenta"))
        await prompt.line("Enter when you are done: ")

    def _carry_out(self, choice: str, guidance: str, *, paused: bool) -> None:
        """Carry out a choice of a menu. `paused`: it is the menu of a paused run, which then continues."""
        assert self._run is not None
        if guidance:
            self._run.guide(guidance)
        if choice == "p":
            self._run.pause()
        elif choice == "r" or (paused and choice in ("g", TAKE.key)):
            self._run.resume()
        elif choice == CANCEL.key:
            self._run.cancel()
        elif choice == LEAVE:
            self.leave()

    # --- Ctrl-C

    def _interrupt(self) -> None:
        assert self._run is not None
        self._interrupts += 1
        if self._prompt is not None and self._prompt.keyboard.interrupt():
            return  # the open question shows what can be chosen, or leaves
        if self._interrupts > 1:
            self.leave()
        elif self._can_pause and self._paused:
            self._open_menu("Paused.", PAUSED)
        elif self._can_pause:
            self._pausing = True
            self._run.pause()
        else:
            self._run.cancel()
