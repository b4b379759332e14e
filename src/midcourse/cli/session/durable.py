"""A durable run from the command line: begun or resumed, and followed for as long as somebody stays with it."""

from pathlib import Path

from rich.text import Text

from midcourse.app.fleet.connection import Fleet, connected, start_durable_run
from midcourse.app.fleet.following import START_ONE, FollowedRun
from midcourse.app.fleet.settings import FleetSettings
from midcourse.app.wiring import Job, export, job_from, run_folder
from midcourse.cli.session.approver import TerminalApprover
from midcourse.cli.session.durable_follower import Attendant
from midcourse.cli.session.keyboard import Keyboard
from midcourse.cli.session.local import FAILED, LEFT, Manner, desk_at, logged_to, present, screen_at
from midcourse.cli.view.run import View
from midcourse.cli.view.terminal import print_object, terminal
from midcourse.errors import RunUnknown
from midcourse.runtimes.temporal.client import RunBroken

BEGUN = 0
HINT = "Ctrl-C: what now?"


async def begin_durable(
    job: Job, run_id: str, settings: FleetSettings, manner: Manner, *, again: bool, detach: bool
) -> int:
    """A new run, or the earlier one under the same business key."""
    async with connected(settings) as fleet:
        entry = await start_durable_run(fleet, job, run_id, again=again)
        if entry.result is not None:
            return await present(entry.result, fleet.store, None, manner, key=job.task.key)
        if detach:
            return _begun(entry.run, manner, attended=await fleet.runs.has_workers())
        folder = run_folder(job.settings, entry.run)
        return await Attending(fleet, entry.run, manner).to_the_end(folder, from_the_start=not entry.earlier)


async def resume_durable(run_id: str, folder: Path, settings: FleetSettings, manner: Manner, *, detach: bool) -> int:
    """End its pause, or have it driven again if nobody does; then stay with it."""
    async with connected(settings) as fleet:
        result = await fleet.store.result(run_id)
        if result is not None:
            return await present(result, fleet.store, None, manner, ended=True)
        task, _ = await fleet.store.job(run_id)
        try:
            why_not = await fleet.runs.resume(run_id, world=task.world)
        except TimeoutError as unanswered:
            return _unable("not driven", f"{unanswered}; {START_ONE}", run_id, manner)
        if why_not:
            return _unable("refused", why_not, run_id, manner)
        if detach:
            return _begun(run_id, manner, attended=await fleet.runs.has_workers())
        return await Attending(fleet, run_id, manner).to_the_end(folder)


async def watch_durable(run_id: str, settings: FleetSettings, manner: Manner) -> int:
    async with connected(settings) as fleet:
        result = await fleet.store.result(run_id)
        if result is not None:
            return await present(result, fleet.store, None, manner, ended=True)
        return await Attending(fleet, run_id, manner).to_the_end(None)


def _unable(what: str, why: str, run_id: str, manner: Manner) -> int:
    if manner.json:
        print_object({"error": why, "run": run_id})
    else:
        where = terminal()
        where.console.print(Text.assemble((what, "bold red"), f": {where.marks.clean(why)}"), soft_wrap=True)
    return FAILED


def _begun(run_id: str, manner: Manner, *, attended: bool) -> int:
    """`attended`: there is a worker that will take it up."""
    missing = f"no worker is there to take it up; {START_ONE}"
    if manner.json:
        print_object({"run": run_id} if attended else {"run": run_id, "warning": missing})
    elif manner.quiet:
        print(run_id)
    else:
        said = f"run {run_id} is under way" if attended else f"run {run_id} waits: {missing}"
        terminal().console.print(Text(f"{said}; to watch it: midcourse runs watch {run_id}"), soft_wrap=True)
    return BEGUN


class Attending:
    """One durable run, and whoever watches it here."""

    def __init__(self, fleet: Fleet, run_id: str, manner: Manner) -> None:
        self._fleet = fleet
        self._run_id = run_id
        self._manner = manner
        self._terminal = terminal(silent=manner.silent)

    async def to_the_end(self, folder: Path | None, *, from_the_start: bool = False) -> int:
        """Its files are written into the folder, if there is one. What was before is only told `from_the_start`."""
        run = FollowedRun(self._fleet, await self._fleet.store.opening(self._run_id), self._say)
        if not from_the_start:
            await run.catch_up()
        view = await self._view(run)
        keyboard = Keyboard()
        desk = desk_at(self._terminal, keyboard)
        screen = screen_at(self._terminal, view, keyboard, self._manner, HINT)
        attendant = Attendant(store=self._fleet.store, view=view, screen=screen, desk=desk, live=self._terminal.live)
        if desk is not None:
            asks = TerminalApprover(
                desk=desk, screen=screen, interrupted=attendant.question_interrupted, ended=attendant.leave
            )
            run.approver = attendant.in_turn(asks)
        self._announce(view)
        try:
            with logged_to(None):
                result = await attendant.follow(run)
        except RunBroken as broken:
            return self._not_driven(f"{broken}; once that is mended, midcourse resume {self._run_id}")
        except RunUnknown:
            return self._not_driven(f"nobody drives it; midcourse resume {self._run_id} changes that")
        if result is None:
            return self._left()
        if folder is not None:
            await export(self._fleet.store, self._run_id, folder)
        return await present(result, self._fleet.store, folder, self._manner)

    async def _view(self, run: FollowedRun) -> View:
        task, text = await self._fleet.store.job(self._run_id)
        name = job_from(text).name if text else "run"
        view = View(name=name, goal=task.goal, run_id=self._run_id, marks=self._terminal.marks)
        view.recall(run.run, await self._fleet.store.plans(self._run_id), run.past)
        return view

    def _announce(self, view: View) -> None:
        if not self._terminal.live and not self._manner.silent:
            self._say(f"run {self._run_id}: {view.goal}")

    def _say(self, text: str) -> None:
        if not self._manner.silent:
            self._terminal.console.print(Text(self._terminal.marks.clean(text)), soft_wrap=True)

    def _not_driven(self, why: str) -> int:
        return _unable("not driven", why, self._run_id, self._manner)

    def _left(self) -> int:
        how = f"midcourse runs watch {self._run_id}"
        if self._manner.json:
            print_object({"error": f"left before its end; it goes on, and {how} comes back to it", "run": self._run_id})
        else:
            text = Text.assemble(("left", "bold yellow"), f"; it goes on without you: {how}")
            self._terminal.console.print(text, soft_wrap=True)
        return LEFT
