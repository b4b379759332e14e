"""Starts, resumes and follows a durable run from the command line."""

from pathlib import Path

from rich.text import Text

from midcourse.app.fleet.connection import Fleet, RunBroken, connected, start_durable_run
from midcourse.app.fleet.following import START_ONE, FollowedRun
from midcourse.app.fleet.settings import FleetSettings
from midcourse.app.wiring import Job, export, job_from, run_folder
from midcourse.cli.session.approver import TerminalApprover
from midcourse.cli.session.durable_follower import DurableRunFollower
from midcourse.cli.session.keyboard import Keyboard
from midcourse.cli.session.local import FAILED, LEFT, Verbosity, log_to, open_prompt, open_screen, print_result
from midcourse.cli.view.run import RunView
from midcourse.cli.view.terminal import print_object, terminal
from midcourse.errors import RunUnknown

BEGUN = 0
HINT = "Ctrl-C: what now?"


async def start_durable(
    job: Job, run_id: str, settings: FleetSettings, verbosity: Verbosity, *, again: bool, detach: bool
) -> int:
    """Start a run, or follow the earlier one under the same business key."""
    async with connected(settings) as fleet:
        entry = await start_durable_run(fleet, job, run_id, again=again)
        if entry.result is not None:
            return await print_result(entry.result, fleet.store, None, verbosity, key=job.task.key)
        if detach:
            return _begun(entry.run, verbosity, attended=await fleet.runs.has_workers())
        folder = run_folder(job.settings, entry.run)
        return await DurableSession(fleet, entry.run, verbosity).follow(folder, from_the_start=not entry.earlier)


async def resume_durable(
    run_id: str, folder: Path, settings: FleetSettings, verbosity: Verbosity, *, detach: bool
) -> int:
    """End its pause, or start its workflow again if none is running; then follow it."""
    async with connected(settings) as fleet:
        result = await fleet.store.result(run_id)
        if result is not None:
            return await print_result(result, fleet.store, None, verbosity, ended=True)
        task, _ = await fleet.store.job(run_id)
        try:
            why_not = await fleet.runs.resume(run_id, world=task.world)
        except TimeoutError as unanswered:
            return _unable("not driven", f"{unanswered}; {START_ONE}", run_id, verbosity)
        if why_not:
            return _unable("refused", why_not, run_id, verbosity)
        if detach:
            return _begun(run_id, verbosity, attended=await fleet.runs.has_workers())
        return await DurableSession(fleet, run_id, verbosity).follow(folder)


async def watch_durable(run_id: str, settings: FleetSettings, verbosity: Verbosity) -> int:
    async with connected(settings) as fleet:
        result = await fleet.store.result(run_id)
        if result is not None:
            return await print_result(result, fleet.store, None, verbosity, ended=True)
        return await DurableSession(fleet, run_id, verbosity).follow(None)


def _unable(what: str, why: str, run_id: str, verbosity: Verbosity) -> int:
    if verbosity.json:
        print_object({"error": why, "run": run_id})
    else:
        where = terminal()
        where.console.print(Text.assemble((what, "bold red"), f": {where.marks.clean(why)}"), soft_wrap=True)
    return FAILED


def _begun(run_id: str, verbosity: Verbosity, *, attended: bool) -> int:
    """`attended`: a worker is there to drive it."""
    missing = f"no worker is there to take it up; {START_ONE}"
    if verbosity.json:
        print_object({"run": run_id} if attended else {"run": run_id, "warning": missing})
    elif verbosity.quiet:
        print(run_id)
    else:
        text = f"run {run_id} has started" if attended else f"run {run_id} waits: {missing}"
        terminal().console.print(Text(f"{text}; to watch it: midcourse watch {run_id}"), soft_wrap=True)
    return BEGUN


class DurableSession:
    """A durable run followed in this terminal."""

    def __init__(self, fleet: Fleet, run_id: str, verbosity: Verbosity) -> None:
        self._fleet = fleet
        self._run_id = run_id
        self._verbosity = verbosity
        self._terminal = terminal(silent=verbosity.silent)

    async def follow(self, folder: Path | None, *, from_the_start: bool = False) -> int:
        """Follow it to its end and write its files into the folder, if given. Earlier events are printed only `from_the_start`."""
        run = FollowedRun(self._fleet, await self._fleet.store.opening(self._run_id), self._say)
        if not from_the_start:
            await run.catch_up()
        view = await self._view(run)
        keyboard = Keyboard()
        prompt = open_prompt(self._terminal, keyboard)
        screen = open_screen(self._terminal, view, keyboard, self._verbosity, HINT)
        follower = DurableRunFollower(
            store=self._fleet.store, view=view, screen=screen, prompt=prompt, live=self._terminal.live
        )
        if prompt is not None:
            asks = TerminalApprover(
                prompt=prompt, screen=screen, interrupted=follower.question_interrupted, ended=follower.leave
            )
            run.approver = follower.one_at_a_time(asks)
        self._announce(view)
        try:
            with log_to(None):
                result = await follower.follow(run)
        except RunBroken as broken:
            return self._not_driven(f"{broken}; once that is fixed, midcourse resume {self._run_id}")
        except RunUnknown:
            return self._not_driven(f"no worker is running it; start it with midcourse resume {self._run_id}")
        if result is None:
            return self._left()
        if folder is not None:
            await export(self._fleet.store, self._run_id, folder)
        return await print_result(result, self._fleet.store, folder, self._verbosity)

    async def _view(self, run: FollowedRun) -> RunView:
        task, text = await self._fleet.store.job(self._run_id)
        name = job_from(text).name if text else "run"
        view = RunView(name=name, goal=task.goal, run_id=self._run_id, marks=self._terminal.marks)
        view.restore(run.run, await self._fleet.store.plans(self._run_id), run.past)
        return view

    def _announce(self, view: RunView) -> None:
        if not self._terminal.live and not self._verbosity.silent:
            self._say(f"run {self._run_id}: {view.goal}")

    def _say(self, text: str) -> None:
        if not self._verbosity.silent:
            self._terminal.console.print(Text(self._terminal.marks.clean(text)), soft_wrap=True)

    def _not_driven(self, why: str) -> int:
        return _unable("not driven", why, self._run_id, self._verbosity)

    def _left(self) -> int:
        how = f"midcourse watch {self._run_id}"
        if self._verbosity.json:
            print_object({"error": f"left before its end; it continues, and {how} returns to it", "run": self._run_id})
        else:
            text = Text.assemble(("left", "bold yellow"), f"; it continues without you: {how}")
            self._terminal.console.print(text, soft_wrap=True)
        return LEFT
