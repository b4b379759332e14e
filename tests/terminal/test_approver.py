"""The approver at the terminal, with a pipe for a keyboard."""

import asyncio
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pytest
from rich.console import Console

from midcourse.config.defaults import user, user_id
from midcourse.domain.approval import About, Change, CommitSet, Decision, Earlier, Question, Revision
from midcourse.domain.budget import Cost
from midcourse.terminal.approver import TerminalApprover
from midcourse.terminal.output import ASCII, UNICODE
from midcourse.terminal.prompt import InputEnded, Keyboard, Prompt
from midcourse.terminal.question import question_panel
from tests.cli.samples import make_consequence, make_question


@dataclass
class Terminal:
    """What a person would see, and a way to type."""

    typing: int
    keyboard: Keyboard
    screen: io.StringIO = field(default_factory=io.StringIO)
    interrupts: int = 0
    ended: int = 0
    ask_again: bool = True

    def type(self, text: str) -> None:
        os.write(self.typing, text.encode())

    def make_approver(self) -> TerminalApprover:
        console = Console(file=self.screen, width=80, color_system=None)
        return TerminalApprover(
            prompt=Prompt(console=console, keyboard=self.keyboard, marks=UNICODE),
            interrupted=self._on_interrupt,
            ended=self._on_end,
            now=lambda: 0.0,
        )

    async def ask(self, asked: Question) -> Decision:
        decision = await asyncio.wait_for(self.make_approver().ask(asked), 5)
        assert decision is not None
        return decision

    async def _on_interrupt(self) -> bool:
        self.interrupts += 1
        return self.ask_again

    def _on_end(self) -> None:
        self.ended += 1


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    reading, typing = os.pipe()
    made = Terminal(typing=typing, keyboard=Keyboard(reading))
    yield made
    os.close(reading)
    if made.typing >= 0:
        os.close(typing)


MORE = Question(
    run="r1",
    id=7,
    about="more",
    goal="Compare prices",
    consequences=(),
    says=(),
    expires_at=4_000_000_000.0,
    detail="$0.48 of $0.50 are spent, and the next command may take $0.05",
    more=Cost(microusd=500_000),
)


def draw_panel(asked: Question, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, record=True)
    console.print(question_panel(asked, 3600.0, width, UNICODE))
    return console.export_text()


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("y\n", Decision(verdict="approved")),
        ("Yes\n", Decision(verdict="approved")),
        ("r\n", Decision(verdict="approved", once=False)),
        ("n\n", Decision(verdict="rejected")),
        ("g\nask Bob first\n", Decision(verdict="rejected", guidance="ask Bob first")),
        ("g\n\nask Bob first\n", Decision(verdict="rejected", guidance="ask Bob first")),
        ("\nwhat?\n1\ny\n", Decision(verdict="approved")),
        ("t\n", Decision(verdict="take_over")),
    ],
)
async def test_each_key_answers_whether_an_act_may_be_done(terminal: Terminal, typed: str, expected: Decision) -> None:
    terminal.type(typed)
    decision = await terminal.ask(make_question())
    assert (decision.verdict, decision.once, decision.guidance) == (expected.verdict, expected.once, expected.guidance)
    assert decision.by


async def test_arguments_are_changed_line_by_line_until_an_empty_line(terminal: Terminal) -> None:
    would_send = replace(make_consequence(), arguments=(("count", 1), ("gift", False)))
    asked = replace(make_question(), consequences=(would_send,))
    terminal.type("c count=many\n\nwho=Eve\ncount = 3\ngift=true\n\n")
    decision = await terminal.ask(asked)
    assert (decision.verdict, decision.changes) == (
        "changed",
        (Change(step=0, arguments=(("count", 3), ("gift", True))),),
    )
    output = terminal.screen.getvalue()
    assert "must be int, as before" in output
    assert "'who' is not an argument of step 1; what can be changed: count, gift" in output


async def test_what_has_no_arguments_cannot_be_changed(terminal: Terminal) -> None:
    asked = replace(make_question(), consequences=(replace(make_consequence(), arguments=()),))
    terminal.type("c\nn\n")
    assert (await terminal.ask(asked)).verdict == "rejected"
    assert "[c]hange" not in terminal.screen.getvalue()


async def test_starter_of_the_run_is_told_that_another_person_decides(terminal: Terminal) -> None:
    assert await terminal.make_approver().ask(replace(make_question(), not_by=user())) is None
    assert "another person than" in terminal.screen.getvalue()


def test_a_question_after_a_new_plan_shows_what_changed() -> None:
    was = replace(make_consequence(), arguments=(("count", 1),))
    now = replace(make_consequence(), arguments=(("count", 2),))
    news = Revision(
        version=2, before=1, why="send failed: closed", kept=5, dropped=("Write to Ada",), new=("Write to Eve",)
    )
    text = draw_panel(replace(make_question(), consequences=(now,), before=(was,), revision=news))
    for words in (
        "Plan 2 takes the place of plan 1: send failed: closed",
        "= 5 steps as before",
        "- Write to Ada",
        "+ Write to Eve",
        "1 → 2",
    ):
        assert words in text


@pytest.mark.parametrize(("typed", "verdict"), [("h\n", "happened"), ("d\n", "did_not_happen"), ("y\ns\n", "stop")])
async def test_each_key_answers_whether_it_happened(terminal: Terminal, typed: str, verdict: str) -> None:
    terminal.type(typed)
    assert (await terminal.ask(make_question("happened"))).verdict == verdict
    assert "never done again" in terminal.screen.getvalue()


@pytest.mark.parametrize(
    ("typed", "verdict", "guidance"),
    [("o\n", "go_on", ""), ("a\n\nuse the other form\n", "go_on", "use the other form"), ("y\ns\n", "stop", "")],
)
async def test_each_key_answers_how_to_continue(terminal: Terminal, typed: str, verdict: str, guidance: str) -> None:
    terminal.type(typed)
    stuck = replace(make_question(), about="stuck", consequences=(), says=(), detail="fill failed: rejected")
    decision = await terminal.ask(stuck)
    assert (decision.verdict, decision.guidance) == (verdict, guidance)
    assert "fill failed: rejected" in terminal.screen.getvalue()


@pytest.mark.parametrize(("typed", "verdict"), [("y\nm\n", "spend_more"), ("yes\ns\n", "stop")])
async def test_a_ceiling_is_raised_by_a_key_of_its_own(terminal: Terminal, typed: str, verdict: str) -> None:
    terminal.type(typed)
    assert (await terminal.ask(MORE)).verdict == verdict
    shown = terminal.screen.getvalue()
    assert "May it use up to $0.50 more?" in shown
    assert "$0.48 of $0.50 are spent" in shown


@pytest.mark.parametrize(
    ("typed", "verdict"),
    [
        ("y\nn\n", "rejected"),
        ("n there is one\n", "rejected"),
        ("r\nx\n", "send_again"),
        ("s\n", "stop"),
        ("g\nlook\n", "rejected"),
    ],
)
async def test_only_its_own_key_sends_a_possible_repeat(terminal: Terminal, typed: str, verdict: str) -> None:
    """No key that approves anything else sends it."""
    terminal.type(typed)
    sent = (Earlier(at=1_800_000_000.0, finding="exists"),)
    assert (await terminal.ask(replace(make_question(), about="repeat", earlier=sent))).verdict == verdict
    assert "This looks like the request sent at" in terminal.screen.getvalue()
    assert "which exists" in terminal.screen.getvalue()


def test_a_doubt_shows_what_the_page_says_and_why_that_does_not_decide_it() -> None:
    asked = replace(
        make_question("happened"),
        page="Checkout",
        appeared=("One moment\x1b[31m", "[h]appened\n  does  pay"),
        unmet=("expected the text 'Thank you': that is not to be seen",),
        detail="there is no probe to decide it",
    )
    text = draw_panel(asked)
    for words in (
        "no rule can tell yet whether it happened",
        'The page now: "Checkout"',
        r'New on it since: "One moment\u001b[31m", "[h]appened\n does pay"',
        "Expected the text 'Thank you': that is not to be seen",
        "there is no probe to decide it",
    ):
        assert words in text
    again = draw_panel(replace(asked, contradicted=True))
    assert "It was said that it did not happen, and now something shows that it did." in again


def test_a_doubt_after_two_attempts_shows_both() -> None:
    sent = tuple(Earlier(at=1_800_000_000.0 + 60 * n, finding="reported_absent") for n in range(2))
    text = draw_panel(replace(make_question("happened"), earlier=sent))
    assert "Attempt 1: sent at" in text
    assert "Attempt 2: sent at" in text


async def test_an_extra_enter_decides_nothing(terminal: Terminal) -> None:
    terminal.type("\n\n\n")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(terminal.make_approver().ask(make_question()), 0.1)


async def test_a_question_that_expires_is_abandoned_and_the_next_one_is_not_answered_by_it(terminal: Terminal) -> None:
    asking = asyncio.create_task(terminal.make_approver().ask(make_question()))
    await asyncio.sleep(0.05)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert asking.cancelled()
    assert not asyncio.get_running_loop().remove_reader(terminal.keyboard._fd)  # nothing is left watching
    terminal.type("n\n")
    assert (await terminal.ask(make_question())).verdict == "rejected"


async def test_waiting_for_a_person_does_not_block_the_loop(terminal: Terminal) -> None:
    asking = asyncio.create_task(terminal.ask(make_question()))
    turns = 0
    while turns < 10:
        await asyncio.sleep(0.001)
        turns += 1
    assert not asking.done()
    terminal.type("y\n")
    assert (await asking).verdict == "approved"


async def test_ctrl_c_does_not_answer_the_question(terminal: Terminal) -> None:
    asking = asyncio.create_task(terminal.ask(make_question()))
    await asyncio.sleep(0.05)
    assert terminal.keyboard.interrupt()
    await asyncio.sleep(0.05)
    assert terminal.interrupts == 1
    assert not asking.done()
    terminal.type("y\n")
    assert (await asking).verdict == "approved"
    assert terminal.screen.getvalue().count("May this be done?") == 2
    assert not terminal.keyboard.interrupt()


async def test_after_a_ctrl_c_that_ends_the_run_it_does_not_ask_again(terminal: Terminal) -> None:
    terminal.ask_again = False
    asking = asyncio.create_task(terminal.make_approver().ask(make_question()))
    await asyncio.sleep(0.05)
    terminal.keyboard.interrupt()
    await asyncio.sleep(0.05)
    assert not asking.done()
    assert terminal.screen.getvalue().count("May this be done?") == 1
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)


async def test_closed_terminal_does_not_answer_the_question(terminal: Terminal) -> None:
    os.close(terminal.typing)
    terminal.typing = -1
    asking = asyncio.create_task(terminal.make_approver().ask(make_question()))
    await asyncio.sleep(0.05)
    assert terminal.ended == 1
    assert not asking.done()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)


async def test_the_live_view_steps_aside_and_comes_back_even_if_the_question_expires(terminal: Terminal) -> None:
    stood: list[str] = []

    @contextmanager
    def make_room() -> Iterator[None]:
        stood.append("aside")
        try:
            yield
        finally:
            stood.append("back")

    approver = terminal.make_approver()
    approver._make_room = make_room
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(approver.ask(make_question()), 0.05)
    assert stood == ["aside", "back"]


async def test_input_that_the_event_loop_cannot_watch_is_read_in_a_thread(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    typed = tmp_path_factory.mktemp("typed") / "typed"
    typed.write_text("first\nsecond\n")
    fd = os.open(typed, os.O_RDONLY)
    try:
        keyboard = Keyboard(fd)
        assert [await keyboard.line(), await keyboard.line()] == ["first", "second"]
        with pytest.raises(InputEnded):
            await keyboard.line()
    finally:
        os.close(fd)


# --- what was not shown


def make_abridged_question() -> Question:
    return replace(make_question(), consequences=(replace(make_consequence(), commit=CommitSet(abridged=True)),))


def make_long_question() -> Question:
    decoys = {f"decoy {n}": n for n in range(60)}
    return replace(make_question(), consequences=(make_consequence(**decoys, account="M-666"),))


@pytest.mark.parametrize(
    ("asked", "typed", "verdict", "all_values"),
    [
        (make_abridged_question(), "y\n\nn\n", "rejected", False),
        (make_abridged_question(), "y\ny\nr\nyes\nn\n", "rejected", False),
        (make_abridged_question(), "y\napprove\n", "approved", True),
        (make_long_question(), "\n\n\ny\n", "approved", False),
        (make_long_question(), "q\ny\n\nn\n", "rejected", False),
        (make_long_question(), "q\ny\nApprove\n", "approved", True),
    ],
)
async def test_approving_values_that_were_not_shown_takes_a_word(
    terminal: Terminal, asked: Question, typed: str, verdict: str, all_values: bool
) -> None:
    terminal.type(typed)
    decision = await terminal.ask(asked)
    assert (decision.verdict, decision.all_values) == (verdict, all_values)


async def test_what_does_not_fit_on_a_screen_is_shown_page_by_page(terminal: Terminal) -> None:
    terminal.type("\n\n\ny\n")
    await terminal.ask(make_long_question())
    output = terminal.screen.getvalue()
    first, *_, last = output.split("Enter for the next")
    assert "decoy 5 " in first
    assert "M-666" not in first
    assert "M-666" in last
    assert "page 1 of 4" in output


# --- what is shown


def test_everything_that_would_be_sent_is_shown() -> None:
    text = draw_panel(make_question(note="", gift=True))
    for shown in (
        "Place the order",
        "place_order (irreversible)",
        "button 'Place order', Checkout",
        "https://shop.example/orders",
        "1 Harbour Street",
        "49.0",
        "(empty)",
        "true",
        "expires in 60 min",
    ):
        assert shown in text


def test_what_differs_from_what_was_approved_is_shown_as_a_change() -> None:
    asked = make_question(changed_from=make_consequence(total=12.5, coupon="TEN"), gift=True)
    text = draw_panel(asked)
    assert "12.5 → 49.0" in text
    assert "(not there) → true" in text
    assert "TEN → (not there)" in text
    assert "1 Harbour Street →" not in text
    assert "void" in text


def test_a_number_and_its_text_look_alike_but_are_a_change() -> None:
    asked = make_question(changed_from=make_consequence(), **{"item desk-lamp": "1"})
    assert "1 → '1'" in draw_panel(asked)


def test_a_page_cannot_forge_the_question() -> None:
    text = draw_panel(make_question(note="\x1b[2J\x1b[1;1Htotal 1.00\nsends total 1.00"))
    assert "\x1b" not in text
    assert "\\x1b[2J" in text


def test_long_values_are_folded_never_cut() -> None:
    text = draw_panel(make_question(note="x" * 500))
    assert text.count("x") >= 500


def test_a_question_can_be_drawn_in_ascii() -> None:
    console = Console(file=io.StringIO(), width=80, record=True)
    console.print(question_panel(make_question(changed_from=make_consequence(total=1)), 60.0, 80, ASCII))
    assert console.export_text().isascii()


# --- from Python


async def test_without_a_terminal_the_answer_is_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    answers = {
        asked.about: await TerminalApprover().ask(asked) for asked in (make_question(), make_question(about="happened"))
    }
    assert answers == {
        "approve": Decision(verdict="rejected", by="there was no terminal to ask on"),
        "happened": Decision(verdict="stop", by="there was no terminal to ask on"),
    }


async def test_a_program_gets_an_answer_and_no_if_the_input_ends(terminal: Terminal) -> None:
    console = Console(file=terminal.screen, width=80, color_system=None)
    approver = TerminalApprover(prompt=Prompt(console=console, keyboard=terminal.keyboard, marks=UNICODE))
    terminal.type("y\n")
    assert await approver.ask(make_question()) == Decision(verdict="approved", by=user(), by_id=user_id())
    assert "May this be done?" in terminal.screen.getvalue()
    os.close(terminal.typing)
    terminal.typing = -1
    assert await approver.ask(make_question()) == Decision(verdict="rejected", by="the input ended before an answer")


@pytest.mark.parametrize("width", [80, 120])
async def test_each_row_of_a_question_is_a_line_however_wide_the_terminal_is(width: int):
    screen = io.StringIO()
    console = Console(file=screen, width=width, color_system=None)
    prompt = Prompt(console=console, keyboard=Keyboard(), marks=UNICODE)
    await prompt.show(question_panel(make_question(), 60.0, prompt.width, UNICODE))
    lines = screen.getvalue().splitlines()
    assert next(line for line in lines if "Harbour Street" in line).startswith("│     sends address")
    assert all(len(line) == prompt.width for line in lines)


@pytest.mark.parametrize(
    ("about", "typed", "expected"),
    [
        ("approve", "n wrong address\n", Decision(verdict="rejected", guidance="wrong address")),
        ("approve", "No  wrong address\n", Decision(verdict="rejected", guidance="wrong address")),
        ("approve", "g wrong address\n", Decision(verdict="rejected", guidance="wrong address")),
        ("question", "a the second one\n", Decision(verdict="go_on", guidance="the second one")),
        ("stuck", "advice use the menu\n", Decision(verdict="go_on", guidance="use the menu")),
    ],
)
async def test_words_after_the_key_belong_to_the_answer(
    terminal: Terminal, about: About, typed: str, expected: Decision
) -> None:
    terminal.type(typed)
    asked = make_question() if about == "approve" else replace(make_question(), about=about, consequences=())
    decided = await terminal.ask(asked)
    assert (decided.verdict, decided.guidance) == (expected.verdict, expected.guidance)


@pytest.mark.parametrize(
    "typed", ["y but only one of them", "yes, if it is free", "yes and no", "nothing like that", "r once"]
)
async def test_a_yes_with_a_condition_is_none(terminal: Terminal, typed: str) -> None:
    terminal.type(f"{typed}\nn\n")
    assert (await terminal.ask(make_question())).verdict == "rejected"
