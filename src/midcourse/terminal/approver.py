"""Asks people in the terminal: shows everything that would be sent and waits for an answer, or asks for the values of a form."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from rich.console import RenderableType
from rich.text import Text

from midcourse.config.defaults import user, user_id
from midcourse.domain.approval import VERDICTS, About, Change, Decision, Question
from midcourse.domain.argument import Argument, Pairs, Scalar
from midcourse.domain.skill import Parameter
from midcourse.errors import TaskInvalid
from midcourse.policy.approval.objection import CONSENTS, why_may_not_decide
from midcourse.ports.abilities import offers
from midcourse.ports.approver import Approver, Form, FormFiller
from midcourse.presentation.question import why_unseen
from midcourse.terminal.output import terminal
from midcourse.terminal.prompt import Choice, InputEnded, Interrupted, Keyboard, Prompt, open_prompt
from midcourse.terminal.question import CANCEL_OR_QUIT, question_panel

COVERED = "this, and the others of its kind that are named above"

CHOICES: dict[About, tuple[Choice, ...]] = {
    "approve": (
        Choice(key="y", label="[y]es, once", leads_to="done once, exactly as shown"),
        Choice(key="r", label="yes, for this [r]un", leads_to="exactly this, as often as this run needs it"),
        Choice(key="n", label="[n]o", leads_to="nothing is sent, and the run ends", takes_words=True),
        Choice(
            key="g",
            label="no, with [g]uidance",
            leads_to="nothing is sent; it plans again with your words",
            takes_words=True,
        ),
        Choice(
            key="c",
            label="[c]hange it",
            leads_to="not like that, but like this; you are shown the result",
            takes_words=True,
        ),
        Choice(key="t", label="[t]ake over", leads_to="it pauses; you act, and it plans on from what you left"),
    ),
    "happened": (
        Choice(key="h", label="[h]appened", leads_to="it counts as done and is never done again"),
        Choice(key="d", label="[d]id not happen", leads_to="it is looked for once more, and may then be done again"),
        Choice(key="s", label="[s]top", leads_to="the run ends here; nothing more is done"),
    ),
    "stuck": (
        Choice(key="a", label="continue with [a]dvice", leads_to="it plans again with your words", takes_words=True),
        Choice(key="o", label="c[o]ntinue", leads_to="it plans again, from what is on the screen then"),
        Choice(key="s", label="[s]top", leads_to="the run ends here; nothing more is done"),
    ),
    "question": (
        Choice(key="a", label="[a]nswer", leads_to="it plans again with your answer", takes_words=True),
        Choice(key="o", label="c[o]ntinue without", leads_to="it plans again, and is not told anything"),
        Choice(key="s", label="[s]top", leads_to="the run ends here; nothing more is done"),
    ),
    # Not the keys of an approval: money is not to be spent by the habit of pressing `y`.
    "more": (
        Choice(key="m", label="[m]ore", leads_to="it may use exactly that much more, and then asks again"),
        Choice(key="s", label="[s]top", leads_to="the run ends here; nothing more is done"),
    ),
    "repeat": (
        Choice(key="n", label="[n]o", leads_to="nothing is sent; it counts as done already", takes_words=True),
        Choice(
            key="g",
            label="no, with [g]uidance",
            leads_to="nothing is sent; it plans again with your words",
            takes_words=True,
        ),
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
    "m": Decision(verdict="spend_more"),
}


NO_TERMINAL = "there was no terminal to ask on"
INPUT_ENDED = "the input ended before an answer"


def _build_denial(question: Question, why: str) -> Decision:
    return Decision(verdict="rejected" if "rejected" in VERDICTS[question.about] else "stop", by=why)


class TerminalApprover:
    """Asks the user at the terminal: shows everything that would be sent, and waits for a key. Expired questions are dropped.

    Without a terminal, or if the input ends (Ctrl-D), the answer is no. Ctrl-C ends the program; the run can be resumed.
    The command line passes its own `prompt` and three callbacks: `make_room` takes away a live view while a question is open,
    `interrupted` is called for Ctrl-C and returns whether to ask again, and `ended` is called for Ctrl-D. With the last two,
    neither key is an answer. `heading` names the subject of the question, such as a row of a batch.
    """

    def __init__(
        self,
        *,
        prompt: Prompt | None = None,
        make_room: Callable[[], AbstractContextManager[None]] = nullcontext,
        interrupted: Callable[[], Awaitable[bool]] | None = None,
        ended: Callable[[], None] | None = None,
        heading: str = "",
        now: Callable[[], float] = time.time,
    ) -> None:
        self._at = prompt or open_prompt(terminal(), Keyboard())
        self._make_room = make_room
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
        with self._make_room():
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
        with self._make_room():
            self._prompt.keyboard.forget()
            try:
                return await fill_in_form(form, self._prompt)
            except (Interrupted, InputEnded):
                return None

    async def _read_changes(self, question: Question, first: str) -> tuple[Change, ...]:
        """Read one change per line, until an empty line. `first` is one that was typed already, if any."""
        typed: list[str] = []
        while (line := first or await self._prompt.line("What should be changed? NAME=VALUE ")) or not typed:
            first = ""
            try:
                parse_changes(question, [line])
                typed.append(line)
            except TaskInvalid as problem:
                self._prompt.print(Text(f"  {self._prompt.marks.clean(str(problem))}", "yellow"))
        return parse_changes(question, typed)

    def _leave_to_others(self, question: Question) -> None:
        with self._make_room():
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
        if any(consequence.commit.covers for consequence in question.consequences):
            choices = [replace(each, leads_to=COVERED) if each.key == "r" else each for each in choices]
        unseen = why_unseen(question, in_full=in_full)
        while True:
            key, words = await self._prompt.choose(choices)
            all_values = bool(unseen) and DECISIONS[key].verdict in CONSENTS
            if not all_values or await self._prompt.confirm_unseen(unseen):
                break
        if key == "c":
            return replace(DECISIONS[key], changes=await self._read_changes(question, words), all_values=all_values)
        guidance = words
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


# --- changes: `to=Grace`, or `2.to=Grace` for the second step

TYPED = re.compile(r"(?:(\d+)\.)?([^=]+?)\s*=\s*(.*)", re.DOTALL)


def is_editable(question: Question) -> bool:
    """Whether the question's arguments can be changed. Contents of a form cannot, because other steps filled it in."""
    return question.about == "approve" and any(consequence.arguments for consequence in question.consequences)


def parse_changes(question: Question, typed: Sequence[str]) -> tuple[Change, ...]:
    """Parse NAME=VALUE texts. Raises `TaskInvalid`, which names the arguments that can be changed."""
    found: dict[int, Pairs] = {}
    for text in typed:
        step, name, value = _parse_change(question, text)
        found[step] = (*found.get(step, ()), (name, value))
    return tuple(Change(step=step, arguments=arguments) for step, arguments in sorted(found.items()))


def _parse_change(question: Question, text: str) -> tuple[int, str, Scalar]:
    parts = TYPED.fullmatch(text.strip())
    if parts is None:
        raise TaskInvalid(f"'{text}': write it as NAME=VALUE, or 2.NAME=VALUE for the second step")
    number, name, value = int(parts[1] or 1), parts[2].strip(), parts[3]
    if not 1 <= number <= len(question.consequences):
        raise TaskInvalid(f"'{text}': there is no step {number} in the question")
    known = dict(question.consequences[number - 1].arguments)
    if name not in known:
        names = ", ".join(known) or "none: reject it with guidance"
        raise TaskInvalid(f"'{name}' is not an argument of step {number}; what can be changed: {names}")
    return number - 1, name, _parse_value(value, known[name], text)


def _parse_value(text: str, before: Argument, typed: str) -> Scalar:
    """Parse the value as the type of the argument that it replaces."""
    try:
        match before:
            case bool():
                return {"true": True, "false": False}[text.strip().lower()]
            case int():
                return int(text)
            case float():
                return float(text)
            case _:
                return text
    except (ValueError, KeyError):
        raise TaskInvalid(f"'{typed}': must be {type(before).__name__}, as before") from None


# --- forms

FILL_IN = (
    Choice(key="f", label="[f]ill in", leads_to="what you type is sent to the server, and to no model"),
    Choice(key="d", label="[d]ecline", leads_to="the server gets nothing"),
)
OPENED = (
    Choice(key="o", label="[o]pened", leads_to="the server is told that you opened it"),
    Choice(key="d", label="[d]ecline", leads_to="the server gets nothing"),
)
YES, NO = ("y", "yes", "true"), ("n", "no", "false")


async def fill_in_form(form: Form, prompt: Prompt) -> Mapping[str, Scalar] | None:
    """Ask for each field and return the values that the user typed; None if the user declines."""
    clean = prompt.marks.clean
    prompt.print(Text(clean(f"{form.asker} asks you something, for its tool {form.skill}. It says:"), "bold magenta"))
    prompt.print(Text(f"  {clean(form.message)}"))
    if form.address:
        prompt.print(Text(f"  It wants you to open {clean(form.address)}"))
    if (await prompt.choose(OPENED if form.address else FILL_IN))[0] == "d":
        return None
    values = {field.name: await _ask_value(field, prompt) for field in form.fields}
    return {name: value for name, value in values.items() if value is not None}


async def _ask_value(field: Parameter, prompt: Prompt) -> Scalar:
    clean = prompt.marks.clean
    choices = f", one of {', '.join(map(str, field.choices))}" if field.choices else ""
    optional = "" if field.required else ", Enter for none"
    if field.description:
        prompt.print(Text(f"  {clean(field.description)}", "dim"))
    while True:
        typed = await prompt.line(clean(f"{field.name} ({field.type}{choices}{optional}): "))
        if not typed and not field.required:
            return None
        value = _parse_field(typed, field)
        if value is not None:
            return value
        prompt.print(Text("  that does not fit", "yellow"))


def _parse_field(typed: str, field: Parameter) -> Scalar:
    """Parse the text as the type of the field; None if it does not fit."""
    value: Scalar = typed or None
    try:
        if field.type == "integer":
            value = int(typed)
        elif field.type == "number":
            value = float(typed)
        elif field.type == "boolean":
            value = True if typed.lower() in YES else False if typed.lower() in NO else None
    except ValueError:
        return None
    return value if not field.choices or value in field.choices else None
