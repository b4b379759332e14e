"""Which skills are offered to a planner."""

import pytest

from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.skill import Parameter, Skill
from midcourse.domain.task import Task
from midcourse.policy.plan.skill_offer import is_offered_by_screen, is_offered_by_task

TASK = Task(goal="Order it")


def seen(*zones: Zone) -> Observation:
    return Observation(id="o1", surface=Surface(title="Main"), zones=zones, fingerprint="f1")


def offered(*conditions: str) -> Skill:
    return Skill(name="answer", offered_with=conditions)


def test_a_skill_without_conditions_is_always_offered() -> None:
    assert is_offered_by_task(offered(), TASK)


@pytest.mark.parametrize(
    ("condition", "zone", "expected"),
    [
        ("zone:dialog", Zone(id="dialog", role="dialog", label="Leave?"), True),
        ("zone:dialog", Zone(id="e1", role="dialog", label="Cookies"), False),
        ("zone:tab[0-9]*", Zone(id="tab2", role="tab", label="Help"), True),
        ("zone:tab[0-9]*", Zone(id="table", role="table", label="Rows"), False),
        ("role:request", Zone(id="request1", role="request", label="POST"), True),
        ("output", Zone(id="output", role="output", label="output"), False),
    ],
)
def test_a_skill_is_offered_with_what_is_visible(condition: str, zone: Zone, expected: bool) -> None:
    assert not is_offered_by_task(offered(condition), TASK)
    assert is_offered_by_screen(offered(condition), seen(zone)) is expected
    assert not is_offered_by_screen(offered(condition), seen())


def test_a_skill_is_offered_with_a_file_or_an_output_of_the_task() -> None:
    assert is_offered_by_task(offered("role:file", "file"), Task(goal="Send it", files=("terms.pdf",)))
    assert is_offered_by_task(offered("output"), Task(goal="Read it", output=(Parameter(name="total"),)))
    assert not is_offered_by_task(offered("output"), Task(goal="Send it", files=("terms.pdf",)))
