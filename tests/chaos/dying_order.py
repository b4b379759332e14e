"""A process that orders a lamp and kills itself at a given boundary."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace

from midcourse.agent.agent import Agent, build_agent
from midcourse.agent.wiring import load_job, save_job
from midcourse.home.folder import DATABASE, run_folder
from midcourse.store.sqlite import SqliteStore
from tests.chaos.crash import mortal


def _is_order(call) -> bool:
    return call.skill == "place_order"


def _is_dispatch(_run, entry) -> bool:
    return bool(entry.identity) and entry.outcome is None


def _is_outcome(_run, entry) -> bool:
    return bool(entry.identity) and entry.outcome is not None


def _is_order_turn(run, event, _commands) -> bool:
    return event.kind == "acted" and bool(event.identity) and event.reason != "held"


def _is_held_turn(_run, event, _commands) -> bool:
    return event.kind == "acted" and event.reason == "held"


STORE = {
    "turn_of_the_held_order": ("save_turn", _is_held_turn),
    "ledger_says_dispatched": ("write_ledger", _is_dispatch),
    "ledger_says_outcome": ("write_ledger", _is_outcome),
    "turn_of_the_order": ("save_turn", _is_order_turn),
}
WORLD = {
    "commit_set_is_read": ("commit_set", _is_order),
    "order_is_sent": ("act", _is_order),
    "doubt_is_barred": ("bar", lambda _command: True),
    "probe_is_asked": ("probe", lambda *_: True),
}
BOUNDARIES = [f"{when}:{name}" for name in (*STORE, *WORLD) for when in ("before", "after")]


def kill_at(agent: Agent, store: SqliteStore, boundary: str) -> Agent:
    when, _, name = boundary.partition(":")
    assert when in ("before", "after")
    side: Callable = mortal
    if name in STORE:
        method, matches = STORE[name]
        return replace(agent, store=side(store, method, when, if_called_with=matches))
    method, matches = WORLD[name]
    return replace(agent, store=store, world=side(agent.world, method, when, if_called_with=matches))


def order(home: str, task: str, run_id: str, boundary: str) -> None:
    os.environ["MIDCOURSE_HOME"] = home
    asyncio.run(_order(task, run_id, boundary))


async def _order(task: str, run_id: str, boundary: str) -> None:
    job = load_job(task, {})
    folder = run_folder(job.settings, run_id)
    save_job(job, folder)
    store = SqliteStore(job.settings.home / DATABASE)
    agent = build_agent(job, folder, approver=None)
    await kill_at(agent, store, boundary).run(job.task, run_id=run_id)
