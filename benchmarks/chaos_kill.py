"""Trial 1: workers are killed with -9 at random moments, until every run has had one while a command was under way."""

import asyncio
import json
import random
import socket
import statistics
import time
from collections import Counter as Tally
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from account import Account, account_of, all_histories
from counted import count_all, summed_up, tell_of_wrong_ones
from errand import Errand, usual_errand
from fate import Doom
from fleet import Fleet, Given, carry_out, fleet_at, site_in
from histories import Performed, replay
from office import Line, read_log
from tail import Tail
from temporalio.api.enums.v1 import PendingActivityState

from midcourse.runtimes.temporal.wire import workflow_id

BREATH = 0.25
"""Seconds between two kills, at least: who has just begun to work has nothing under way."""
LATEST = 0.3
"""A kill comes up to this many seconds after the act that it was aimed at began."""


@dataclass(frozen=True, kw_only=True)
class Kill:
    at: float
    worker: str
    hits: Mapping[str, str]
    """Runs with a command under way in the dead process, and the engine's number of that activity."""
    point: str = ""
    """If it was at a named one."""


@dataclass(kw_only=True)
class Killer:
    """Picks a moment for every run, by the acts that it has begun, and kills whoever holds that run then."""

    fleet: Fleet
    chance: random.Random
    kills: list[Kill] = field(default_factory=list[Kill])
    _aims: dict[str, int] = field(default_factory=dict[str, int])
    _due: dict[str, float] = field(default_factory=dict[str, float])
    _acts: Tally[str] = field(default_factory=Tally[str])
    _holders: dict[str, int] = field(default_factory=dict[str, int])
    _active: set[str] = field(default_factory=set[str])

    def begun(self, run: str) -> None:
        self._active.add(run)
        self._aims[run] = self.chance.randint(0, 9)

    def ended(self, run: str) -> None:
        self._active.discard(run)
        self._aims.pop(run, None)
        self._due.pop(run, None)

    async def hunt(self) -> None:
        acts, holders = Tail(self.fleet.site.log), Tail(self.fleet.site.holders)
        rested = 0.0
        while True:
            self._acts.update(line["run"] for line in acts.new() if line["what"] == "began")
            self._holders.update((line["run"], line["pid"]) for line in holders.new())
            for run, aim in self._aims.items():
                if run in self._holders and self._acts[run] >= aim:
                    self._due.setdefault(run, time.time() + self.chance.uniform(0.0, LATEST))
            for pid in self.fleet.replace_dead():
                await self._note(pid, *self._met_its_fate(pid))
            due = next((run for run, at in self._due.items() if at <= time.time()), None)
            if due and time.time() > rested:
                await self._kill(due)
                rested = time.time() + BREATH
            await asyncio.sleep(0.01)

    async def _kill(self, run: str) -> None:
        pid = self._holders[run]
        self._due.pop(run)
        self._aims[run] = self._acts[run] + self.chance.randint(0, 2)
        if any(worker.pid == pid for worker in self.fleet.workers):
            at = time.time()
            self.fleet.kill(pid)
            await self._note(pid, at)

    async def _note(self, pid: int, at: float, point: str = "") -> None:
        worker = f"{pid}@{socket.gethostname()}"
        active = sorted(self._active)
        under_way = await asyncio.gather(*(self._under_way(run, worker) for run in active))
        hits = {run: activity for run, activity in zip(active, under_way, strict=True) if activity}
        for run in hits:
            self._aims.pop(run, None)
            self._due.pop(run, None)
        self.kills.append(Kill(at=at, worker=worker, hits=hits, point=point))

    async def _under_way(self, run: str, worker: str) -> str:
        handle = self.fleet.client.get_workflow_handle(workflow_id(self.fleet.tenant, run))
        pending = (await handle.describe()).raw_description.pending_activities
        started = PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
        ours = (one for one in pending if one.state == started and one.last_worker_identity == worker)
        return next((one.activity_id for one in ours), "")

    def _met_its_fate(self, pid: int) -> tuple[float, str]:
        for file in self.fleet.site.deaths.iterdir():
            met = json.loads(file.read_text())
            if met["pid"] == pid:
                return met["at"], met["point"]
        raise RuntimeError(f"worker {pid} died, and nobody killed it: see its errors above")


def errand_of(seed: int) -> Errand:
    """Every third worker also dies by itself, right before it writes down an act as dispatched."""
    errand, chance = usual_errand(seed), random.Random(-seed - 1)
    if chance.random() > 1 / 3:
        return errand
    ledgered = [n for n, c in enumerate(errand.counters, start=1) if c.effect in ("reversible", "irreversible")]
    return replace(errand, doom=Doom(point="row", zone=f"counter_{chance.choice(ledgered)}"))


async def trial(given: Given) -> dict[str, Any]:
    seeds = range(given.first_seed, given.first_seed + given.runs)
    errands = {f"kill-{seed}": errand_of(seed) for seed in seeds}
    async with site_in(given.folder) as site, fleet_at(site, "kill", heartbeat=given.heartbeat) as fleet:
        fleet.hire(given.workers)
        killer = Killer(fleet=fleet, chance=random.Random(given.first_seed))
        hunting = asyncio.create_task(killer.hunt())
        over: list[str] = []

        def ended(run: str) -> None:
            over.append(run)
            killer.ended(run)
            given.say(f"{len(over)}/{given.runs} runs, {len(killer.kills)} kills")

        trouble = await carry_out(fleet, errands, given.concurrency, begun=killer.begun, ended=ended)
        hunting.cancel()
        fleet.dismiss()
        given.say("reading what they left behind")
        accounts = [await account_of(fleet, run) for run in errands]
        log, calls = read_log(site.log), Tail(site.calls).new()
    found = count_all(errands, accounts, log, calls)
    tell_of_wrong_ones(given, errands, accounts, found, log)
    kills = what_kills_met(killer.kills, accounts, log, given.heartbeat)
    replays = asdict(await replay(all_histories(accounts)))
    return {**summed_up(found), **kills, "replays": replays, **({"trouble": trouble} if trouble else {})}


def what_kills_met(kills: list[Kill], accounts: list[Account], log: list[Line], heartbeat: float) -> dict[str, Any]:
    by_run = {account.run: account for account in accounts}
    phases: Tally[str] = Tally()
    resumed: list[float] = []
    for kill in kills:
        for run, activity in kill.hits.items():
            done = by_run[run].performed
            hit = next((one for one in done if one.activity == activity and one.scheduled <= kill.at <= one.over), None)
            phases[_phase(hit, run, kill, log) if hit else "unknown"] += 1
            resumed += [min(after) - kill.at for after in [[o.started for o in done if o.started > kill.at]] if after]
    dead = {kill.worker for kill in kills}
    return {
        "kills": len(kills),
        "kills_at_points": dict(Tally(kill.point for kill in kills if kill.point)),
        "kills_in_flight": sum(len(kill.hits) for kill in kills),
        "killed_runs": len({run for kill in kills for run in kill.hits}),
        "killed_in": dict(phases.most_common()),
        "resumed_median_seconds": round(statistics.median(resumed), 2) if resumed else None,
        "resumed_max_seconds": round(max(resumed), 2) if resumed else None,
        "resumed_bar_seconds": 2 * heartbeat + 2.0,
        "given_up_alive": sum(
            one.how == "timed_out" and one.started > 0 and one.worker not in dead
            for account in accounts
            for one in account.performed
        ),
    }


def _phase(hit: Performed, run: str, kill: Kill, log: list[Line]) -> str:
    """What the command was; and of an act, how far it had come in the office."""
    if hit.kind != "act":
        return hit.kind
    lines = [line for line in log if line.run == run and line.command == hit.command and line.at <= kill.at]
    match [line.what for line in lines]:
        case []:
            return "act, not there yet"
        case [_]:
            return "act, under way"
        case _:
            return "act, answered"
