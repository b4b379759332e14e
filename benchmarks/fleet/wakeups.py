"""Lost wake-ups: half of all notifications and signals are dropped, and every run must still receive each message.

Messages come while a driver works, while the run rests, and at the moment it begins to rest: approvals right after their question,
guidance, pauses and resumes.

left_waiting       runs that did not end although every question was answered and every pause ended: must be 0
messages           accepted messages
signals            signals for messages to resting runs; `signals_dropped` of them were not sent
heard              notifications for workers; `heard_dropped` of them were dropped
taken_up_*         seconds from an approval or a resume to the next event of its run
"""

import asyncio
import json
import random
from collections import Counter as Tally
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import time
from typing import Any

from temporalio.service import RPCError

from benchmarks.fleet.account import Account, read_account
from benchmarks.fleet.outcome import count_all, median
from benchmarks.fleet.task import GENEROUS_LIMITS, Assignment
from benchmarks.fleet.tenant import Fleet, TrialOptions, run_assignments, start_fleet
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.world import Counter
from midcourse.domain.approval import Decision
from midcourse.domain.events import ApprovalDecided, Guided, PauseAsked, ResumeAsked
from midcourse.domain.phases import Paused
from midcourse.policy.approval.question import bind_decision
from midcourse.ports.controls import Request
from midcourse.runtimes.temporal.wire import WAKE, name_workflow

DROPPED_SHARE = 0.5
STUCK_SECONDS = 90.0
"""Seconds after which a run counts as left waiting. Runs normally take a few seconds."""
SEND = Counter(effect="irreversible", shown="probe")
ASSIGNMENT = Assignment(
    counters=(SEND, Counter(effect="read"), SEND, SEND, SEND, Counter(effect="read")),
    limits=replace(GENEROUS_LIMITS, approvals="always", approval_seconds=86_400.0),
    waits=True,
)


async def run_trial(options: TrialOptions, testbed: TestBed) -> dict[str, Any]:
    assignments = {f"wakeups-{seed}": ASSIGNMENT for seed in options.seeds}
    notices_log = testbed.site.folder / "heard.jsonl"
    notices_log.unlink(missing_ok=True)
    async with start_fleet(testbed, "wakeups", heartbeat=10.0) as fleet:
        fleet.dropped, fleet.seed = DROPPED_SHARE, options.first_seed
        fleet.hire(options.workers)
        senders = {run: MessageSender(fleet, run, random.Random(run)) for run in assignments}
        tasks: dict[str, asyncio.Task[None]] = {}

        def note_begin(run: str) -> None:
            tasks[run] = asyncio.create_task(senders[run].send_messages())

        ended_runs: list[str] = []

        def note_end(run: str) -> None:
            tasks[run].cancel()
            ended_runs.append(run)
            options.say(f"{len(ended_runs)}/{options.runs} runs")

        concurrency = options.concurrency
        trouble = await run_assignments(
            fleet, assignments, concurrency, begun=note_begin, ended=note_end, patience=STUCK_SECONDS
        )
        await asyncio.gather(*tasks.values(), return_exceptions=True)
        accounts = [await read_account(fleet, run) for run in assignments]
    found = await count_all(options, testbed, assignments, accounts, trouble)
    tally = sum((sender.tally for sender in senders.values()), Tally[str]())
    notices = (
        [json.loads(line) for line in notices_log.read_text(encoding="utf-8").splitlines()]
        if notices_log.exists()
        else []
    )
    seconds = [reaction for account in accounts for reaction in measure_reactions(account)]
    return {
        **found.summary,
        "left_waiting": len(trouble),
        "messages": tally["messages"],
        "signals": tally["signals"],
        "signals_dropped": tally["signals_dropped"],
        "heard": len(notices),
        "heard_dropped": sum(notice["dropped"] for notice in notices),
        "taken_up_median_seconds": median(seconds),
        "taken_up_max_seconds": round(max(seconds, default=0.0), 2),
    }


@dataclass
class MessageSender:
    """Answers the questions of a run, and sometimes interrupts it. Drops half of its signals."""

    fleet: Fleet
    run: str
    chance: random.Random
    tally: Tally[str] = field(default_factory=Tally[str])

    async def send_messages(self) -> None:
        """Send each message once, so that a later message does not hide that an earlier one was not noticed."""
        last_seq, answered = -1, 0
        while True:
            await asyncio.sleep(self.chance.uniform(0.0, 0.08))
            with suppress(ConnectionError):
                run, _ = await self.fleet.store.load(self.run)
                question = await self.fleet.store.open_question(self.run)
                if run.seq == last_seq:
                    continue
                requests: list[Request] = []
                if isinstance(run.phase, Paused):
                    requests = [ResumeAsked()]
                elif question is not None and question.id != answered:
                    answered = question.id
                    interruption = self.chance.choice((None, None, Guided(text="no hurry"), PauseAsked()))
                    approval = bind_decision(question, Decision(verdict="approved", all_values=True))
                    requests = [interruption, approval] if interruption else [approval]
                elif question is None and self.chance.random() < 0.1:
                    requests = [Guided(text="go ahead")]
                for request in requests:
                    last_seq = run.seq
                    await self._send(request)

    async def _send(self, request: Request) -> None:
        posted = await self.fleet.store.post(self.run, replace(request, at=time()))
        if posted.refused:
            return
        self.tally["messages"] += 1
        if posted.resting:
            self.tally["signals"] += 1
            if self.chance.random() < DROPPED_SHARE:
                self.tally["signals_dropped"] += 1
            else:
                handle = self.fleet.client.get_workflow_handle(name_workflow(self.fleet.tenant, self.run))
                with suppress(RPCError):
                    await handle.signal(WAKE, posted.number)


def measure_reactions(account: Account) -> list[float]:
    """Return the seconds from each approval and each resume to the next event that is not a message."""
    events = [row.event for row in account.journal]
    return [
        min(later.at for later in events[place:] if not isinstance(later, Request)) - event.at
        for place, event in enumerate(events)
        if isinstance(event, ApprovalDecided | ResumeAsked)
        and any(not isinstance(later, Request) for later in events[place:])
    ]
