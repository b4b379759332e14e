"""A run that another process drives, followed in this terminal."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from midcourse.agent.control import NotDriven, RunControl
from midcourse.agent.following import FollowedRun
from midcourse.cli.options import FAILED, LEFT, Verbosity
from midcourse.cli.session.follower import BACK, CANCEL, LEAVE, RunFollower
from midcourse.cli.session.local import log_to, open_screen, print_result
from midcourse.cli.view.run import RunView
from midcourse.history.journal import export
from midcourse.terminal.output import print_outcome, terminal
from midcourse.terminal.prompt import Choice, Keyboard, open_prompt

LEFT_ALONE = Choice(key=LEAVE, label="[q]uit", leads_to="leave it; it continues without you")
CHOICES = (
    Choice(key="w", label="[w]atch", leads_to="continue watching"),
    Choice(key="p", label="[p]ause", leads_to="after the current step, until it is resumed"),
    Choice(key="r", label="[r]esume", leads_to="end a pause: look at the world again, then continue"),
    Choice(key="g", label="[g]uide", leads_to="give the planner advice for its next plan", takes_words=True),
    CANCEL,
    LEFT_ALONE,
)


class RunWatcher(RunFollower):
    """Follows a run that others may follow, too. Without a live view, Ctrl-C stops following, and the run continues."""

    instead_of_answering: ClassVar[Sequence[Choice]] = (BACK, CANCEL, LEFT_ALONE)

    def _interrupt(self) -> None:
        self._interrupts += 1
        if self._prompt is not None and self._prompt.keyboard.interrupt():
            return
        if self._interrupts > 1 or not self._can_pause:
            self.leave()
        else:
            self._open_menu("It continues meanwhile.", CHOICES)


HINT = "Ctrl-C: what now?"


class WatchSession:
    """Shows a run and asks its questions, as if it were driven here. Other terminals may do the same."""

    def __init__(self, control: RunControl, verbosity: Verbosity, *, name: str, goal: str) -> None:
        self._control = control
        self._run_id = control.run_id
        self._verbosity = verbosity
        self._terminal = terminal(silent=verbosity.silent)
        self._view = RunView(name=name, goal=goal, run_id=control.run_id, marks=self._terminal.marks)

    async def follow(self, folder: Path | None, *, writes: bool = False, from_the_start: bool = False) -> int:
        """Follow the run to its end and return the exit code. Earlier events are printed only with `from_the_start`.

        `folder` is the folder of the run's files; with `writes`, they are written when the run has ended.
        """
        store = self._control.store
        run = FollowedRun(self._control, await store.initial_state(self._run_id), self._say)
        if not from_the_start:
            await run.catch_up()
        self._view.restore(run.run, await store.plans(self._run_id), run.past)
        keyboard = Keyboard()
        prompt = open_prompt(self._terminal, keyboard)
        screen = open_screen(self._terminal, self._view, keyboard, self._verbosity, HINT)
        watcher = RunWatcher(store=store, view=self._view, screen=screen, prompt=prompt, live=self._terminal.live)
        run.approver = watcher.build_approver()
        if not self._terminal.live and not self._verbosity.silent:
            self._say(f"run {self._run_id}: {self._view.goal}")
        try:
            with log_to(None):
                result = await watcher.follow(run)
        except NotDriven as why:
            return print_problem("not driven", str(why), self._run_id, self._verbosity)
        if result is None:
            return self._print_left()
        if folder is not None and writes:
            await export(store, self._run_id, folder)
        return await print_result(result, store, folder, self._verbosity)

    def _say(self, text: str) -> None:
        """Print a notice; with `--json` or `--quiet`, print it to standard error."""
        if self._verbosity.silent:
            print(self._terminal.marks.clean(text), file=sys.stderr)
        else:
            self._terminal.say(text)

    def _print_left(self) -> int:
        how = f"midcourse watch {self._run_id}"
        problem = {"error": f"left before its end; it continues, and {how} returns to it", "run": self._run_id}
        said = (("left", "bold yellow"), f"; it continues without you: {how}")
        print_outcome(problem, *said, json=self._verbosity.json)
        return LEFT


def print_problem(what: str, why: str, run_id: str, verbosity: Verbosity) -> int:
    """Print why a run cannot be followed. Returns the exit code."""
    print_outcome({"error": why, "run": run_id}, (what, "bold red"), f": {why}", json=verbosity.json)
    return FAILED
