"""Which destinations the user named, and which only the plan or the world did."""

import pytest

from midcourse.domain.argument import Argument, Reference
from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.skill import Parameter
from midcourse.domain.task import Task
from midcourse.policy.arguments import find_unvouched, fits_type

TO = (Parameter(name="to", destination=True),)
TASK = Task(goal="Write to ada@shop.test.", inputs=(("boss", "grace@shop.test"),))


SEEN = Observation(
    id="o1",
    fingerprint="f",
    surface=Surface(title="Shop", address="http://shop.test/", origin="http://shop.test"),
    zones=(Zone(id="e1", role="link", label="Late", state=(("href", "http://shop.test/list?late=1"),)),),
)


def named(value: Argument) -> tuple[str, ...]:
    return find_unvouched((("to", value),), TO, TASK, SEEN)


def test_a_destination_that_the_user_wrote_is_trusted() -> None:
    assert named("ada@shop.test") == named("grace@shop.test") == ()
    assert named(Reference(source="input", name="boss")) == ()


def test_a_destination_that_only_the_plan_names_is_not_trusted() -> None:
    assert named("mallory@else.test") == ("mallory@else.test",)


def test_a_destination_that_the_world_returned_is_not_trusted() -> None:
    """A page may say where to send the money; that a plan refers to it changes nothing."""
    assert named(Reference(source="result", name="address")) == ("$result.address",)


@pytest.mark.parametrize(
    "url", ["http://shop.test/orders", "http://shop.test/orders/17#top", "http://shop.test/list?late=1"]
)
def test_an_address_that_a_click_could_lead_to_is_trusted(url: str) -> None:
    assert named(url) == ()


@pytest.mark.parametrize(
    "url",
    [
        "http://shop.test/orders?by=ada",
        "http://shop.test/list?late=2",
        "http://shop.test.else.test/orders",
        "http://ada@shop.test/orders",
        "https://shop.test/orders",
        "http://shop.test/orders%3fby=ada",
        "http://shop.test/to/grace@shop.test",
        "http://shop.test/to/grace%40shop.test",
        "http://shop.test/to/ZTMgZ3JhY2VAc2hvcC50ZXN0IDE3",
        "http://shop.test/to/GRACE@SHOP.TEST",
        "http://shop.test/to/9f86d081884c7d659a2feaa0c55ad015",
    ],
)
def test_an_address_with_a_query_or_a_value_of_the_task_is_not_trusted(url: str) -> None:
    assert named(url) == (url,)


@pytest.mark.parametrize("path", ["jane/roe", "4711", "roe"])
def test_names_and_numbers_of_the_goal_are_its_values(path: str) -> None:
    task, url = Task(goal="Tell Jane Roe about 4711. Then stop."), f"http://shop.test/{path}"
    assert find_unvouched((("to", url),), TO, task, SEEN) == (url,)
    assert find_unvouched((("to", "http://shop.test/then"),), TO, task, SEEN) == ()


def test_a_truth_value_is_no_number_and_a_whole_number_is_one() -> None:
    assert fits_type("", "string")
    assert not fits_type(True, "integer")
    assert not fits_type(True, "number")
    assert fits_type(1, "number")
    assert fits_type(1.5, "number")
    assert not fits_type(1.0, "integer")
    assert fits_type(False, "boolean")
    assert not fits_type(0, "boolean")
