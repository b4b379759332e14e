"""The records of one run of a trial: result, journal, and Temporal's histories."""

from collections.abc import Iterable
from dataclasses import dataclass

from temporalio.client import WorkflowHistory

from benchmarks.fleet.commands import Performed, list_performed
from benchmarks.fleet.histories import fetch_histories
from benchmarks.fleet.tenant import Fleet
from benchmarks.fleet.world import Line
from midcourse.codec import encode
from midcourse.domain.commands import Act, AskPerson, Verify
from midcourse.domain.events import Acted, Verified
from midcourse.domain.result import Result
from midcourse.ports.store import JournalRow
from midcourse.replay import replay

CUT_OFF = ("world_lost", "lost")
"""Reasons for an unknown outcome of an act that was cut off."""


@dataclass(frozen=True, kw_only=True)
class Account:
    run: str
    result: Result | None
    acts: dict[int, int]
    """The counter that each act visits, by command."""
    steps: dict[int, tuple[int, int]]
    """The step of each act, as plan version and index, by command."""
    asked: list[int]
    """Counters that the approver was asked about: whether the visit had happened."""
    recorded: set[int]
    """Acts with a good outcome in the ledger."""
    identical: bool
    """Whether replaying the journal gives the same commands and the same final state."""
    journal: tuple[JournalRow, ...]
    performed: list[Performed]
    histories: list[WorkflowHistory]

    def format_timeline(self, log: Iterable[Line]) -> str:
        """The run's journal and the world's log in order of time, for debugging."""
        entries = [(line.at, f"        {line.what} {line.counter} {line.command or ''} {line.status}") for line in log]
        for row in self.journal:
            event = row.event
            words = [str(getattr(event, name, "")) for name in ("answers", "status", "verdict", "reason", "detail")]
            issued = ", ".join(f"{command.kind} {command.id}" for command in row.commands)
            entries.append((event.at, f"{row.seq:4} {event.kind} {' '.join(filter(None, words))[:100]} -> {issued}"))
        return "\n".join(f"{at % 1000:8.3f} {text}" for at, text in sorted(entries))

    def resumed_after(self, at: float) -> float | None:
        """Return when another driver continued the run."""
        return min((row.event.at for row in self.journal if row.event.at > at), default=None)

    @property
    def settled_at(self) -> dict[int, float]:
        """When the run had verified the outcome of an act in doubt, by the act's command."""
        doubted = {c.id: c.doubted for row in self.journal for c in row.commands if isinstance(c, Verify)}
        return {doubted[e.answers]: e.at for row in self.journal if isinstance(e := row.event, Verified)}

    @property
    def lost_acts(self) -> dict[int, int]:
        """Counters of the acts that were lost with their driver or with the host, by command."""
        acted = [row.event for row in self.journal if isinstance(row.event, Acted)]
        lost = {event.answers for event in acted if event.status == "unknown" and event.reason in CUT_OFF}
        return {command: counter for command, counter in self.acts.items() if command in lost}


async def read_account(fleet: Fleet, run_id: str) -> Account:
    store = fleet.store
    result = await store.result(run_id)  # before the journal, which is complete once there is a result
    journal = await store.journal(run_id)
    plans = {plan.version: plan for plan in await store.plans(run_id)}
    commands = [command for row in journal for command in row.commands]
    run, _ = await store.load(run_id)
    replayed = replay(await store.initial_state(run_id), journal)
    histories = await fetch_histories(fleet.client, fleet.tenant, run_id)

    def counter(version: int, index: int) -> int:
        zone = plans[version].steps[index].zone
        return int(zone.removeprefix("counter_")) if zone.startswith("counter_") else 0

    return Account(
        run=run_id,
        result=result,
        acts={command.id: counter(command.version, command.index) for command in commands if isinstance(command, Act)},
        steps={command.id: (command.version, command.index) for command in commands if isinstance(command, Act)},
        asked=[
            counter(step.version, step.index)
            for command in commands
            if isinstance(command, AskPerson) and command.about == "happened"
            for step in command.steps
        ],
        recorded={
            entry.command for entry in await store.ledger(run_id) if entry.outcome and entry.outcome.status == "ok"
        },
        identical=replayed.verdict == "identical" and encode(replayed.final) == encode(run),
        journal=journal,
        performed=list_performed(journal),
        histories=histories,
    )
