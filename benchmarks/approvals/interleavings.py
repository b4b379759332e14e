"""Is anything sent without a valid approval of exactly those values? (Trials 8 and 21)

    python -m benchmarks.approvals.interleavings --interleavings 10000 --forgeries 1000 --json

interleavings  Hypothesis chooses what happens between a question and its act, and in which order: answers of every kind, changes in
               the form, other plans, pauses, crashes, hours that pass, forged answers
forgeries      decisions that are forged (another question, other values than were shown, another run, by the user who started it),
               replayed (after their use, after the end, in another run) or too late; half of them bypass the check at the entry point
unapproved     effects in the world's own log without a valid approval of exactly those values: must be 0
accepted       forged decisions that were accepted at the entry point, or that led to an effect: must be 0
control        the same questions, answered honestly: each must have its effect
"""

import asyncio
import json
import random
import sys
import time
from collections import Counter as Tally
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from benchmarks.approvals.scenario import DID, FORGERIES, OFTEN, SECONDS, YES, Office, forge, insist, run_interleaving
from benchmarks.harness.report import describe_machine, format_table, keep, make_parser
from midcourse.policy.approval.question import bind_decision

COLUMNS = ["forged how", "tried", "accepted"]


@dataclass
class Found:
    interleavings: int = 0
    effects: int = 0
    questions: int = 0
    unapproved: list[str] = field(default_factory=list[str])
    tried: Tally[str] = field(default_factory=Tally[str])
    accepted: Tally[str] = field(default_factory=Tally[str])
    control: int = 0
    control_done: int = 0


# --- trial 8


def interleave(examples: int, seed: int, found: Found) -> None:
    moves = st.lists(st.tuples(st.sampled_from(OFTEN), st.booleans()), max_size=40)

    @seeded(seed)  # so that a run can be repeated
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(st.integers(0, 10**6), moves)
    def play(number: int, chosen: list[tuple[int, bool]]) -> None:
        office = asyncio.run(run_interleaving(seed + number, chosen))
        found.interleavings += 1
        found.effects += len(office.world.effects)
        found.questions += len(office.person.questions)
        found.unapproved += [f"{number} {chosen}: {effect}" for effect in office.unapproved()]
        found.unapproved += [f"{number} {chosen}: {kind} was taken" for kind in office.heard]

    play()


# --- trial 21


async def try_forgery(kind: str, seed: int, found: Found) -> None:
    """Answer an open question with a forged decision."""
    chance = random.Random(seed)
    office = await _start_asking(seed, four_eyes="four eyes" in kind)
    before = len(office.world.effects)
    if kind == "an earlier question":
        office.say(YES)
        await office.settle()
        office.say(DID)
        await office.settle()
        before = len(office.world.effects)
    if forge(office, chance, kind):
        await office.settle()
        found.tried[kind] += 1
        found.accepted[kind] += bool(office.heard) or len(office.world.effects) > before
    await office.end()


async def try_replay(kind: str, seed: int, found: Found) -> None:
    """Send an honest decision once more."""
    chance = random.Random(seed)
    office = await _start_asking(seed)
    question = office.open_question
    assert question is not None
    decision = bind_decision(question, YES)
    office.say(YES)
    await office.settle()
    if kind == "replayed after its use":
        office.say(DID)
        await office.settle()
    if kind == "replayed in another run":
        other = await _start_asking(seed + 10**6)
        await _try_decision(other, kind, decision, chance, found)
        await other.end()
    elif kind == "replayed after the end":
        await office.end()
        await _try_decision(office, kind, decision, chance, found)
        return
    else:
        await _try_decision(office, kind, decision, chance, found)
    await office.end()


async def try_late_decision(kind: str, seed: int, found: Found) -> None:
    """Send a decision after its question expired, or let an approval expire before its use."""
    chance = random.Random(seed)
    office = await _start_asking(seed)
    question = office.open_question
    assert question is not None
    if kind == "after the question expired":
        office.clock.advance(SECONDS + chance.random() * 100)
        insist(office, bind_decision(question, YES), kind, chance)
        office.heard.clear()  # the entry point has no clock, so only the effects count
    else:
        office.run.pause()
        office.say(YES)
        await office.settle()
        office.clock.advance(SECONDS + chance.random() * 100)
        office.run.resume()
    await office.settle()
    found.tried[kind] += 1
    found.accepted[kind] += bool(office.world.effects)
    await office.end()


async def _try_decision(office: Office, kind: str, decision: object, chance: random.Random, found: Found) -> None:
    before = len(office.world.effects)
    insist(office, decision, kind, chance)  # pyrefly: ignore[bad-argument-type]
    await office.settle()
    found.tried[kind] += 1
    found.accepted[kind] += bool(office.heard) or len(office.world.effects) > before


async def run_honestly(seed: int, found: Found) -> None:
    office = await _start_asking(seed, four_eyes=seed % 2 == 0)
    for _ in range(10):
        question = office.open_question
        office.say(YES if question is None or question.about == "approve" else DID)
        await office.settle()
        office.clock.advance(1.0)
        await office.settle()
    found.control += 1
    found.control_done += bool(office.world.effects) and not office.unapproved()
    await office.end()


async def _start_asking(seed: int, *, four_eyes: bool = False) -> Office:
    """Start a run and wait until its first question is open."""
    office = Office(seed, four_eyes=four_eyes)
    await office.begin()
    while office.open_question is None:
        office.clock.advance(1.0)
        await office.settle()
    return office


ATTEMPTS = {
    **dict.fromkeys(FORGERIES, try_forgery),
    "replayed after its use": try_replay,
    "replayed after the end": try_replay,
    "replayed in another run": try_replay,
    "after the question expired": try_late_decision,
    "an approval that expired": try_late_decision,
}


def run_forgeries(trials: int, seed: int, found: Found) -> None:
    kinds = list(ATTEMPTS)
    number = 0
    while sum(found.tried.values()) < trials:
        kind = kinds[number % len(kinds)]
        asyncio.run(ATTEMPTS[kind](kind, seed + number, found))
        number += 1
        if number % 20 == 0:
            asyncio.run(run_honestly(seed + number, found))


# --- summary


def summarize(found: Found, seconds: float) -> dict[str, object]:
    return {
        "interleavings": found.interleavings,
        "questions": found.questions,
        "effects": found.effects,
        "unapproved": len(found.unapproved),
        "forgeries": sum(found.tried.values()),
        "accepted": sum(found.accepted.values()),
        "control": found.control,
        "control_done": found.control_done,
        "seconds": round(seconds, 1),
        "machine": describe_machine(),
        "cases": found.unapproved[:20],
    }


def format_found(found: Found) -> str:
    rows = [[kind, str(found.tried[kind]), str(found.accepted[kind])] for kind in ATTEMPTS]
    head = (
        f"{found.interleavings} interleavings: {found.questions} questions, {found.effects} effects, "
        f"{len(found.unapproved)} without an approval of exactly that.\n\n"
    )
    return head + format_table(COLUMNS, rows) + f"\n\nAnswered honestly: {found.control_done} of {found.control} done."


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--interleavings", type=int, default=10_000)
    parser.add_argument("--forgeries", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=21_000)
    options = parser.parse_args()
    begun, found = time.monotonic(), Found()
    if options.interleavings:
        interleave(options.interleavings, options.seed, found)
    run_forgeries(options.forgeries, options.seed, found)
    figures = summarize(found, time.monotonic() - begun)
    if options.keep:
        keep("approvals", figures, format_found(found))
    print(json.dumps(figures) if options.json else format_found(found))
    is_sound = not found.unapproved and not sum(found.accepted.values()) and found.control == found.control_done
    return 0 if is_sound else 1


if __name__ == "__main__":
    sys.exit(main())
