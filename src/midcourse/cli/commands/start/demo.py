"""`midcourse demo`: shows a run in a shop where things go wrong, and explains each turn."""

import asyncio
import textwrap
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace

import typer
from rich.text import Text

from midcourse.agent.start import new_run_id, prepare_run
from midcourse.agent.wiring import Job, require_chromium
from midcourse.cli.options import LEFT, Headed, Home, Json, Verbosity, load_settings, teach
from midcourse.cli.session.console import open_in_browser, serve_console
from midcourse.cli.session.local import Session, dry_panel
from midcourse.cli.session.screen import NoScreen, Screen
from midcourse.cli.view.run import STYLES
from midcourse.config.extras import require_extras
from midcourse.demo import GOAL, DemoApprover, TroubledShop, demo_job, provide_password
from midcourse.domain.approval import Question
from midcourse.domain.events import Acted, Event, Observed, Verified
from midcourse.domain.result import Result
from midcourse.drive import Progress
from midcourse.home.stores import LocalStore, open_store
from midcourse.presentation.narration import LogLine
from midcourse.presentation.vocabulary import format_elapsed, pluralize
from midcourse.terminal.output import Terminal, print_object, terminal
from midcourse.testing.sites.server import serve

PACE = 0.4
"""Seconds to wait after each step in a terminal, so that the user can read along."""
BEGIN = (
    "A small shop runs on this machine, and a real Chromium works in it. The model is a recording: no key is needed, and nothing "
    "leaves this machine. Three things will go wrong."
)
FIRST_LOOK = (
    "It looks at the page, and plans only as far as it can see. The password is a name to the model, never a value."
)
COVERED = (
    "1. A pop-up has come over the page in the middle of a plan. Nothing is clicked through it: the step fails, and the next plan is "
    "for what is on the screen now."
)
RENAMED = (
    "2. On this page the shop uses other names: 'Buy now' is its 'Place order'. No selector breaks, because each plan is made from "
    "what is there."
)
HELD = (
    "The click would send an order, so it is held. Nothing leaves the browser before you have seen exactly what would."
)
UNKNOWN = (
    "3. The shop has stored the order, and answered 504. A retry could order twice, giving up could order nothing, and an error page "
    "proves neither. So it looks where the order would be."
)
HAPPENED = "It is in the list of orders. So it counts as done, and is never sent again."
NEXT = (
    ("midcourse show last", "every plan of it, and why it was made"),
    ('midcourse do "..." --at URL --dry-run', "a page of yours, up to the first request"),
    ("midcourse init world", "a world of your own"),
    ("midcourse doctor", "whether all of that will work here"),
)
NO_TERMINAL = "There is no terminal to ask in, so the demo says yes to this request:"


commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse demo", "about half a minute; you are asked one question"),
        ("midcourse demo --headed", "with the browser's window"),
        ("midcourse demo --json | jq .orders", "for programs: the demo answers itself"),
    ),
)
def demo(headed: Headed = False, set_: Home = None, json: Json = False) -> int:
    """Watch a run through a shop that goes wrong, in a real Chromium.

    A pop-up appears, controls have other names, the shop stores the order but
    answers 504, and you are asked one question. The model is a recording, so
    no key is needed. Without a terminal the demo answers the question itself,
    and says so. If the extra server is installed, the console shows the same
    run in your browser.

    Exit codes: 0 the order was placed, 1 ended without it, 2 misuse, 130 left.
    """
    settings = load_settings(set_, "home")
    require_extras("the demo", "browser")
    asyncio.run(require_chromium())
    shop, where = TroubledShop(), terminal(silent=json)
    with serve(shop) as address, provide_password(), nullcontext("") if json else serve_console(settings) as console:
        job = demo_job(address, headed=headed, home=settings.home)
        code = asyncio.run(_run(job, shop, Verbosity(json=json), console))
        if console and where.live:
            where.console.print("\nThe console stays up until you press Ctrl-C.")
            wait_for_interrupt()
        return code


def wait_for_interrupt() -> None:
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(3600)


async def _run(job: Job, shop: TroubledShop, verbosity: Verbosity, console: str) -> int:
    run_id = new_run_id()
    with open_store(job.settings.home) as store:
        story = Story(terminal(silent=verbosity.silent), silent=verbosity.silent)
        async with prepare_run(job, run_id, store) as prepared:
            session = DemoSession(job, run_id, store, verbosity, story, shop)
            await prepared.begin()
        story.begin(job)
        if console:
            address = f"{console}/runs/{run_id}"
            where = terminal()
            where.say(f"console  {address}", style="dim")
            if where.live:
                open_in_browser(address, job.settings.home)
        code = await session.follow(session.agent.pick_up(run_id))
        story.suggest()
        return code


class Story:
    """A screen that prints each log line, and at turning points what it means."""

    def __init__(self, where: Terminal, *, silent: bool) -> None:
        self._where = where
        self._silent = silent
        self._explained: set[str] = set()
        self._began = 0.0
        self.answered_by = "you"

    def begin(self, job: Job) -> None:
        self.say(BEGIN)
        self._line(f"goal  {GOAL}", "bold")
        self._line(f"shop  {job.file.world.options['start']}", "dim")

    def show(self, progress: Progress, line: LogLine | None) -> None:
        if line is not None:
            self._began = self._began or line.at
            at = format_elapsed(line.at - self._began)
            self._line(f"{at:>6}  {line.text}", STYLES[line.tone])
        if (explanation := explain_event(progress.event)) not in ("", *self._explained):
            self._explained.add(explanation)
            self.say(explanation)

    def open(self) -> AbstractContextManager[None]:
        return nullcontext()

    def make_room(self) -> AbstractContextManager[None]:
        return nullcontext()

    def announce_answer(self, question: Question) -> None:
        """Print that the demo answers this question itself, because there is no terminal to ask in."""
        self.answered_by = "the demo"
        self.say(NO_TERMINAL)
        if not self._silent:
            self._where.console.print(dry_panel(question, self._where))

    def conclude(self, result: Result, orders: int) -> None:
        """Print how the run ended, and how many orders the shop's own log has."""
        log = f"the shop's own log has {pluralize(orders, 'order')}"
        if result.success:
            self.say(f"Done: {log}. It was asked about once, and sent once.")
        elif result.final_reason == "rejected":
            self.say(f"You said no, so nothing was sent: {log}.")
        else:
            self.say(f"That was not the plan: {log}.")

    def suggest(self) -> None:
        """Print commands to try next."""
        self._line("\nWhat to try next:")
        for command, what in NEXT:
            self._line(f"  {command:<38}  {what}", "dim")

    def say(self, text: str) -> None:
        if not self._silent:
            width = min(self._where.console.width, 88)
            self._line("\n" + textwrap.fill(text, width) + "\n", "bold")

    def _line(self, text: str, style: str = "") -> None:
        if not self._silent:
            lines = (self._where.marks.clean(line) for line in text.split("\n"))
            self._where.console.print(Text("\n".join(lines), style), soft_wrap=True)


def explain_event(event: Event) -> str:
    """What this event means, if it is a turning point; otherwise an empty string."""
    match event:
        case Observed(seen=seen) if seen is not None and seen.surface == "Sign in":
            return FIRST_LOOK
        case Observed(seen=seen) if seen is not None and seen.surface == "Checkout":
            return RENAMED
        case Acted(reason="covered"):
            return COVERED
        case Acted(reason="held"):
            return HELD
        case Acted(status="unknown"):
            return UNKNOWN
        case Verified(verdict="happened"):
            return HAPPENED
        case _:
            return ""


class DemoSession(Session):
    """The session of the demo's run. The run cannot be resumed: its shop ends with this process."""

    def __init__(
        self, job: Job, run_id: str, store: LocalStore, verbosity: Verbosity, story: Story, shop: TroubledShop
    ) -> None:
        screen: Screen = NoScreen() if verbosity.silent else story
        super().__init__(job, run_id, store, verbosity, screen=screen, stand_in=DemoApprover(story.announce_answer))
        paced = job.settings.with_overrides({"step_delay_seconds": str(PACE)}) if self.terminal.live else job.settings
        self.agent = replace(self.agent, settings=paced)
        self._story = story
        self._shop = shop

    def announce(self) -> None:
        """Print nothing: the story has already begun."""

    def extra_json(self, result: Result) -> Mapping[str, object]:
        self._story.conclude(result, self._shop.orders)
        return {"orders": self._shop.orders, "answered_by": self._story.answered_by}

    def print_left(self) -> int:
        message = "left before its end; its shop is gone, so start again: midcourse demo"
        if self.verbosity.json:
            print_object({"error": message})
        else:
            self._story.say(message)
        return LEFT
