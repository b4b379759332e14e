"""Which destinations the user named, and which only the plan or the world did."""

from midcourse.domain.argument import Argument, Reference
from midcourse.domain.skill import Parameter
from midcourse.domain.task import Task
from midcourse.policy.arguments import find_unvouched, fits_type

TO = (Parameter(name="to", destination=True),)
TASK = Task(goal="Write to ada@shop.test.", inputs=(("boss", "grace@shop.test"),))


def named(value: Argument) -> tuple[str, ...]:
    return find_unvouched((("to", value),), TO, TASK)


def test_a_destination_that_the_user_wrote_is_trusted() -> None:
    assert named("ada@shop.test") == named("grace@shop.test") == ()
    assert named(Reference(source="input", name="boss")) == ()


def test_a_destination_that_only_the_plan_names_is_not_trusted() -> None:
    assert named("mallory@else.test") == ("mallory@else.test",)


def test_a_destination_that_the_world_returned_is_not_trusted() -> None:
    """A page may say where to send the money; that a plan refers to it changes nothing."""
    assert named(Reference(source="result", name="address")) == ("$result.address",)


def test_a_truth_value_is_no_number_and_a_whole_number_is_one() -> None:
    assert fits_type("", "string")
    assert not fits_type(True, "integer")
    assert not fits_type(True, "number")
    assert fits_type(1, "number")
    assert fits_type(1.5, "number")
    assert not fits_type(1.0, "integer")
    assert fits_type(False, "boolean")
    assert not fits_type(0, "boolean")
