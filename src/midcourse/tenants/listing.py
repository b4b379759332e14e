"""Lists the runs of a desk in pages, filtered by state, and counts the runs in each state."""

from dataclasses import dataclass

from midcourse.ports.store import RunQuery, RunStatus, RunSummary
from midcourse.tenants.desk import Desk, RunState

NOT_ENDED: tuple[RunStatus, ...] = ("running", "asking", "paused")
STATUSES: dict[RunState, tuple[RunStatus, ...]] = {
    "running": ("running",),
    "asking": ("asking",),
    "paused": ("paused",),
    "interrupted": NOT_ENDED,
    "done": ("done",),
    "failed": ("failed",),
}
"""For each state, the statuses that a store may report. A store does not know whether something drives a run."""
MOST_OPEN = 1000
"""The maximum number of unended runs for which counting checks whether something drives them."""


@dataclass(frozen=True, kw_only=True)
class PageQuery:
    states: tuple[RunState, ...] = ()
    """Empty: any."""
    world: str = ""
    text: str = ""
    before: int | None = None
    limit: int = 50


@dataclass(frozen=True, kw_only=True)
class Page:
    runs: tuple[RunSummary, ...]
    following: int | None
    """`before` of the next page; None: this is the last."""


async def list_page(desk: Desk, query: PageQuery) -> Page:
    """The newest runs that match. Pages have no gaps: a run that begins between two requests is on no later page."""
    wanted: dict[RunStatus, None] = {status: None for state in query.states for status in STATUSES[state]}
    found: list[RunSummary] = []
    before = query.before
    while len(found) <= query.limit:
        most = query.limit + 1
        asked = RunQuery(status=tuple(wanted), world=query.world, text=query.text, before=before, limit=most)
        batch = await desk.store.find_runs(asked)
        found += [run for run in batch if not query.states or desk.state_of(run) in query.states]
        if len(batch) < most:
            break
        before = batch[-1].place
    shown = tuple(found[: query.limit])
    return Page(runs=shown, following=shown[-1].place if len(found) > query.limit else None)


async def count_states(desk: Desk) -> dict[RunState, int]:
    """The number of runs in each state."""
    counted = await desk.store.count_runs()
    states: dict[RunState, int] = dict.fromkeys(STATUSES, 0)
    states["done"], states["failed"] = counted.get("done", 0), counted.get("failed", 0)
    if any(counted.get(status) for status in NOT_ENDED):
        for run in await desk.store.find_runs(RunQuery(status=NOT_ENDED, limit=MOST_OPEN)):
            states[desk.state_of(run)] += 1
    return states
