"""Outcomes of acts that did not run to their end, because a dialog opened, the page crashed or closed, or Chromium ended."""

from midcourse.domain.outcome import Outcome
from midcourse.domain.replace import replace
from midcourse.worlds.base import Unseen, failed
from midcourse.worlds.browser.page.tabs import Tab

LOST = Unseen(reason="world_lost", detail="the browser has ended")
NOT_OPEN = Unseen(reason="world_lost", detail="the browser is not open")


def interruption_outcome(tab: Tab) -> Outcome:
    if tab.crashed:
        return failed("page_crashed", f"the page crashed: {tab.page.url}")
    return Outcome(detail=f"a dialog opened: {tab.dialog.message}" if tab.dialog else "the page closed itself")


def loss_outcome(outcome: Outcome) -> Outcome:
    """Return the outcome of an act during which Chromium ended. Held requests are gone; what the guard has proved is still true."""
    if outcome.evidence:
        return outcome
    held = outcome.status == "no_effect" and outcome.reason == "would_send"
    return replace(
        outcome,
        status="no_effect" if held else "unknown",
        reason="world_lost",
        detail=f"{LOST.detail}; {outcome.detail}" if outcome.detail else LOST.detail,
    )
