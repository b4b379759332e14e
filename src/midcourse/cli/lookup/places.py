"""A run by name, wherever it is: in this home, or in the fleet."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from midcourse.app.fleet.settings import FleetSettings
from midcourse.app.settings.run import Settings
from midcourse.cli.lookup.names import LAST, SUGGESTED, has_store, opened_store, state_if_driven, state_of, the_one
from midcourse.ports.store import RunSummary
from midcourse.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from midcourse.store.postgres import PostgresStore


@dataclass(frozen=True, kw_only=True)
class Located:
    run: RunSummary
    store: "SqliteStore | PostgresStore"

    @property
    def durable(self) -> bool:
        return not isinstance(self.store, SqliteStore)

    @property
    def state(self) -> str:
        return state_of(self.store, self.run) if isinstance(self.store, SqliteStore) else state_if_driven(self.run)


@asynccontextmanager
async def located(settings: Settings, fleet: FleetSettings | None, name: str) -> AsyncGenerator[Located]:
    """By its id, the beginning of its id if that is enough, or `last`. Raises `RunUnknown`."""
    here = await _here(settings)
    if fleet is None or (name != LAST and any(run.id == name for run in here)):
        with opened_store(settings) as store:
            yield Located(run=the_one(here, name), store=store)
        return
    from midcourse.app.fleet.store import open_fleet_store

    async with open_fleet_store(fleet) as there:
        durable = await candidates(there, name)
        run = the_one(sorted((*here, *durable), key=_age), name)
        if run in durable:
            yield Located(run=run, store=there)
        else:
            with opened_store(settings) as store:
                yield Located(run=run, store=store)


async def candidates(store: "PostgresStore", name: str) -> tuple[RunSummary, ...]:
    """Those that could be meant, and if there are none the newest."""
    named = await store.runs_named(name, SUGGESTED) if name and name != LAST else ()
    exact = [run for run in named if run.id == name]
    return tuple(exact) or named or await store.runs(limit=SUGGESTED)


async def _here(settings: Settings) -> tuple[RunSummary, ...]:
    if not has_store(settings):
        return ()
    with opened_store(settings) as store:
        return await store.runs()


def _age(run: RunSummary) -> float:
    """Newest first. One that has not begun yet was entered just now."""
    return -run.began_at if run.began_at else float("-inf")
