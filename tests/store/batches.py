"""Batches of the driver that has claimed a run, and the phases that it may be in."""

from dataclasses import replace
from inspect import iscoroutinefunction
from typing import Any

from midcourse.domain.events import Event
from midcourse.domain.moves import Look, Plan
from midcourse.domain.phases import Asking, Ended, New, Paused, Phase
from midcourse.domain.run import Run
from midcourse.store.postgres import PostgresBatch, PostgresStore
from midcourse.testing.conformance.store_samples import new_run

THEN = Look(then=Plan(cause="initial"))
PHASES: dict[str, Phase] = {
    "running": New(),
    "asking": Asking(about="approve", steps=(), purpose="segment", question=3, then=THEN),
    "paused": Paused(then=THEN),
    "ended": Ended(reason="rejected", detail=""),
}


async def batch_of(store: PostgresStore, run_id: str = "a") -> PostgresBatch:
    """The first call claims the run."""
    drive = store._drives.get(run_id)
    return store.records(drive.claim if drive else await store.claim_run(run_id))


def state(run_id: str, seq: int, phase: str = "running") -> Run:
    return replace(new_run(run_id), seq=seq, phase=PHASES[phase])


async def write(store: PostgresStore, run_id: str, seq: int, event: Event, phase: str = "running") -> None:
    """A turn, which leads to this phase."""
    await (await batch_of(store, run_id)).save_turn(state(run_id, seq, phase), event, ())


class Batched:
    """A store in which everything about a run waits in a batch of its driver until something else is asked for."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store
        self._batches: dict[str, PostgresBatch] = {}

    def __getattr__(self, name: str) -> Any:
        if not iscoroutinefunction(getattr(self._store, name)):
            return getattr(self._store, name)

        async def call(*arguments: Any, **options: Any) -> Any:
            batch = self._batches.get(_run_of(arguments))
            if batch is None or name == "begin":
                for each in self._batches.values():
                    await each.flush()
                batch = self._store
            found = await getattr(batch, name)(*arguments, **options)
            if name == "begin":
                self._batches[arguments[0].id] = await batch_of(self._store, arguments[0].id)
            return found

        return call


def _run_of(arguments: tuple[Any, ...]) -> str:
    """The run that a call is about: its id, its state, its result, or what was asked in it."""
    first = arguments[0] if arguments else ""
    first = first[0] if isinstance(first, tuple) and first else first
    return first if isinstance(first, str) else getattr(first, "id", "") or getattr(first, "run", "")
