"""A run stays small: at most 64 KB after 5,000 steps, 1,000 of them irreversible."""

import time
from typing import Any

import pytest

from midcourse.codec import decode, encode
from midcourse.domain.events import Guided
from midcourse.domain.plan import PlannedStep, Target
from midcourse.domain.run import Run
from midcourse.policy.identity import call_digest
from tests.harness import REPLAN_STEP, Drill

MOST = 64 * 1024
STEPS = 5000
PLAN = 50
"""Steps of a plan, every fifth of them irreversible."""

LIMITS: dict[str, Any] = {
    "max_calls": 100_000,
    "max_segments": 100_000,
    "max_wall_seconds": 1e9,
    "approval_seconds": 1e7,
    "max_plan_steps": PLAN,
}


def digest(*parts: object) -> str:
    return call_digest("s", Target(surface="", role="", label=""), (("parts", repr(parts)),))


def a_plan(number: int) -> list[PlannedStep]:
    return [
        PlannedStep(
            version=1,
            index=0,
            place="zone",
            skill="submit_invoice" if n % 5 == 0 else "type_text",
            effect="irreversible" if n % 5 == 0 else "set_state",
            call=digest("call", number, n),
            identity=digest("identity", number, n) if n % 5 == 0 else "",
            consequence=digest("consequence", number, n) if n % 5 == 0 else "",
        )
        for n in range(PLAN)
    ]


def fingerprint(number: int) -> str:
    return digest("screen", number)


class Sizes:
    """Drives a long run and weighs it at every 100th step."""

    def __init__(self, **limits: Any) -> None:
        self.drill = Drill(**(LIMITS | limits))
        self.steps = 0
        self.largest = 0

    def weigh(self) -> None:
        written = encode(self.drill.run)
        self.largest = max(self.largest, len(written.encode()))
        assert len(written.encode()) <= MOST, f"{len(written.encode())} bytes after {self.steps} steps"

    def go(self, *, once: bool = True, trouble: bool = False) -> Run:
        drill = self.drill.to_planning(fingerprint(0))
        for number in range(STEPS // PLAN):
            drill.plans(*a_plan(number), REPLAN_STEP)
            if drill.phase.kind == "asking":
                self.weigh()
                drill.decides("approved", once=once).sees(fingerprint(number))
            for n in range(PLAN):
                if trouble and n % 5 == 3:
                    drill.acts("failed", fingerprint=fingerprint(number), reason="busy", detail="x" * 500).waits()
                if trouble and n == 20:
                    drill.tell(Guided(text="y" * 500))
                drill.acts("ok", fingerprint=fingerprint(number), evidence="expectation" if n % 5 == 0 else "")
                self.steps += 1
                if self.steps % 100 == 0:
                    self.weigh()
            drill.sees(fingerprint(number + 1))
            self.weigh()
        assert self.steps == STEPS
        assert len(drill.run.finished_irreversible) == 1000
        assert drill.run.counts.completed == STEPS
        return drill.run


@pytest.mark.slow
def test_a_run_of_5000_steps_is_at_most_64_kb() -> None:
    Sizes(approvals="never").go()


@pytest.mark.slow
@pytest.mark.parametrize("once", [True, False])
def test_a_run_with_a_thousand_questions_is_at_most_64_kb(once: bool) -> None:
    Sizes().go(once=once)


@pytest.mark.slow
def test_a_run_with_failures_and_advice_is_at_most_64_kb() -> None:
    Sizes().go(trouble=True)


@pytest.mark.slow
def test_reading_it_and_deciding_stays_fast() -> None:
    run = Sizes(approvals="never").go()
    written = encode(run)
    began = time.process_time()
    for _ in range(50):
        drill = Drill()
        drill.run, drill.now = decode(Run, written), run.now
        drill.plans(*a_plan(9999))
    assert (time.process_time() - began) / 50 < 0.1
