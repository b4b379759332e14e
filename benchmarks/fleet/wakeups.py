"""Lost wake-ups: half of all notifications and signals are dropped, and every run has to take each message up all the same.

Messages come while a driver works, while the run rests, and in the moment in which it rests: approvals right after their question,
guidance, pauses and resumes.

left_waiting       runs that did not end although every question was answered and every pause ended: must be 0
messages           that were accepted
signals_dropped    of the messages that found a resting run; `signals` were to be sent
heard_dropped      of the notifications that reached a worker; `heard` is all of them
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

from benchmarks.fleet.account import Account, account_of
from benchmarks.fleet.outcome import median, reckon
from benchmarks.fleet.task import PATIENT, Assignment
from benchmarks.fleet.tenant import Fleet, Given, carry_out, fleet_at
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.world import Counter
from midcourse.domain.approval import Decision
from midcourse.domain.event import ApprovalDecided, Guided, PauseAsked, ResumeAsked
from midcourse.domain.phase import Paused
from midcourse.policy.approval.question import bind_decision
from midcourse.ports.controls import Request
from midcourse.runtimes.temporal.wire import WAKE, workflow_id

SHARE = 0.5
LEFT_AFTER = 90.0
"""Seconds after which a run that has not ended was left waiting. They take a few."""
SEND = Counter(effect="irreversible", shown="probe")
ASSIGNMENT = Assignment(
    counters=(SEND, Counter(effect="read"), SEND, SEND, SEND, Counter(effect="read")),
    limits=replace(PATIENT, approvals="always", approval_seconds=86_400.0),
    waits=True,
)


async def trial(given: Given, testbed: TestBed) -> dict[str, Any]:
    assignments = {f"wakeups-{seed}": ASSIGNMENT for seed in given.seeds}
    heard = testbed.site.folder / "heard.jsonl"
    heard.unlink(missing_ok=True)
    async with fleet_at(testbed, "wakeups", heartbeat=10.0) as fleet:
        fleet.dropped, fleet.seed = SHARE, given.first_seed
        fleet.hire(given.workers)
        speakers = {run: Speaker(fleet, run, random.Random(run)) for run in assignments}
        tasks: dict[str, asyncio.Task[None]] = {}

        def begun(run: str) -> None:
            tasks[run] = asyncio.create_task(speakers[run].speak())

        over: list[str] = []

        def ended(run: str) -> None:
            tasks[run].cancel()
            over.append(run)
            given.say(f"{len(over)}/{given.runs} runs")

        concurrency = given.concurrency
        trouble = await carry_out(fleet, assignments, concurrency, begun=begun, ended=ended, patience=LEFT_AFTER)
        await asyncio.gather(*tasks.values(), return_exceptions=True)
        accounts = [await account_of(fleet, run) for run in assignments]
    found = await reckon(given, testbed, assignments, accounts, trouble)
    tally = sum((speaker.tally for speaker in speakers.values()), Tally[str]())
    notices = [json.loads(line) for line in heard.read_text(encoding="utf-8").splitlines()] if heard.exists() else []
    seconds = [one for account in accounts for one in taken_up_after(account)]
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
class Speaker:
    """Answers what a run asks, and interrupts it now and then. Half of the signals that it should send are not sent."""

    fleet: Fleet
    run: str
    chance: random.Random
    tally: Tally[str] = field(default_factory=Tally[str])

    async def speak(self) -> None:
        """Say each thing once: a message that is not taken up must not be brought to notice by the next one."""
        spoken, answered = -1, 0
        while True:
            await asyncio.sleep(self.chance.uniform(0.0, 0.08))
            with suppress(ConnectionError):
                run, _ = await self.fleet.store.load(self.run)
                question = await self.fleet.store.open_question(self.run)
                if run.seq == spoken:
                    continue
                said: list[Request] = []
                if isinstance(run.phase, Paused):
                    said = [ResumeAsked()]
                elif question is not None and question.id != answered:
                    answered = question.id
                    interruption = self.chance.choice((None, None, Guided(text="no hurry"), PauseAsked()))
                    approval = bind_decision(question, Decision(verdict="approved", all_values=True))
                    said = [interruption, approval] if interruption else [approval]
                elif question is None and self.chance.random() < 0.1:
                    said = [Guided(text="go ahead")]
                for request in said:
                    spoken = run.seq
                    await self._post(request)

    async def _post(self, request: Request) -> None:
        posted = await self.fleet.store.post(self.run, replace(request, at=time()))
        if posted.refused:
            return
        self.tally["messages"] += 1
        if posted.resting:
            self.tally["signals"] += 1
            if self.chance.random() < SHARE:
                self.tally["signals_dropped"] += 1
            else:
                handle = self.fleet.client.get_workflow_handle(workflow_id(self.fleet.tenant, self.run))
                with suppress(RPCError):
                    await handle.signal(WAKE, posted.number)


def taken_up_after(account: Account) -> list[float]:
    """Seconds from each approval and each resume to the next event that is no message."""
    events = [row.event for row in account.journal]
    return [
        min(later.at for later in events[place:] if not isinstance(later, Request)) - event.at
        for place, event in enumerate(events)
        if isinstance(event, ApprovalDecided | ResumeAsked)
        and any(not isinstance(later, Request) for later in events[place:])
    ]
