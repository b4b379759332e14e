"""A run stays small: it is carried along by every engine and written down at every turn."""

from dataclasses import replace
from hashlib import blake2b

from midcourse.codec import decode, encode
from midcourse.domain.phase import Acting
from midcourse.domain.plan import PlannedStep
from midcourse.domain.run import Run
from tests.harness import REPLAN_STEP, Drill

STEPS = 5_000
IRREVERSIBLE_EVERY = 5
A_PLAN = 49
MOST_BYTES = 64 * 1024


def digest(*parts: object) -> str:
    return blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def test_at_most_64_kb_after_5000_steps_1000_of_them_irreversible():
    """Plans as long as the settings allow, identities and fingerprints of their real length."""
    drill = Drill(max_segments=1_000, max_calls=1_000, max_wall_seconds=1e9, approvals="never").starts().opens()
    drill.sees(digest("screen", 0))
    done = largest = 0
    while done < STEPS:
        numbers = range(done, min(done + A_PLAN, STEPS))
        drill.plans(*(step_number(number) for number in numbers), REPLAN_STEP)
        for number in numbers:
            drill.acts(fingerprint=digest("screen", number), evidence="expectation", identity=identity(number))
            done += 1
            if done % 100 == 0:
                largest = max(largest, len(encode(drill.run)))
                assert decode(Run, encode(drill.run)) == drill.run
        drill.sees(digest("screen", done))
    assert not isinstance(drill.phase, Acting)
    assert drill.run.counts.completed == STEPS
    assert len(drill.run.finished_irreversible) == STEPS // IRREVERSIBLE_EVERY
    assert largest <= MOST_BYTES, f"{largest} bytes"


def is_irreversible(number: int) -> bool:
    return number % IRREVERSIBLE_EVERY == 0


def identity(number: int) -> str:
    return digest("identity", number) if is_irreversible(number) else ""


def step_number(number: int) -> PlannedStep:
    step = PlannedStep(version=1, index=0, place="zone", skill="type_text_into_the_field", call=digest("call", number))
    if not is_irreversible(number):
        return replace(step, effect="set_state")
    return replace(step, effect="irreversible", identity=identity(number), consequence=digest("sent", number))
