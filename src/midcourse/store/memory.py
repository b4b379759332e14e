"""A store, a plan cache and blobs in memory, for tests. They are as strict as the real ones, and are lost with the process."""

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from midcourse.codec import decode_any, encode
from midcourse.director.decide import why_no_effect_after
from midcourse.domain.approval import Consequence, Question
from midcourse.domain.commands import Command
from midcourse.domain.events import ApprovalDecided, Event
from midcourse.domain.observation import Observation
from midcourse.domain.phases import Asking
from midcourse.domain.plan import PlanVersion
from midcourse.domain.records.answers import AnsweredConsequence, AskedConsequence
from midcourse.domain.records.audit import START, AuditLog, AuditRow, Head, HumanInput
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.records.plan_cache import KeptSegment
from midcourse.domain.result import SUCCESSES, Result
from midcourse.domain.run import READABLE, Run
from midcourse.domain.task import Task
from midcourse.errors import FormatUnknown, RunBusy
from midcourse.holding import hold, holder_of, release_abandoned
from midcourse.policy.audit import is_human_input, next_row
from midcourse.policy.spending import MICRO
from midcourse.ports.blobs import Blob
from midcourse.ports.controls import Message, Posted, Request
from midcourse.ports.driving import Claim, MessageWaiting
from midcourse.ports.plan_cache import MOST_OF_A_TASK
from midcourse.ports.store import JournalEvent, JournalRow, RunQuery, RunStatus, RunSummary
from midcourse.store.state import build_exists_error, build_unknown_error, check_key, find_final_reason

T = TypeVar("T")


@dataclass(kw_only=True)
class _StoredRun:
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
    asked: dict[tuple[int, str], AskedConsequence] = field(default_factory=dict[tuple[int, str], AskedConsequence])
    messages: list[Message] = field(default_factory=list[Message])
    decided: int = 0
    epoch: int = 0
    placed: int = 0
    resting: bool = True
    rested: tuple[int, int] = (0, -1)
    """The epoch and turn of the last rest."""
    question: Question | None = None

    @property
    def is_asking(self) -> bool:
        phase = self.state.phase
        return self.question is not None and isinstance(phase, Asking) and phase.question == self.question.id


NOTHING = _StoredRun(task=Task(goal="none"), opening=Run(id=""), state=Run(id=""))


class MemoryStore:
    """A store that holds the frozen objects themselves, without copies or JSON.

    Therefore it cannot show that a value survives encoding. The conformance suite on a real store does.
    """

    def __init__(self) -> None:
        self._runs: dict[str, _StoredRun] = {}
        self._driven: set[str] = set()
        self._audit: list[AuditRow] = []

    @contextmanager
    def claim(self, run_id: str) -> Generator[None]:
        """Lock a run while driving it. Raise `RunBusy` if another task in this process drives it."""
        what = (id(self), run_id)
        release_abandoned(what)
        if run_id in self._driven:
            raise RunBusy(f"this process ({holder_of(what)}) is driving run {run_id!r}")
        self._driven.add(run_id)
        with hold(what, lambda: self._driven.remove(run_id)):
            yield

    def is_claimed(self, run_id: str) -> bool:
        release_abandoned((id(self), run_id))
        return run_id in self._driven

    async def begin(self, run: Run, task: Task, *, after: str = "") -> None:
        check_key(task.key, await self.run_with_key(task.key), after)
        if run.id in self._runs:
            raise build_exists_error(run.id)
        self._runs[run.id] = _StoredRun(task=task, opening=run, state=run)

    async def run_with_key(self, key: str) -> str | None:
        under = [run_id for run_id, stored in self._runs.items() if key and stored.task.key == key]
        return under[-1] if under else None

    async def save_turn(
        self,
        run: Run,
        event: Event,
        commands: tuple[Command, ...],
        *,
        claim: Claim | None = None,
        known: int | None = None,
        message: int = 0,
    ) -> None:
        stored = self._require_run(run.id)
        if claim:
            self._check_claim(claim)
        row = JournalRow(seq=run.seq, event=event, commands=commands)
        if stored.journal and run.seq <= next(reversed(stored.journal)):
            if stored.journal.get(run.seq) != row:
                raise RunBusy(f"run {run.id!r} was continued by another process at turn {run.seq}")
            return
        if known is not None and len(stored.messages) > known:
            raise MessageWaiting
        stored.decided = max(stored.decided, message)
        stored.journal[run.seq] = row
        stored.state = run
        stored.began_at = stored.began_at or event.at
        if is_human_input(event):
            self._audit.append(next_row("", self._head, run.id, run.seq, encode(event, Event)))

    async def claim_run(self, run_id: str, *, placed: int = 0) -> Claim:
        stored = self._require_run(run_id)
        if placed and placed < stored.placed:
            raise RunBusy(f"run {run_id!r} was given to another worker meanwhile")
        epoch, turn = stored.rested
        rested_at = turn if epoch == stored.epoch else -1
        stored.epoch, stored.placed, stored.resting = stored.epoch + 1, max(stored.placed, placed), False
        return Claim(run=run_id, epoch=stored.epoch, decided=stored.decided, rested_at=rested_at)

    async def rest(self, claim: Claim, *, seq: int, known: int, wake_at: float | None = None) -> bool:
        stored = self._check_claim(claim)
        if len(stored.messages) > known:
            return False
        stored.resting, stored.rested = True, (claim.epoch, seq)
        return True

    def _check_claim(self, claim: Claim) -> _StoredRun:
        stored = self._require_run(claim.run)
        if stored.epoch != claim.epoch:
            raise RunBusy(f"run {claim.run!r} was claimed by another process")
        return stored

    async def post(self, run_id: str, event: Request) -> Posted:
        stored = self._require_run(run_id)
        waiting = (message.event for message in stored.messages[stored.decided :])
        if refused := why_no_effect_after(stored.state, waiting, event):
            return Posted(refused=refused)
        stored.messages.append(Message(number=len(stored.messages) + 1, event=event))
        return Posted(number=len(stored.messages), resting=stored.resting)

    async def messages(self, run_id: str, after: int) -> tuple[Message, ...]:
        return tuple(self._require_run(run_id).messages[after:])

    async def save_question(self, question: Question) -> None:
        self._require_run(question.run).question = question

    async def open_question(self, run_id: str) -> Question | None:
        stored = self._require_run(run_id)
        return stored.question if stored.is_asking else None

    async def load(self, run_id: str) -> tuple[Run, Task]:
        stored = self._require_readable(run_id)
        return stored.state, stored.task

    async def runs(self) -> tuple[RunSummary, ...]:
        return tuple(reversed(self._list()))

    async def find_runs(self, query: RunQuery) -> tuple[RunSummary, ...]:
        found = [
            run
            for run in reversed(self._list())
            if (query.before is None or run.place < query.before)
            and query.world in ("", run.world)
            and query.text.lower() in f"{run.id}\n{run.goal}\n{run.key}".lower()
            and (not query.status or _status(run) in query.status)
        ]
        return tuple(found[: query.limit])

    async def count_runs(self) -> dict[RunStatus, int]:
        return dict(Counter(map(_status, self._list())))

    def _list(self) -> list[RunSummary]:
        """Return the runs, the oldest first."""
        listed: list[RunSummary] = []
        for place, stored in enumerate(self._runs.values(), start=1):
            run, result, asked = stored.state, stored.result, stored.question
            summary = RunSummary(
                id=run.id,
                goal=stored.task.goal,
                phase=run.phase.kind,
                final_reason=find_final_reason(run),
                began_at=stored.began_at,
                place=place,
                key=stored.task.key,
                world=stored.task.world,
                updated_at=run.now,
                verified=result.verified if result else None,
                sending=result.sending if result else "",
                calls=run.budget.spent.calls,
                cost_usd=run.budget.spent.microusd / MICRO,
                waiting_since=asked.expires_at - stored.opening.limits.approval_seconds
                if asked and stored.is_asking
                else None,
            )
            listed.append(summary)
        return listed

    async def initial_state(self, run_id: str) -> Run:
        return self._require_readable(run_id).opening

    async def journal(self, run_id: str, above: int = 0) -> tuple[JournalRow, ...]:
        return tuple(row for row in self._require_readable(run_id).journal.values() if row.seq > above)

    async def events(self, run_id: str, above: int) -> tuple[JournalEvent, ...]:
        rows = self._require_readable(run_id).journal.values()
        return tuple(JournalEvent(seq=row.seq, event=row.event) for row in rows if row.seq > above)

    async def save_session(self, run_id: str, handle: str) -> None:
        self._require_run(run_id).session = handle

    async def session(self, run_id: str) -> str:
        return self._find_run(run_id).session

    async def save_observation(self, run_id: str, observation: Observation) -> None:
        self._require_run(run_id).observations[observation.id] = observation

    async def observation(self, run_id: str, observation_id: str) -> Observation | None:
        return self._find_run(run_id).observations.get(observation_id)

    async def save_plan(self, run_id: str, plan: PlanVersion) -> None:
        plans = self._require_run(run_id).plans
        if plan.version not in plans or plan.made_by >= plans[plan.version].made_by:
            plans[plan.version] = plan

    async def plan(self, run_id: str, version: int, made_by: int = 0) -> PlanVersion | None:
        plan = self._find_run(run_id).plans.get(version)
        return plan if plan and made_by in (0, plan.made_by) else None

    async def plans(self, run_id: str, since: int = 0) -> tuple[PlanVersion, ...]:
        return _select_since(self._find_run(run_id).plans, since)

    async def save_consequence(self, run_id: str, digest: str, consequence: Consequence) -> None:
        self._require_run(run_id).consequences[digest] = consequence

    async def consequence(self, run_id: str, digest: str) -> Consequence | None:
        return self._find_run(run_id).consequences.get(digest)

    async def write_ledger(self, run_id: str, entry: LedgerEntry) -> None:
        self._require_run(run_id).ledger[entry.command] = entry

    async def ledger_entry(self, run_id: str, command: int) -> LedgerEntry | None:
        return self._find_run(run_id).ledger.get(command)

    async def ledger(self, run_id: str, since: int = 0) -> tuple[LedgerEntry, ...]:
        return _select_since(self._find_run(run_id).ledger, since)

    async def save_result(self, result: Result) -> None:
        self._require_run(result.run).result = result

    async def result(self, run_id: str) -> Result | None:
        return self._find_run(run_id).result

    async def save_asked_consequences(self, asked: tuple[AskedConsequence, ...]) -> None:
        for record in asked:
            self._require_run(record.run).asked[record.question, record.consequence] = record

    async def asked_consequences(self, run_id: str) -> tuple[AskedConsequence, ...]:
        return tuple(sorted(self._find_run(run_id).asked.values(), key=lambda record: record.question))

    async def answered_consequences(self, shape: str, limit: int) -> tuple[AnsweredConsequence, ...]:
        asked = [record for stored in self._runs.values() for record in stored.asked.values() if record.shape == shape]
        events = [(row.run, decode_any(Event, row.body)) for row in reversed(self._audit)]
        found = [
            AnsweredConsequence(asked=record, decision=decision)
            for run_id, decision in events
            if isinstance(decision, ApprovalDecided)
            for record in asked
            if (record.run, record.question) == (run_id, decision.question)
        ]
        return tuple(found[:limit])

    async def audit(self) -> AuditLog:
        runs = self._runs.items()
        return AuditLog(
            chain="",
            backed=True,
            rows=tuple(self._audit),
            anchors=tuple(stored.result.audit for _, stored in runs if stored.result and stored.result.audit),
            inputs=tuple(
                HumanInput(run=run_id, seq=row.seq, body=encode(row.event, Event))
                for run_id, stored in runs
                for row in stored.journal.values()
                if is_human_input(row.event)
            ),
        )

    async def audit_head(self) -> Head:
        return self._head

    @property
    def _head(self) -> Head:
        return Head(n=self._audit[-1].n, hash=self._audit[-1].hash) if self._audit else START

    def _find_run(self, run_id: str) -> _StoredRun:
        """Return the records of a run; an empty one if there is no such run."""
        return self._runs.get(run_id, NOTHING)

    def _require_run(self, run_id: str) -> _StoredRun:
        if run_id not in self._runs:
            raise build_unknown_error(run_id)
        return self._runs[run_id]

    def _require_readable(self, run_id: str) -> _StoredRun:
        stored = self._require_run(run_id)
        if stored.state.format not in READABLE:
            raise FormatUnknown(
                f"run {run_id!r} has format {stored.state.format}, this version reads up to {READABLE[-1]}"
            )
        return stored


def _select_since(values: dict[int, T], since: int) -> tuple[T, ...]:
    return tuple(values[key] for key in sorted(key for key in values if key >= since))


def _status(run: RunSummary) -> RunStatus:
    if run.phase == "ended" and run.final_reason:
        return "done" if run.final_reason in SUCCESSES else "failed"
    return "asking" if run.phase == "asking" else "paused" if run.phase == "paused" else "running"


class MemoryPlanCache:
    def __init__(self) -> None:
        self._kept: dict[str, KeptSegment] = {}

    async def find(self, task: str, surface: str) -> tuple[KeptSegment, ...]:
        return tuple(segment for segment in await self.all() if (segment.task, segment.surface) == (task, surface))

    async def keep(self, *segments: KeptSegment) -> None:
        self._kept |= {segment.id: segment for segment in segments}
        for task in {segment.task for segment in segments}:
            of_task = [segment for segment in await self.all() if segment.task == task]
            for oldest in of_task[MOST_OF_A_TASK:]:
                del self._kept[oldest.id]

    async def drop(self, segment_id: str) -> bool:
        return self._kept.pop(segment_id, None) is not None

    async def all(self) -> tuple[KeptSegment, ...]:
        return tuple(sorted(self._kept.values(), key=lambda segment: (-segment.worked_at, segment.id)))


class MemoryBlobs:
    def __init__(self) -> None:
        self._kept: dict[str, dict[str, Blob]] = {}

    async def put(self, run_id: str, blob: Blob) -> str:
        self._kept.setdefault(run_id, {}).setdefault(blob.digest, blob)
        return blob.digest

    async def read(self, run_id: str, digest: str) -> Blob | None:
        return self._kept.get(run_id, {}).get(digest)

    async def delete(self, run_id: str) -> None:
        self._kept.pop(run_id, None)
