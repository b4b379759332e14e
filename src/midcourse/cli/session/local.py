"""Starts, resumes and follows a run in this process, and prints its result."""

import json
import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from io import TextIOWrapper
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text

from midcourse.agent.agent import Agent, build_agent
from midcourse.agent.one_line import DryRun
from midcourse.agent.start import StartedRun, find_earlier, prepare_run
from midcourse.agent.wiring import Job
from midcourse.cli.options import LEFT, SUCCEEDED, Verbosity
from midcourse.cli.session.follower import FollowableRun, RunFollower
from midcourse.cli.session.screen import Lines, LiveView, NoScreen, Screen
from midcourse.cli.view.run import RunView
from midcourse.cli.view.verdict import most_steps, verdict_of
from midcourse.domain.approval import Question
from midcourse.domain.result import Result
from midcourse.errors import RunBusy, RunEnded
from midcourse.files import private_opener
from midcourse.history.journal import export, result_json
from midcourse.home.folder import run_folder
from midcourse.home.stores import LocalStore, open_store
from midcourse.policy.approval.question import list_rows
from midcourse.ports.approver import Approver
from midcourse.ports.store import Store
from midcourse.presentation.question import step_json
from midcourse.presentation.result import describe_counts, sent_effects
from midcourse.presentation.vocabulary import format_argument
from midcourse.redact import Discreet
from midcourse.terminal.output import Terminal, print_json, print_outcome, terminal
from midcourse.terminal.prompt import Keyboard, open_prompt
from midcourse.terminal.question import question_panel


async def start_run(
    job: Job, run_id: str, verbosity: Verbosity, *, again: bool = False, dry: DryRun | None = None
) -> int:
    """Start a run, or continue the earlier one with the same business key. A `dry` run drops its first irreversible request."""
    with open_store(job.settings.home) as store:
        session: Session | None = None
        found = await find_earlier(job, store, again=again)
        if not isinstance(found, StartedRun):
            async with prepare_run(job, run_id, store) as prepared:
                session = Session(job, run_id, store, verbosity, dry=dry)
                found = await prepared.begin(again=again)
        result = found.result
        if result is None:
            try:
                if session is not None and not found.earlier:
                    return await session.follow(session.agent.pick_up(run_id))
                return await resume_run(found.job, found.run, store, verbosity, dry=dry)
            except RunEnded:  # another process started it at the same time and was faster
                result = await store.result(found.run)
                if result is None:
                    raise
        return await print_result(result, store, run_folder(job.settings, found.run), verbosity, key=job.task.key)


async def resume_run(
    job: Job, run_id: str, store: LocalStore, verbosity: Verbosity, *, restored: bool = False, dry: DryRun | None = None
) -> int:
    """Continue a stored run."""
    session = Session(job, run_id, store, verbosity, dry=dry)
    run, _ = await store.load(run_id)
    session.view.restore(run, await store.plans(run_id), await store.journal(run_id))
    return await session.follow(session.agent.pick_up(run_id, restored=restored))


class Session:
    """A run driven by this process, with its folder and its screen."""

    def __init__(
        self,
        job: Job,
        run_id: str,
        store: LocalStore,
        verbosity: Verbosity,
        *,
        dry: DryRun | None = None,
        screen: Screen | None = None,
        stand_in: Approver | None = None,
    ) -> None:
        """Set up the session. `screen` replaces the usual view; `stand_in` answers questions if there is no terminal to ask in."""
        self._dry = dry
        self._save_as = f"midcourse init task {job.name}.toml --from {run_id}" if job.unfiled else ""
        self.folder = run_folder(job.settings, run_id)
        self._run_id = run_id
        self._store = store
        self.verbosity = verbosity
        self.terminal = terminal(silent=verbosity.silent)
        self.view = RunView(name=job.name, goal=job.task.goal, run_id=run_id, marks=self.terminal.marks)
        keyboard = Keyboard()
        prompt = open_prompt(self.terminal, keyboard)
        screen = screen or open_screen(self.terminal, self.view, keyboard, verbosity)
        self._follower = RunFollower(store=store, view=self.view, screen=screen, prompt=prompt, live=self.terminal.live)
        approver = self._follower.build_approver() or stand_in
        if dry is not None and approver is not None:
            dry.otherwise = approver
        self.agent: Agent = replace(build_agent(job, self.folder, dry or approver), store=store)

    async def follow(self, live: FollowableRun) -> int:
        """Follow the run to its end and present it. Returns the exit code."""
        self.announce()
        try:
            with log_to(self.folder / "run.log"):
                result = await self._follower.follow(live)
        except RunBusy:
            raise RunBusy(
                f"another process drives run {self._run_id}; watch it with midcourse watch {self._run_id}"
            ) from None
        await export(self._store, self._run_id, self.folder)
        if result is None:
            return self.print_left()
        if self._dry is not None and self._dry.dropped is not None:
            return print_dry_run(result, self._dry.dropped, self.verbosity)
        more = self.extra_json(result)
        return await print_result(result, self._store, self.folder, self.verbosity, save_as=self._save_as, more=more)

    def extra_json(self, result: Result) -> Mapping[str, object]:
        """What `--json` prints in addition to the result."""
        return {}

    def announce(self) -> None:
        """Print what was started, unless a live view shows it."""
        if not self.terminal.live and not self.verbosity.silent:
            self.terminal.say(f"run {self._run_id}: {self.view.goal}")

    def print_left(self) -> int:
        """Print how to continue a run that was left before its end."""
        how = f"midcourse resume {self._run_id}"
        problem = {"error": f"left before its end; {how} continues it", "run": self._run_id}
        said = (("left before its end", "bold yellow"), f"; to continue: {how}")
        print_outcome(problem, *said, json=self.verbosity.json)
        return LEFT


def open_screen(
    where: Terminal, view: RunView, keyboard: Keyboard, verbosity: Verbosity, hint: str = "Ctrl-C pauses"
) -> Screen:
    if verbosity.silent:
        return NoScreen()
    return LiveView(where.console, view, keyboard, hint) if where.live else Lines(where.console, view)


async def print_result(
    result: Result,
    store: Store,
    folder: Path | None,
    verbosity: Verbosity,
    *,
    key: str = "",
    ended: bool = False,
    save_as: str = "",
    more: Mapping[str, object] | None = None,
) -> int:
    """Print the result of a run, and return its exit code.

    `key`: the business key, if an earlier run with it already did the task. `ended`: the run had already ended, so there was
    nothing to resume. `save_as`: the command that makes a task file of it. `more`: what `--json` prints in addition.
    """
    if verbosity.json:
        beside: dict[str, object] = {"sent": [asdict(sent) for sent in await sent_effects(store, result.run)]}
        beside |= ({"again": True} if key else {}) | ({"save_as": save_as} if save_as else {})
        print_json(json.dumps({**json.loads(result_json(result)), **beside, **(more or {})}, ensure_ascii=False))
    else:
        where = terminal()
        verdict = replace(await verdict_of(result, store, folder), save_as=save_as)
        before = f"run {result.run} had ended already; this is its result" if ended else ""
        before = f"already done under this key: {key}" if key else before
        if verbosity.quiet:
            where.say("; ".join(part for part in (before, verdict.line(where.marks)) if part))
        else:
            if before:
                where.say(before, style="bold")
            verdict.print(where.console, where.marks, most_steps(where.console))
    return verbosity.exit_code(success=result.success, verified=result.verified)


def print_dry_run(result: Result, dropped: Question, verbosity: Verbosity) -> int:
    """Show the request at which a dry run ended. The dry run succeeded because it reached that request."""
    if verbosity.json:
        would = [step_json(dropped, number) for number in range(len(dropped.consequences))]
        print_json(json.dumps({**json.loads(result_json(result)), "dry_run": True, "would": would}, ensure_ascii=False))
        return SUCCEEDED
    where = terminal()
    if not verbosity.quiet:
        where.console.print(dry_panel(dropped, where))
    where.say(f"dry run: this would be sent, and was not; {describe_counts(result)}", style="bold")
    where.say("to do it: the same command without --dry-run", style="dim")
    return SUCCEEDED


def dry_panel(dropped: Question, where: Terminal) -> RenderableType:
    """Render the dropped request: as a panel in a terminal, as plain lines elsewhere."""
    width = min(where.console.width, 100)
    if where.console.is_terminal:
        return question_panel(dropped, None, width, where.marks, title="This would be sent", hint="")
    lines = (
        f"{row.kind:<9} {row.name + ' = ' if row.name else ''}{format_argument(row.value)}"
        for consequence in dropped.consequences
        for row in list_rows(consequence)
    )
    return Text("\n".join(where.marks.clean(line) for line in lines))


class PrivateLog(logging.FileHandler):
    """A log file that only its owner may read."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding=self.encoding, errors=self.errors, opener=private_opener)


@contextmanager
def log_to(path: Path | None) -> Generator[None]:
    """Send log records to a file, created with the first one, or drop them: the terminal belongs to the view."""
    handler = PrivateLog(path, delay=True, encoding="utf-8") if path else logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(Discreet())
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()
