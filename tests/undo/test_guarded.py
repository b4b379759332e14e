"""The inverse of a guarded call, found by its name or given as a function."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from midcourse import Decision, guarded
from midcourse.errors import RunUnknown, SkillInvalid
from midcourse.expect import Reference, Undo
from midcourse.settings import Settings
from midcourse.testing import Answers

ORDERS: dict[int, str] = {}
LOG: list[str] = []


@dataclass(frozen=True)
class Receipt:
    order_id: int


def cancel(order_id: int) -> None:
    LOG.append(f"cancel {order_id}")
    del ORDERS[order_id]


def place(product: str) -> int:
    order_id = len(LOG)
    LOG.append(f"order {order_id}")
    ORDERS[order_id] = product
    return order_id


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    ORDERS.clear()
    LOG.clear()
    return Settings(home=tmp_path)


def is_ordered(product: str) -> bool:
    return product in ORDERS.values()


def test_fields_of_the_result_are_passed_by_name(settings: Settings) -> None:
    @guarded(name="order", key="{product}", happened=is_ordered, undo="cancel", settings=settings)
    def order(product: str) -> Receipt:
        return Receipt(order_id=place(product))

    order("lamp")
    assert order.undo("lamp").complete
    assert (ORDERS, order.undo("lamp").complete) == ({}, True)
    assert LOG == ["order 0", "cancel 0"]
    with pytest.raises(RunUnknown, match="order was not called for chair"):
        order.undo("chair")
    assert order("lamp") == Receipt(order_id=0)  # the key is used: it is not ordered again


def test_a_result_is_passed_under_the_name_of_its_function(settings: Settings) -> None:
    undo = Undo(skill="cancel", arguments={"order_id": Reference(source="result", name="order")})

    @guarded(name="order", key="{product}", happened=is_ordered, undo=undo, settings=settings)
    def order(product: str) -> int:
        return place(product)

    order("lamp")
    assert order.undo("lamp").complete
    assert ORDERS == {}


async def test_an_undo_may_be_an_async_function(settings: Settings) -> None:
    async def cancel_it(product: str) -> None:
        cancel(next(number for number, each in ORDERS.items() if each == product))

    @guarded(name="order", key="{product}", happened=is_ordered, undo=cancel_it, settings=settings)
    async def order(product: str) -> None:
        place(product)

    await order("lamp")
    report = await order.undo("lamp")
    assert (report.complete, ORDERS) == (True, {})


def test_an_undo_is_asked_about_if_the_call_is(settings: Settings) -> None:
    approver = Answers(Decision(verdict="approved", by="ada"), Decision(verdict="rejected", by="ada"))

    @guarded(
        name="order",
        key="{product}",
        happened=is_ordered,
        undo="cancel",
        approve="always",
        approver=approver,
        settings=settings,
    )
    def order(product: str) -> Receipt:
        return Receipt(order_id=place(product))

    order("lamp")
    assert [act.state for act in order.undo("lamp").acts] == ["left"]
    assert (ORDERS, len(approver.questions)) == ({0: "lamp"}, 2)


def test_an_inverse_that_does_not_exist_is_refused(settings: Settings) -> None:
    @guarded(name="order", key="{product}", undo="send_back", settings=settings)
    def order(product: str) -> None: ...

    with pytest.raises(SkillInvalid, match="undone by 'send_back', which is not a function of its module"):
        order.undo("lamp")
