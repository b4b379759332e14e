"""A fork: a new run that continues a recorded run from one of its events, in a world rebuilt to that point.

The recorded commands are performed again in a fresh world, at their recorded times, and each answer of the world is
compared with the recorded one. Planners and people are not asked again: their answers are in the journal. If all answers
match, the state after that event becomes the beginning of a new run. Approvals are not carried over: they were given to
another run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from midcourse.agent.agent import Agent
from midcourse.agent.start import new_run_id
from midcourse.agent.wiring import Job
from midcourse.config.defaults import user, user_id
from midcourse.config.settings import Settings
from midcourse.domain import commands, events, phases
from midcourse.domain.approval import Consequence
from midcourse.domain.budget import Limits
from midcourse.domain.observation import Observation, ObservationRef
from midcourse.domain.plan import PlannedStep
from midcourse.domain.run import Issued, Origin, Run
from midcourse.errors import NotForkable
from midcourse.history.journal import Journal
from midcourse.history.replay import DECIDING, changed_limits
from midcourse.perform import Performer, Ports
from midcourse.perform.consequence import read_consequence
from midcourse.perform.ports import Deadline
from midcourse.ports.abilities import offers
from midcourse.ports.clock import Clock, SystemClock
from midcourse.ports.store import JournalRow, Store
from midcourse.replay import list_states, replay, take_turn
from midcourse.store.memory import MemoryStore


@dataclass(frozen=True, kw_only=True)
class Forked:
    """A run that is stored and has an open world: `agent.pick_up(run_id, world_is_open=True)` continues it."""

    run_id: str
    at: int
    """The event after which it branched off: the requested one, or the nearest before it at which no act was under way."""


class TimedWorld(Protocol):
    """A world with a clock that can be replaced."""

    def keep_time_by(self, clock: Clock) -> None: ...


async def fork(
    journal: Journal,
    at: int,
    *,
    agent: Agent,
    store: Store,
    run_id: str = "",
    limits: Limits | None = None,
    by: str = "",
    by_id: str = "",
) -> Forked:
    """Rebuild the agent's world, which must not be open yet, as it was after event `at`, and store a new run that begins there.

    It is started by `by`, by default the user of this process, and not by the user who started the recorded run: under four eyes
    its questions are decided by another person than the one who forked it.
    Raises `NotForkable`; then the world is closed and nothing is stored.
    """
    at = find_quiet_point(journal, at)
    if not getattr(agent.world, "rebuilds", False):
        raise NotForkable(
            f"the world '{agent.world.name}' cannot be brought to a recorded state again (it does not say `rebuilds`); "
            "only what it did can be replayed"
        )
    run_id = run_id or new_run_id()
    clock = agent.clock or SystemClock()
    recorded = next(run for run in list_states(journal.opening, journal.rows) if run.seq == at)
    rebuild = _Rebuild(journal, agent, run_id, shift=clock.now() - recorded.now)
    if offers(agent.world, TimedWorld):
        agent.world.keep_time_by(rebuild.clock)
    try:
        run = await rebuild.rebuild_until(at)
    except BaseException:
        await agent.world.close()
        raise
    if offers(agent.world, TimedWorld):
        agent.world.keep_time_by(clock)
    limits = limits or run.limits
    by, by_id = (by, by_id) if by else (user(), user_id())
    starter = (by, by_id) if journal.task.agreement.four_eyes else ("", "")
    origin = Origin(run=journal.opening.id, event=at)
    run = replace(run, limits=limits, grants=(), raises=(), forked_from=origin, not_by=starter[0], not_by_id=starter[1])
    await store.begin(run, replace(journal.task, limits=limits, key="", by=by, by_id=by_id))
    await rebuild.records.copy_to(store, run_id)
    return Forked(run_id=run_id, at=at)


def find_quiet_point(journal: Journal, at: int) -> int:
    """Find the last event up to `at` after which the run continues and no act is under way."""
    origin = journal.opening.forked_from
    if origin is not None:
        raise NotForkable(
            f"run {journal.opening.id} is a fork itself, and its journal begins in the middle; "
            f"fork run {origin.run}, which it came from at event {origin.event}"
        )
    last = journal.state.seq
    if not 1 <= at <= last:
        raise NotForkable(f"there is no event {at}: run {journal.opening.id} has events 1 to {last}")
    rows = [row for row in journal.rows if row.seq <= at]
    again = replay(journal.opening, rows)
    if again.verdict != "identical":
        raise NotForkable(f"the journal cannot be replayed, so it cannot be forked: {again.detail}")
    quiet = [run.seq for run in list_states(journal.opening, rows)[1:] if _is_quiet(run)]
    if not quiet:
        raise NotForkable(f"run {journal.opening.id} was over before it had begun")
    return quiet[-1]


def job_of_fork(job: Job, settings: Settings, changes: Mapping[str, str]) -> Job:
    """The job of a recorded run, changed for a fork: in this home, and with these settings."""
    if "effects" in job.file.world.options:
        raise NotForkable("the task names a file for its effects, and a fork would write into the same one")
    now = {**changes, "home": str(settings.home)}
    return replace(job, overrides={**job.overrides, **changes}, settings=job.settings.with_overrides(now))


def limits_of_fork(journal: Journal, changes: Mapping[str, str]) -> Limits:
    """The recorded limits, changed by those of these settings that the director uses."""
    deciding = {name: value for name, value in changes.items() if name in DECIDING}
    return changed_limits(journal.opening.limits, deciding)


def _is_quiet(run: Run) -> bool:
    return not isinstance(run.phase, phases.Ended) and not any(
        isinstance(issued.command, commands.Act) for issued in run.pending
    )


# --- rebuilding a world


class _RecordedTime:
    """A clock that shows the recorded time, shifted to now. Sleeping only moves it forward."""

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        self._now += max(0.0, seconds)

    def reach(self, at: float) -> None:
        self._now = max(self._now, at)


class _RebuiltRecords(MemoryStore):
    """A store for the records of the rebuilt run, copied to the real store once everything matches."""

    def __init__(self) -> None:
        super().__init__()
        self._observations: list[Observation] = []
        self._consequences: list[tuple[str, Consequence]] = []

    async def save_observation(self, run_id: str, observation: Observation) -> None:
        await super().save_observation(run_id, observation)
        self._observations.append(observation)

    async def save_consequence(self, run_id: str, digest: str, consequence: Consequence) -> None:
        await super().save_consequence(run_id, digest, consequence)
        self._consequences.append((digest, consequence))

    async def copy_to(self, store: Store, run_id: str) -> None:
        for plan in await self.plans(run_id):
            await store.save_plan(run_id, plan)
        for observation in self._observations:
            await store.save_observation(run_id, observation)
        for digest, consequence in self._consequences:
            await store.save_consequence(run_id, digest, consequence)
        for entry in await self.ledger(run_id):
            await store.write_ledger(run_id, entry)
        await store.save_session(run_id, await self.session(run_id))


class _Rebuild:
    """Performs the recorded commands again, for a copy of the recorded run with another id and time."""

    def __init__(self, journal: Journal, agent: Agent, run_id: str, shift: float) -> None:
        self.clock = _RecordedTime()
        self.records = _RebuiltRecords()
        self._journal = journal
        self._shift = shift
        self._run = replace(journal.opening, id=run_id)
        self._ports: Ports = replace(agent.build_ports(self.records, run_id, journal.task), clock=self.clock)
        self._performer = Performer(self._ports)

    async def rebuild_until(self, at: int) -> Run:
        """Perform everything up to event `at`, and return the state after it."""
        await self.records.begin(self._run, replace(self._journal.task, key=""))
        for row in self._journal.rows:
            if row.seq > at:
                break
            event = await self._reproduce(row, replace(row.event, at=row.event.at + self._shift))
            versions = self._run.counts.versions
            self._run, issued = take_turn(self._run, event)
            if [command.kind for command in issued] != [command.kind for command in row.commands]:
                raise NotForkable(f"the run went another way at event {row.seq}")
            if self._run.counts.versions > versions:
                plan = self._journal.plan(self._run.counts.versions)
                if plan is None:
                    made = f"plan {self._run.counts.versions}, made at event {row.seq}"
                    raise NotForkable(f"{made}, is not in the journal")
                await self.records.save_plan(self._run.id, plan)
        self.clock.reach(self._run.now)
        return self._run

    async def _reproduce(self, row: JournalRow, event: events.Event) -> events.Event:
        """The recorded event, after the world has given the same answer again."""
        if isinstance(event, events.Resumed):
            await self._repeat_resumption(row, event)
        if isinstance(event, events.ApprovalDecided):
            return self._rebind_decision(event)
        if not isinstance(event, events.Answer):
            return event
        issued = next((issued for issued in self._run.pending if issued.command.id == event.answers), None)
        match event:
            case events.Acted() if issued is None and event.dispatched:
                raise NotForkable(f"the act at event {row.seq} came late: it is unknown when the world saw it")
            case (
                events.WorldOpened() | events.Observed() | events.Acted() | events.Verified() | events.DoneChecked()
            ) if issued is not None:
                return await self._perform_again(row, issued, event)
            case events.Planned() if issued is not None and isinstance(issued.command, commands.MakePlan):
                if take_turn(self._run, event)[0].counts.versions == self._run.counts.versions:
                    return event
                # The digests of its steps are bound to a run, so they are computed again for this one.
                steps = [await self._rebind_step(row, issued.command, step) for step in event.steps]
                return replace(event, steps=tuple(steps))
            case _:
                return event

    def _rebind_decision(self, event: events.ApprovalDecided) -> events.ApprovalDecided:
        """The decision with the digests of this run: the recorded digests are bound to the recorded run."""
        phase = self._run.phase
        if not event.shown or not isinstance(phase, phases.Asking):
            return event
        return replace(event, shown=tuple(step.consequence for step in phase.steps))

    async def _repeat_resumption(self, row: JournalRow, event: events.Resumed) -> None:
        if any(isinstance(issued.command, commands.Act) for issued in self._run.pending):
            raise NotForkable(
                f"the process that drove the run died before event {row.seq}, during an act: "
                "it is unknown whether and when the world saw it"
            )
        if event.world == "reopened":
            if await self.records.session(self._run.id):
                raise NotForkable(f"the world was lost before event {row.seq}, and cannot be lost like that again")
            await self._ports.world.open()

    async def _perform_again(
        self,
        row: JournalRow,
        issued: Issued,
        event: events.WorldOpened | events.Observed | events.Acted | events.Verified | events.DoneChecked,
    ) -> events.Event:
        self.clock.reach(issued.at)
        answer = await self._performer.perform(issued.command)
        if _comparable_parts(answer) != _comparable_parts(event):
            raise NotForkable(
                f"the world went another way at event {row.seq}: recorded was {_describe(event)}, now {_describe(answer)}"
            )
        if isinstance(answer, events.Acted) and isinstance(event, events.Acted):
            return replace(event, consequence=answer.consequence)
        return event

    async def _rebind_step(self, row: JournalRow, command: commands.MakePlan, short: PlannedStep) -> PlannedStep:
        if not short.consequence:
            return short
        plan = self._journal.plan(command.version)
        seen = await self.records.observation(self._run.id, command.seen)
        skill = self._ports.world.catalogue().skill(short.skill)
        if plan is None or seen is None or skill is None:
            raise NotForkable(f"the plan made at event {row.seq} cannot be made out again")
        step, time = plan.steps[short.index], Deadline(self.clock, command.timeout)
        found = await read_consequence(self._ports, step, skill, seen, time)
        if found is None or found.identity != short.identity:
            raise NotForkable(f"{short.skill}, planned at event {row.seq}, would no longer send what it did")
        return replace(short, consequence=found.digest)


# --- comparing answers


def _comparable_parts(event: events.Event) -> tuple[object, ...]:
    """The parts of an answer that must be equal. Its digests, which are bound to a run, and its duration may differ."""
    match event:
        case events.WorldOpened():
            return (event.opened,)
        case events.Observed():
            return event.reason, _fingerprint(event.seen)
        case events.Acted():
            what = (event.status, event.reason, event.evidence, event.dispatched, event.identity, event.effect)
            return *what, event.looked, _fingerprint(event.seen)
        case events.Verified():
            return event.verdict, event.evidence, event.reason, _fingerprint(event.seen)
        case events.DoneChecked():
            return event.verdict, _fingerprint(event.seen)
        case _:
            return (event.kind,)


def _fingerprint(seen: ObservationRef | None) -> str | None:
    return seen.fingerprint if seen else None


def _describe(event: events.Event) -> str:
    match event:
        case events.WorldOpened():
            return "a world that opened" if event.opened else "a world that did not open"
        case events.Observed():
            return _describe_screen(event.seen)
        case events.Acted():
            return f"'{event.reason or event.status}' on {_describe_screen(event.seen)}"
        case events.Verified() | events.DoneChecked():
            return f"'{event.verdict}' on {_describe_screen(event.seen)}"
        case _:
            return event.kind


def _describe_screen(seen: ObservationRef | None) -> str:
    return f"'{seen.surface}' ({seen.fingerprint[:8]})" if seen else "nothing new to see"
