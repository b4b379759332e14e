"""Functions that say that they have sent nothing, and functions that are wrong about it. Effects are counted in a list of the shop."""

from pathlib import Path

import pytest

from midcourse import Agent, Draft, Settings, guarded
from midcourse.domain.result import Result
from midcourse.errors import AnswerLost, KeyTaken, NotSent, Pending, SkillInvalid, TaskInvalid
from midcourse.planners import SamePlan
from midcourse.testing import Approves, MemoryStore
from midcourse.worlds import Functions


def test_the_caller_gets_the_refusal_and_the_next_call_is_a_new_try(tmp_path: Path) -> None:
    tries: list[str] = []

    @guarded(key="{to}", name="mail", settings=Settings(home=tmp_path), wait=0)
    def mail(to: str) -> str:
        tries.append(to)
        if len(tries) < 3:
            raise NotSent("the mail server is closed")
        return "sent"

    for _ in range(2):
        with pytest.raises(NotSent, match="the mail server is closed"):
            mail("ada@example.com")
    assert (mail("ada@example.com"), mail("ada@example.com"), len(tries)) == ("sent", "sent", 3)


@pytest.mark.parametrize("error", [NotSent("nothing was sent"), PermissionError("the second write")])
def test_a_refusal_after_the_order_was_placed_orders_once(error: Exception, tmp_path: Path) -> None:
    orders: list[str] = []

    @guarded(
        key="{item}",
        name="order",
        settings=Settings(home=tmp_path),
        happened=lambda item: item in orders,
        absent_on=(PermissionError,),
        wait=0,
    )
    def order(item: str) -> str:
        orders.append(item)
        raise error

    for _ in range(2):
        with pytest.raises(AnswerLost, match="happened"):
            order("lamp")
    assert orders == ["lamp"]


def test_a_refusal_of_a_function_inside_does_not_speak_for_the_one_outside(tmp_path: Path) -> None:
    """The order was placed before the payment was refused, so that a person is asked about the order."""
    orders: list[str] = []
    settings = Settings(home=tmp_path)

    @guarded(key="{item}", name="pay", settings=settings, wait=0)
    def pay(item: str) -> None:
        raise NotSent("the card was declined")

    @guarded(key="{item}", name="order", settings=settings, wait=0)
    def order(item: str) -> None:
        orders.append(item)
        pay(item)

    for _ in range(2):
        with pytest.raises(Pending):
            order("lamp")
    assert orders == ["lamp"]


def test_a_refusal_of_the_same_function_for_another_key_does_not_speak_for_the_call_outside(tmp_path: Path) -> None:
    orders: list[int] = []

    @guarded(key="{number}", name="order", settings=Settings(home=tmp_path), wait=0)
    def order(number: int) -> None:
        if number == 2:
            raise NotSent("only one is left")
        orders.append(number)
        order(number + 1)

    for _ in range(2):
        with pytest.raises(Pending):
            order(1)
    assert orders == [1]


MISUSES = (KeyTaken, TaskInvalid, SkillInvalid)
"""What a guarded function raises itself before it begins a call. In the body of a function it says nothing about that function."""


@pytest.mark.parametrize("misuse", MISUSES)
def test_a_misuse_inside_a_function_does_not_mean_that_the_function_sent_nothing(
    misuse: type[Exception], tmp_path: Path
) -> None:
    orders: list[str] = []

    @guarded(key="{item}", name="order", settings=Settings(home=tmp_path), wait=0)
    def order(item: str) -> None:
        orders.append(item)
        raise misuse("of something that it called")

    for _ in range(2):
        with pytest.raises(Pending):
            order("lamp")
    assert orders == ["lamp"]


def test_absent_on_takes_exceptions_in_a_tuple() -> None:
    with pytest.raises(SkillInvalid, match=r"absent_on is a tuple of exceptions, such as \(PermissionError,\)"):

        @guarded(key="{to}", absent_on=PermissionError)  # pyrefly: ignore[bad-argument-type]
        def mail(to: str) -> None: ...


# --- in a world


def run(world: Functions, *plans: Draft) -> tuple[Result, list[str]]:
    approver = Approves()
    settings = Settings(approvals="always", replan_interval_seconds=0, retry_delay_seconds=0)
    agent = Agent(world, SamePlan(list(plans)), approver=approver, settings=settings, store=MemoryStore())
    result = agent.run_sync("Book a room")
    return result, [question.about for question in approver.questions]


@pytest.mark.parametrize("is_guarded", [False, True])
def test_a_refusal_in_a_world_of_functions_is_a_failure_and_no_question(is_guarded: bool, tmp_path: Path) -> None:
    def book(room: str) -> str:
        """Book a room."""
        raise NotSent("permission", "only the front desk may book")

    function = guarded(key="{room}", name="book", settings=Settings(home=tmp_path))(book) if is_guarded else book
    result, asked = run(Functions(function), Draft(skill="book", arguments={"room": "12"}))
    assert (result.success, set(asked)) == (False, {"approve"})
    assert "only the front desk may book" in result.final_detail


def test_any_other_exception_of_a_function_is_in_doubt() -> None:
    def book(room: str) -> str:
        """Book a room."""
        raise PermissionError("only the front desk may book")

    assert run(Functions(book), Draft(skill="book", arguments={"room": "12"}))[1] == ["approve", "happened"]


@pytest.mark.parametrize("misuse", MISUSES)
@pytest.mark.parametrize("is_guarded", [False, True])
def test_a_misuse_inside_a_function_of_a_world_is_in_doubt(
    is_guarded: bool, misuse: type[Exception], tmp_path: Path
) -> None:
    booked: list[str] = []

    def book(room: str) -> None:
        """Book a room."""
        booked.append(room)
        raise misuse("of something that it called")

    function = guarded(key="{room}", name="book", settings=Settings(home=tmp_path))(book) if is_guarded else book
    _, asked = run(Functions(function), Draft(skill="book", arguments={"room": "12"}))
    assert (asked, booked) == (["approve", "happened"], ["12"])


def test_a_wrong_refusal_in_a_world_of_functions_books_once(tmp_path: Path) -> None:
    booked: list[str] = []

    @guarded(key="{room}", name="book", settings=Settings(home=tmp_path), happened=lambda room: room in booked)
    def book(room: str) -> None:
        booked.append(room)
        raise NotSent("busy", "try again later")

    step = Draft(skill="book", arguments={"room": "12"})
    result, asked = run(Functions(book), step)
    assert (result.success, asked, booked) == (True, ["approve"], ["12"])
