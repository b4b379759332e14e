"""A store and a plan cache in memory, for tests: as strict as the real ones, and lost with the process."""

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from midcourse.codec import decode_any, encode
from midcourse.director.decide import find_objection_after
from midcourse.domain.approval import Consequence, Question
from midcourse.domain.command import Command
from midcourse.domain.event import ApprovalDecided, Event
from midcourse.domain.observation import Observation
from midcourse.domain.phase import Asking, Ended
from midcourse.domain.plan import PlanVersion
from midcourse.domain.records.answers import Answered, Asked
from midcourse.domain.records.audit import START, AuditLog, AuditRow, Head, HumanInput
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.records.plan_cache import KeptSegment
from midcourse.domain.result import SUCCESSES, Result
from midcourse.domain.run import FORMAT, Run
from midcourse.domain.task import Task
from midcourse.errors import FormatUnknown, KeyTaken, RunBusy, RunUnknown, TaskInvalid
from midcourse.policy.audit import is_human_input, next_row
from midcourse.policy.spending import MICRO
from midcourse.ports.controls import Request
from midcourse.ports.driving import Claim, MessageWaiting
from midcourse.ports.inbox import Message, Posted
from midcourse.ports.plan_cache import MOST_OF_A_TASK
from midcourse.ports.store import Happened, JournalRow, RunQuery, RunStatus, RunSummary

T = TypeVar("T")


@dataclass(kw_only=True)
class _Kept:
    task: Task
    opening: Run
    state: Run
    began_at: float = 0.0
    session: str = ""
    result: Result | None = None
    journal: dict[int, JournalRow] = field(default_factory=dict[int, JournalRow])
    plans: dict[int, PlanVersion] = field(default_factory=dict[int, PlanVersion])
    observations: dict[str, Observation] = field(default_factory=dict[str, Observation])
    consequences: dict[str, Consequence] = field(default_factory=dict[str, Consequence])
    ledger: dict[int, LedgerEntry] = field(default_factory=dict[int, LedgerEntry])
    asked: dict[tuple[int, str], Asked] = field(default_factory=dict[tuple[int, str], Asked])
    messages: list[Message] = field(default_factory=list[Message])
    decided: int = 0
    epoch: int = 0
    placed: int = 0
    resting: bool = True
    rested: tuple[int, int] = (0, -1)
    """The epoch and turn of the last rest."""
    question: Question | None = None


class MemoryStore:
    """A store that holds the frozen objects themselves, without copies or JSON.

    So it cannot show that a value survives encoding; the conformance suite on a real store does.
    """

    def __init__(self) -> None:
        self._runs: dict[str, _Kept] = {}
        self._driven: set[str] = set()
        self._audit: list[AuditRow] = []

    @contextmanager
    def claim(self, run_id: str) -> Generator[None]:
        """Lock a run while driving it. Raises `RunBusy` if another task in this process drives it."""
        if run_id in self._driven:
            raise RunBusy(f"run {run_id!r} is being driven already")
        self._driven.add(run_id)
        try:
            yield
        finally:
            self._driven.remove(run_id)

    def is_claimed(self, run_id: str) -> bool:
        return run_id in self._driven

    async def begin(self, run: Run, task: Task, *, after: str = "") -> None:
        latest = await self.run_with_key(task.key)
        if latest is not None and latest != after:
            raise KeyTaken(f"run {latest!r} has the key {task.key!r} already")
        if run.id in self._runs:
            raise TaskInvalid(f"there is a run {run.id!r} already; choose another id, or resume it")
        self._runs[run.id] = _Kept(task=task, opening=run, state=run)

    async def run_with_key(self, key: str) -> str | None:
        under = [run_id for run_id, kept in self._runs.items() if key and kept.task.key == key]
        return under[-1] if under else None

    async def keep(
        self,
        run: Run,
        event: Event,
        commands: tuple[Command, ...],
        *,
        claim: Claim | None = None,
        known: int | None = None,
        message: int = 0,
    ) -> None:
        kept = self._known(run.id)
        if claim:
            self._check_claim(claim)
        row = JournalRow(seq=run.seq, event=event, commands=commands)
        if kept.journal and run.seq <= next(reversed(kept.journal)):
            if kept.journal.get(run.seq) != row:
                raise RunBusy(f"run {run.id!r} has gone another way at turn {run.seq}: another process drives it")
            return
        if known is not None and len(kept.messages) > known:
            raise MessageWaiting
        kept.decided = max(kept.decided, message)
        kept.journal[run.seq] = row
        kept.state = run
        kept.began_at = kept.began_at or event.at
        if is_human_input(event):
            self._audit.append(next_row("", self._head, run.id, run.seq, encode(event, Event)))

    async def claim_run(self, run_id: str, *, placed: int = 0) -> Claim:
        kept = self._known(run_id)
        if placed and placed < kept.placed:
            raise RunBusy(f"run {run_id!r} was given to another worker since")
        epoch, turn = kept.rested
        rested_at = turn if epoch == kept.epoch else -1
        kept.epoch, kept.placed, kept.resting = kept.epoch + 1, max(kept.placed, placed), False
        return Claim(run=run_id, epoch=kept.epoch, decided=kept.decided, rested_at=rested_at)

    async def rest(self, claim: Claim, *, seq: int, known: int, wake_at: float | None = None) -> bool:
        kept = self._check_claim(claim)
        if len(kept.messages) > known:
            return False
        kept.resting, kept.rested = True, (claim.epoch, seq)
        return True

    def _check_claim(self, claim: Claim) -> _Kept:
        kept = self._known(claim.run)
        if kept.epoch != claim.epoch:
            raise RunBusy(f"run {claim.run!r} was claimed by another process")
        return kept

    async def post(self, run_id: str, event: Request) -> Posted:
        kept = self._known(run_id)
        waiting = (message.event for message in kept.messages[kept.decided :])
        if refused := find_objection_after(kept.state, waiting, event):
            return Posted(refused=refused)
        kept.messages.append(Message(number=len(kept.messages) + 1, event=event))
        return Posted(number=len(kept.messages), resting=kept.resting)

    async def messages(self, run_id: str, after: int) -> tuple[Message, ...]:
        return tuple(self._known(run_id).messages[after:])

    async def save_question(self, question: Question) -> None:
        self._known(question.run).question = question

    async def open_question(self, run_id: str) -> Question | None:
        kept = self._known(run_id)
        asked = kept.state.phase.question if isinstance(kept.state.phase, Asking) else 0
        return kept.question if kept.question and kept.question.id == asked else None

    async def load(self, run_id: str) -> tuple[Run, Task]:
        kept = self._readable(run_id)
        return kept.state, kept.task

    async def runs(self) -> tuple[RunSummary, ...]:
        return tuple(_summary(kept) for kept in reversed(self._runs.values()))

    async def find_runs(self, query: RunQuery) -> tuple[RunSummary, ...]:
        numbered = [_listed(kept, place) for place, kept in enumerate(self._runs.values(), start=1)]
        found = [
            run
            for run in reversed(numbered)
            if (query.before is None or run.place < query.before)
            and query.world in ("", run.world)
            and query.text.lower() in f"{run.id}\n{run.goal}\n{run.key}".lower()
            and (not query.status or _status(run) in query.status)
        ]
        return tuple(found[: query.limit])

    async def count_runs(self) -> dict[RunStatus, int]:
        return dict(Counter(_status(_summary(kept)) for kept in self._runs.values()))

    async def opening(self, run_id: str) -> Run:
        return self._readable(run_id).opening

    async def journal(self, run_id: str, above: int = 0) -> tuple[JournalRow, ...]:
        return tuple(row for row in self._readable(run_id).journal.values() if row.seq > above)

    async def happened(self, run_id: str, above: int) -> tuple[Happened, ...]:
        rows = self._readable(run_id).journal.values()
        return tuple(Happened(seq=row.seq, event=row.event) for row in rows if row.seq > above)

    async def save_session(self, run_id: str, handle: str) -> None:
        self._known(run_id).session = handle

    async def session(self, run_id: str) -> str:
        kept = self._runs.get(run_id)
        return kept.session if kept else ""

    async def save_observation(self, run_id: str, observation: Observation) -> None:
        self._known(run_id).observations[observation.id] = observation

    async def observation(self, run_id: str, observation_id: str) -> Observation | None:
        kept = self._runs.get(run_id)
        return kept.observations.get(observation_id) if kept else None

    async def save_plan(self, run_id: str, plan: PlanVersion) -> None:
        plans = self._known(run_id).plans
        if plan.version not in plans or plan.made_by >= plans[plan.version].made_by:
            plans[plan.version] = plan

    async def plan(self, run_id: str, version: int, made_by: int = 0) -> PlanVersion | None:
        kept = self._runs.get(run_id)
        plan = kept.plans.get(version) if kept else None
        return plan if plan and made_by in (0, plan.made_by) else None

    async def plans(self, run_id: str, since: int = 0) -> tuple[PlanVersion, ...]:
        kept = self._runs.get(run_id)
        return _since(kept.plans, since) if kept else ()

    async def save_consequence(self, run_id: str, digest: str, consequence: Consequence) -> None:
        self._known(run_id).consequences[digest] = consequence

    async def consequence(self, run_id: str, digest: str) -> Consequence | None:
        kept = self._runs.get(run_id)
        return kept.consequences.get(digest) if kept else None

    async def write_ledger(self, run_id: str, entry: LedgerEntry) -> None:
        self._known(run_id).ledger[entry.command] = entry

    async def ledger_entry(self, run_id: str, command: int) -> LedgerEntry | None:
        kept = self._runs.get(run_id)
        return kept.ledger.get(command) if kept else None

    async def ledger(self, run_id: str, since: int = 0) -> tuple[LedgerEntry, ...]:
        kept = self._runs.get(run_id)
        return _since(kept.ledger, since) if kept else ()

    async def save_result(self, result: Result) -> None:
        self._known(result.run).result = result

    async def result(self, run_id: str) -> Result | None:
        kept = self._runs.get(run_id)
        return kept.result if kept else None

    async def save_asked(self, asked: tuple[Asked, ...]) -> None:
        for one in asked:
            self._known(one.run).asked[one.question, one.consequence] = one

    async def asked(self, run_id: str) -> tuple[Asked, ...]:
        kept = self._runs.get(run_id)
        return tuple(sorted(kept.asked.values(), key=lambda one: one.question)) if kept else ()

    async def answered(self, shape: str, limit: int) -> tuple[Answered, ...]:
        asked = [one for kept in self._runs.values() for one in kept.asked.values() if one.shape == shape]
        events = [(row.run, decode_any(Event, row.body)) for row in reversed(self._audit)]
        found = [
            Answered(asked=one, decision=decision)
            for run_id, decision in events
            if isinstance(decision, ApprovalDecided)
            for one in asked
            if (one.run, one.question) == (run_id, decision.question)
        ]
        return tuple(found[:limit])

    async def audit(self) -> AuditLog:
        runs = self._runs.items()
        return AuditLog(
            chain="",
            backed=True,
            rows=tuple(self._audit),
            anchors=tuple(kept.result.audit for _, kept in runs if kept.result and kept.result.audit),
            inputs=tuple(
                HumanInput(run=run_id, seq=row.seq, body=encode(row.event, Event))
                for run_id, kept in runs
                for row in kept.journal.values()
                if is_human_input(row.event)
            ),
        )

    async def audit_head(self) -> Head:
        return self._head

    @property
    def _head(self) -> Head:
        return Head(n=self._audit[-1].n, hash=self._audit[-1].hash) if self._audit else START

    def _known(self, run_id: str) -> _Kept:
        kept = self._runs.get(run_id)
        if kept is None:
            raise RunUnknown(f"no run {run_id!r} in this store")
        return kept

    def _readable(self, run_id: str) -> _Kept:
        kept = self._known(run_id)
        if kept.state.format != FORMAT:
            raise FormatUnknown(f"run {run_id!r} has format {kept.state.format}, this version reads {FORMAT}")
        return kept


def _since(values: dict[int, T], since: int) -> tuple[T, ...]:
    return tuple(values[key] for key in sorted(key for key in values if key >= since))


def _summary(kept: _Kept) -> RunSummary:
    phase = kept.state.phase
    return RunSummary(
        id=kept.state.id,
        goal=kept.task.goal,
        phase=phase.kind,
        final_reason=phase.reason if isinstance(phase, Ended) else "",
        began_at=kept.began_at,
    )


def _listed(kept: _Kept, place: int) -> RunSummary:
    run, asked = kept.state, kept.question
    asking = isinstance(run.phase, Asking) and asked is not None and asked.id == run.phase.question
    return replace(
        _summary(kept),
        place=place,
        key=kept.task.key,
        world=kept.task.world,
        updated_at=run.now,
        verified=kept.result.verified if kept.result else None,
        calls=run.budget.spent.calls,
        cost_usd=run.budget.spent.microusd / MICRO,
        waiting_since=asked.expires_at - kept.opening.limits.approval_seconds if asking and asked else None,
    )


def _status(run: RunSummary) -> RunStatus:
    if run.phase == "ended" and run.final_reason:
        return "done" if run.final_reason in SUCCESSES else "failed"
    return "asking" if run.phase == "asking" else "paused" if run.phase == "paused" else "running"


class MemoryPlanCache:
    def __init__(self) -> None:
        self._kept: dict[str, KeptSegment] = {}

    async def find(self, task: str, surface: str) -> tuple[KeptSegment, ...]:
        return tuple(one for one in await self.all() if (one.task, one.surface) == (task, surface))

    async def keep(self, *segments: KeptSegment) -> None:
        self._kept |= {segment.id: segment for segment in segments}
        for task in {segment.task for segment in segments}:
            of_task = [one for one in await self.all() if one.task == task]
            for one in of_task[MOST_OF_A_TASK:]:
                del self._kept[one.id]

    async def drop(self, segment_id: str) -> bool:
        return self._kept.pop(segment_id, None) is not None

    async def all(self) -> tuple[KeptSegment, ...]:
        return tuple(sorted(self._kept.values(), key=lambda one: (-one.worked_at, one.id)))
