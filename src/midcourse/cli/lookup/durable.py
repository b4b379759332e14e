"""One durable run by name, to tell it something. A run on this machine is told in its own terminal."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from rich.text import Text

from midcourse.app.fleet.connection import Fleet, connected
from midcourse.app.settings.run import Settings
from midcourse.cli.lookup.names import find_run, has_store, opened_store, the_one
from midcourse.cli.lookup.places import candidates
from midcourse.cli.overrides import fleet_with, pairs
from midcourse.cli.view.terminal import print_object, terminal
from midcourse.errors import FleetUnavailable, RunUnknown
from midcourse.ports.store import RunSummary
from midcourse.runtimes.temporal.client import RunHandle

DONE, REFUSED = 0, 1
LOCAL = (
    "run {run} is not durable: one process drives it, and it is told things in the terminal of that process, where "
    "Ctrl-C pauses it and lets you choose"
)


@dataclass(frozen=True, kw_only=True)
class Reached:
    fleet: Fleet
    run: RunSummary

    @property
    def handle(self) -> RunHandle:
        return self.fleet.runs.handle(self.run.id)


@asynccontextmanager
async def reached(name: str, overrides: Sequence[str]) -> AsyncGenerator[Reached]:
    """Raises `RunUnknown` with those that exist, or with where a local run is to be told things."""
    try:
        home, settings = fleet_with(overrides)
    except FleetUnavailable:
        await _refuse_local(name, overrides)
        raise
    async with connected(settings) as fleet:
        try:
            run = the_one(await candidates(fleet.store, name), name)
        except RunUnknown:
            await _refuse_local(name, [f"home={home}"])
            raise
        yield Reached(fleet=fleet, run=run)


async def _refuse_local(name: str, overrides: Sequence[str]) -> None:
    settings = Settings.load(overrides={key: value for key, value in pairs(overrides).items() if key == "home"})
    if not has_store(settings):
        return
    with opened_store(settings) as store:
        try:
            run = await find_run(store, name)
        except RunUnknown:
            return
    raise RunUnknown(LOCAL.format(run=run.id))


def report(run_id: str, why_not: str, said: str, *, json: bool, **more: object) -> int:
    """Whether the run took it, and if not, why."""
    if json:
        print_object({"run": run_id, "taken": not why_not, **({"error": why_not} if why_not else more)})
    elif why_not:
        _say(Text.assemble(("refused", "bold red"), f": {terminal().marks.clean(why_not)}"))
    else:
        _say(Text(terminal().marks.clean(f"run {run_id}: {said}")))
    return REFUSED if why_not else DONE


def _say(text: Text) -> None:
    terminal().console.print(text, soft_wrap=True)
