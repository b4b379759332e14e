"""The person at the terminal: is shown the whole consequence, and answers there."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from rich.console import RenderableType
from rich.text import Text

from midcourse.app.defaults import user
from midcourse.cli.session.edits import can_be_changed, changes_in
from midcourse.cli.session.keyboard import InputEnded, Interrupted, Keyboard
from midcourse.cli.session.prompt import Choice, Desk, desk_at
from midcourse.cli.session.screen import Nowhere, Screen
from midcourse.cli.view.question import question_panel, why_unseen
from midcourse.cli.view.terminal import terminal
from midcourse.domain.approval import VERDICTS, About, Change, Decision, Question
from midcourse.errors import TaskInvalid
from midcourse.policy.approval.check import CONSENTS, why_may_not_decide

CHOICES: dict[About, tuple[Choice, ...]] = {
    "approve": (
        Choice(key="y", label="[y]es, once", leads_to="done once, exactly as shown"),
        Choice(key="r", label="yes, for this [r]un", leads_to="exactly this, as often as this run needs it"),
        Choice(key="n", label="[n]o", leads_to="nothing is sent, and the run ends"),
        Choice(key="g", label="no, with [g]uidance", leads_to="nothing is sent; it plans again with your words"),
        Choice(key="c", label="[c]hange it", leads_to="not like that, but like this; you are shown what comes of it"),
        Choice(key="t", label="[t]ake over", leads_to="it pauses; you act, and it plans on from what you left"),
    ),
    "happened": (
        Choice(key="h", label="[h]appened", leads_to="it counts as done and is never done again"),
        Choice(key="d", label="[d]id not happen", leads_to="it may be done again, at once"),
        Choice(key="s", label="[s]top", leads_to="the run ends here; nothing more is done"),
    ),
    "stuck": (
        Choice(key="a", label="go on with [a]dvice", leads_to="it plans again with your words"),
        Choice(key="o", label="go [o]n", leads_to="it plans again, from what is on the screen then"),
        Choice(key="s", label="[s]top", leads_to="the run ends here; nothing more is done"),
    ),
    "repeat": (
        Choice(key="n", label="[n]o", leads_to="nothing is sent; it counts as done already"),
        Choice(key="g", label="no, with [g]uidance", leads_to="nothing is sent; it plans again with your words"),
        Choice(key="x", label="send it again (e[x]tra)", leads_to="sent a second time, exactly as shown"),
        Choice(key="s", label="[s]top", leads_to="the run ends here; nothing more is done"),
    ),
}

DECISIONS = {
    "y": Decision(verdict="approved"),
    "r": Decision(verdict="approved", once=False),
    "n": Decision(verdict="rejected"),
    "g": Decision(verdict="rejected"),
    "h": Decision(verdict="happened"),
    "d": Decision(verdict="did_not_happen"),
    "s": Decision(verdict="stop"),
    "a": Decision(verdict="go_on"),
    "o": Decision(verdict="go_on"),
    "c": Decision(verdict="changed"),
    "t": Decision(verdict="take_over"),
    "x": Decision(verdict="send_again"),
}


NO_TERMINAL = "there was no terminal to ask on"
INPUT_ENDED = "the input ended before an answer"


def _denial(question: Question, why: str) -> Decision:
    return Decision(verdict="rejected" if "rejected" in VERDICTS[question.about] else "stop", by=why)


class TerminalApprover:
    """Asks the user at the terminal: shows everything that would be sent, and waits for a key. Expired questions are dropped.

    Without a terminal, and if the input ends (Ctrl-D), the answer is no. Ctrl-C ends the program; the run can be resumed.
    The command line passes its own `desk` and `screen`, and is told instead: `interrupted` of Ctrl-C, which says whether to ask
    again, and `ended` of Ctrl-D. Neither is an answer then. `heading` says what the question is about, where that is not plain.
    """

    def __init__(
        self,
        *,
        desk: Desk | None = None,
        screen: Screen | None = None,
        interrupted: Callable[[], Awaitable[bool]] | None = None,
        ended: Callable[[], None] | None = None,
        heading: str = "",
        now: Callable[[], float] = time.time,
    ) -> None:
        self._at = desk or desk_at(terminal(), Keyboard())
        self._screen = screen or Nowhere()
        self._interrupted = interrupted
        self._ended = ended
        self._heading = heading
        self._now = now

    @property
    def _desk(self) -> Desk:
        assert self._at is not None, "asked for only where there is one"
        return self._at

    async def ask(self, question: Question) -> Decision | None:
        if self._at is None:
            return _denial(question, NO_TERMINAL)
        if why_may_not_decide(question.not_by, "approved", user()):
            return self._leave_to_others(question)
        with self._screen.aside():
            self._desk.keyboard.forget()
            while True:
                try:
                    shown = await self._show(question)
                    return replace(await self._answer(question, in_full=shown), by=user())
                except Interrupted:
                    if self._interrupted is None or await self._interrupted():
                        continue
                except InputEnded:
                    if self._ended is None:
                        return _denial(question, INPUT_ENDED)
                    self._ended()
                await asyncio.Event().wait()  # until whoever was told ends the question

    async def _changes(self, question: Question) -> tuple[Change, ...]:
        """One a line, until there is an empty one."""
        typed: list[str] = []
        while (line := await self._desk.line("What should be otherwise? NAME=VALUE ")) or not typed:
            try:
                changes_in(question, [line])
                typed.append(line)
            except TaskInvalid as problem:
                self._desk.say(Text(f"  {self._desk.marks.clean(str(problem))}", "yellow"))
        return changes_in(question, typed)

    def _leave_to_others(self, question: Question) -> None:
        with self._screen.aside():
            self._head()
            self._desk.say(self._panel(question))
            self._desk.say(Text(f"You started this run: somebody else than {question.not_by} has to decide.", "yellow"))

    async def _show(self, question: Question) -> bool:
        """Whether all of it was shown that there is to show."""
        self._head()
        return await self._desk.show(self._panel(question))

    def _head(self) -> None:
        if self._heading:
            self._desk.say(Text(self._desk.marks.fit(self._heading, self._desk.width), "bold magenta"))

    def _panel(self, question: Question) -> RenderableType:
        left = max(0.0, question.expires_at - self._now())
        return question_panel(question, left, self._desk.width, self._desk.marks)

    async def _answer(self, question: Question, *, in_full: bool) -> Decision:
        fixed = not can_be_changed(question)
        choices = [one for one in CHOICES[question.about] if not (fixed and one.key == "c")]
        unseen = why_unseen(question, in_full=in_full)
        while True:
            key = await self._desk.choose(choices)
            all_values = bool(unseen) and DECISIONS[key].verdict in CONSENTS
            if not all_values or await self._desk.agreed_unseen(unseen):
                break
        if key == "c":
            return replace(DECISIONS[key], changes=await self._changes(question), all_values=all_values)
        guidance = ""
        while key in ("g", "a") and not guidance:
            guidance = await self._desk.line("What should it do instead? ")
        return replace(DECISIONS[key], guidance=guidance, all_values=all_values)
