"""Approvers that ask at the terminal: they show everything that would be sent, and wait for an answer."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from rich.console import RenderableType
from rich.text import Text

from midcourse.cli.session.edits import is_editable, parse_changes
from midcourse.cli.session.form import fill_in_form
from midcourse.cli.session.keyboard import InputEnded, Interrupted, Keyboard
from midcourse.cli.session.prompt import Choice, Prompt, open_prompt
from midcourse.cli.session.screen import NoScreen, Screen
from midcourse.cli.view.question import CANCEL_OR_QUIT, question_panel
from midcourse.cli.view.terminal import terminal
from midcourse.config.defaults import user, user_id
from midcourse.domain.approval import VERDICTS, About, Change, Decision, Question
from midcourse.domain.argument import Scalar
from midcourse.errors import TaskInvalid
from midcourse.policy.approval.check import CONSENTS, why_may_not_decide
from midcourse.ports.abilities import offers
from midcourse.ports.approver import Approver, Form, FormFiller
from midcourse.presentation.question import why_unseen

CHOICES: dict[About, tuple[Choice, ...]] = {
    "approve": (
        Choice(key="y", label="[y]es, once", leads_to="done once, exactly as shown"),
        Choice(key="r", label="yes, for this [r]un", leads_to="exactly this, as often as this run needs it"),
        Choice(key="n", label="[n]o", leads_to="nothing is sent, and the run ends"),
        Choice(key="g", label="no, with [g]uidance", leads_to="nothing is sent; it plans again with your words"),
        Choice(key="c", label="[c]hange it", leads_to="not like that, but like this; you are shown the result"),
        Choice(key="t", label="[t]ake over", leads_to="it pauses; you act, and it plans on from what you left"),
    ),
    "happened": (
        Choice(key="h", label="[h]appened", leads_to="it counts as done and is never done again"),
        Choice(key="d", label="[d]id not happen", leads_to="it is looked for once more, and may then be done again"),
        Choice(key="s", label="[s]top", leads_to="the run ends here; nothing more is done"),
    ),
    "stuck": (
        Choice(key="a", label="continue with [a]dvice", leads_to="it plans again with your words"),
        Choice(key="o", label="c[o]ntinue", leads_to="it plans again, from what is on the screen then"),
        Choice(key="s", label="[s]top", leads_to="the run ends here; nothing more is done"),
    ),
    "question": (
        Choice(key="a", label="[a]nswer", leads_to="it plans again with your answer"),
        Choice(key="o", label="c[o]ntinue without", leads_to="it plans again, and is not told anything"),
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


def _build_denial(question: Question, why: str) -> Decision:
    return Decision(verdict="rejected" if "rejected" in VERDICTS[question.about] else "stop", by=why)


class TerminalApprover:
    """Asks the user at the terminal: shows everything that would be sent, and waits for a key. Expired questions are dropped.

    Without a terminal, or if the input ends (Ctrl-D), the answer is no. Ctrl-C ends the program; the run can be resumed.
    The command line passes its own `prompt` and `screen`, and two callbacks: `interrupted` is called for Ctrl-C and returns
    whether to ask again, and `ended` is called for Ctrl-D. With them, neither key is an answer. `heading` names the subject
    of the question, such as a row of a batch.
    """

    def __init__(
        self,
        *,
        prompt: Prompt | None = None,
        screen: Screen | None = None,
        interrupted: Callable[[], Awaitable[bool]] | None = None,
        ended: Callable[[], None] | None = None,
        heading: str = "",
        now: Callable[[], float] = time.time,
    ) -> None:
        self._at = prompt or open_prompt(terminal(), Keyboard())
        self._screen = screen or NoScreen()
        self._interrupted = interrupted
        self._ended = ended
        self._heading = heading
        self._now = now

    @property
    def _prompt(self) -> Prompt:
        assert self._at is not None, "asked for only where there is one"
        return self._at

    async def ask(self, question: Question) -> Decision | None:
        if self._at is None:
            return _build_denial(question, NO_TERMINAL)
        if why_may_not_decide(question, Decision(verdict="approved", by=user(), by_id=user_id())):
            return self._leave_to_others(question)
        with self._screen.make_room():
            self._prompt.keyboard.forget()
            while True:
                try:
                    shown = await self._show(question)
                    return replace(await self._read_answer(question, in_full=shown), by=user(), by_id=user_id())
                except Interrupted:
                    if self._interrupted is None or await self._interrupted():
                        continue
                except InputEnded:
                    if self._ended is None:
                        return _build_denial(question, INPUT_ENDED)
                    self._ended()
                await asyncio.Event().wait()  # wait until the callback ends the run, which also ends the question

    async def fill_in(self, form: Form) -> Mapping[str, Scalar] | None:
        """Ask for the values of a form. Returns None without a terminal, or if the user declines."""
        if self._at is None:
            return None
        with self._screen.make_room():
            self._prompt.keyboard.forget()
            try:
                return await fill_in_form(form, self._prompt)
            except (Interrupted, InputEnded):
                return None

    async def _read_changes(self, question: Question) -> tuple[Change, ...]:
        """Read one change per line, until an empty line."""
        typed: list[str] = []
        while (line := await self._prompt.line("What should be changed? NAME=VALUE ")) or not typed:
            try:
                parse_changes(question, [line])
                typed.append(line)
            except TaskInvalid as problem:
                self._prompt.print(Text(f"  {self._prompt.marks.clean(str(problem))}", "yellow"))
        return parse_changes(question, typed)

    def _leave_to_others(self, question: Question) -> None:
        with self._screen.make_room():
            self._print_heading()
            self._prompt.print(self._build_panel(question))
            self._prompt.print(
                Text(f"You started this run: another person than {question.not_by} must decide.", "yellow")
            )

    async def _show(self, question: Question) -> bool:
        """Show the question, and return whether all of it was shown."""
        self._print_heading()
        return await self._prompt.show(self._build_panel(question))

    def _print_heading(self) -> None:
        if self._heading:
            self._prompt.print(Text(self._prompt.marks.fit(self._heading, self._prompt.width), "bold magenta"))

    def _build_panel(self, question: Question) -> RenderableType:
        left = max(0.0, question.expires_at - self._now())
        hint = CANCEL_OR_QUIT if self._interrupted else "Ctrl-C ends the program, not the run"
        return question_panel(question, left, self._prompt.width, self._prompt.marks, hint)

    async def _read_answer(self, question: Question, *, in_full: bool) -> Decision:
        fixed = not is_editable(question)
        choices = [choice for choice in CHOICES[question.about] if not (fixed and choice.key == "c")]
        unseen = why_unseen(question, in_full=in_full)
        while True:
            key = await self._prompt.choose(choices)
            all_values = bool(unseen) and DECISIONS[key].verdict in CONSENTS
            if not all_values or await self._prompt.confirm_unseen(unseen):
                break
        if key == "c":
            return replace(DECISIONS[key], changes=await self._read_changes(question), all_values=all_values)
        guidance = ""
        while key in ("g", "a") and not guidance:
            asked = "Your answer: " if question.about == "question" else "What should it do instead? "
            guidance = await self._prompt.line(asked)
        return replace(DECISIONS[key], guidance=guidance, all_values=all_values)


class OneAtATime:
    """Asks one question at a time; a question that expires while it waits for its turn is never shown."""

    def __init__(self, approver: Approver, turn: asyncio.Lock) -> None:
        self._approver = approver
        self._turn = turn

    async def ask(self, question: Question) -> Decision | None:
        async with self._turn:
            return await self._approver.ask(question)

    async def fill_in(self, form: Form) -> Mapping[str, Scalar] | None:
        async with self._turn:
            return await self._approver.fill_in(form) if offers(self._approver, FormFiller) else None
