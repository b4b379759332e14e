"""Follows a run that another process drives. Ctrl-C does not stop the run: it opens a menu."""

from collections.abc import Sequence
from typing import ClassVar

from midcourse.cli.session.follower import BACK, CANCEL, LEAVE, RunFollower
from midcourse.terminal.prompt import Choice

LEFT_ALONE = Choice(key=LEAVE, label="[q]uit", leads_to="leave it; it continues without you")
CHOICES = (
    Choice(key="w", label="[w]atch", leads_to="continue watching"),
    Choice(key="p", label="[p]ause", leads_to="after the current step, until it is resumed"),
    Choice(key="r", label="[r]esume", leads_to="end a pause: look at the world again, then continue"),
    Choice(key="g", label="[g]uide", leads_to="give the planner advice for its next plan"),
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
