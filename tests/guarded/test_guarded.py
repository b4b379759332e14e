"""`@guarded` in one process: what a call returns, raises and leaves behind."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from midcourse import Agent, Draft, guarded
from midcourse.cli.main import main
from midcourse.errors import AnswerLost, KeyTaken, OutcomeUnknown, Pending, Rejected, SkillInvalid
from midcourse.planners import SamePlan
from midcourse.settings import Settings
from midcourse.testing import Approves, MemoryStore, Rejects
from midcourse.worlds import Functions
from tests.guarded.shop import Order, Shop, open_shop, place_orders


@pytest.fixture
def shop() -> Generator[Shop]:
    with open_shop() as shop:
        yield shop


@pytest.fixture
def order(shop: Shop, tmp_path: Path) -> Order:
    return place_orders(shop.url, tmp_path)


def test_same_call_returns_the_same_and_sends_nothing(shop: Shop, order: Order) -> None:
    assert [order("A-1", 100), order("A-1", 100), order(order_id="A-1", cents=100)] == ["R-A-1"] * 3
    assert order("A-2", 100) == "R-A-2"
    assert shop.orders == [("A-1", 100), ("A-2", 100)]


def test_other_values_under_the_same_key_are_refused(shop: Shop, order: Order) -> None:
    order("A-1", 100)
    with pytest.raises(KeyTaken, match="with other values of cents"):
        order("A-1", 200)
    assert shop.orders == [("A-1", 100)]


@pytest.mark.parametrize("order_id", ["lost-1", "cut-1"])
def test_lost_answer_does_not_order_twice(order_id: str, shop: Shop, order: Order) -> None:
    for _ in range(3):
        with pytest.raises(AnswerLost, match="order happened"):
            order(order_id, 100)
    assert shop.orders == [(order_id, 100)]


def test_a_call_that_returned_is_listed_so_and_one_that_was_found_is_verified(
    order: Order, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    order("A-1", 100)
    with pytest.raises(AnswerLost):
        order("lost-1", 100)
    home = f"home={tmp_path}"
    assert main(["runs", "--json", "--set", home]) == 0
    found, returned = json.loads(capsys.readouterr().out)
    assert (returned["state"], returned["verified"], returned["sending"]) == ("returned", False, "call")
    assert (found["state"], found["verified"]) == ("done, verified", True)
    main(["show", returned["run"], "--set", home])
    main(["show", found["run"], "--set", home])
    shown = capsys.readouterr().out
    assert "returned\n" in shown
    assert "done, and verified\n" in shown
    assert "done_when" not in shown, "a call has none"


def test_exception_of_a_call_without_effect_is_raised_and_the_call_can_be_made_again(shop: Shop, order: Order) -> None:
    for _ in range(2):
        with pytest.raises(OSError, match="503"):
            order("down-1", 100)
    assert shop.orders == []


@pytest.mark.slow
def test_without_happened_only_a_person_can_decide(tmp_path: Path) -> None:
    sent: list[str] = []

    @guarded(name="mail", key="{to}", settings=Settings(home=tmp_path), wait=0)
    def mail(to: str) -> None:
        sent.append(to)
        raise TimeoutError("no answer")

    for _ in range(2):
        with pytest.raises(Pending, match="waits for a decision"):
            mail("ada@example.com")
    assert sent == ["ada@example.com"]


def test_declared_exceptions_mean_that_nothing_was_sent(tmp_path: Path) -> None:
    tries: list[str] = []

    @guarded(name="mail", key="{to}", settings=Settings(home=tmp_path), absent_on=(ConnectionRefusedError,), wait=0)
    def mail(to: str) -> str:
        tries.append(to)
        if len(tries) < 3:
            raise ConnectionRefusedError("not listening")
        return "sent"

    for _ in range(2):
        with pytest.raises(ConnectionRefusedError, match="not listening"):
            mail("ada@example.com")
    assert (mail("ada@example.com"), mail("ada@example.com"), len(tries)) == ("sent", "sent", 3)


def test_approver_sees_every_value_and_can_refuse(tmp_path: Path, shop: Shop) -> None:
    refused = place_orders(shop.url, tmp_path, approve="always", approver=(no := Rejects()))
    with pytest.raises(Rejected, match="not approved"):
        refused("A-1", 100)
    assert dict(no.questions[0].consequences[0].commit.values) == {"order_id": "A-1", "cents": 100}
    assert shop.orders == []
    allowed = place_orders(shop.url, tmp_path, approve="always", approver=Approves())
    assert allowed("A-1", 100) == "R-A-1"


def test_pending_call_is_listed_and_continues_after_the_decision(
    tmp_path: Path, shop: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    order = place_orders(shop.url, tmp_path, approve="always", wait=0)
    with pytest.raises(Pending) as pending:
        order("A-1", 100)
    assert shop.orders == []
    monkeypatch.setenv("MIDCOURSE_HOME", str(tmp_path))
    assert main(["approve"]) == 0
    assert capsys.readouterr().out.startswith(pending.value.run)
    assert main(["approve", pending.value.run, "--yes"]) == 0
    assert "it continues when its program makes the same call again" in capsys.readouterr().out.replace("\n", " ")
    assert order("A-1", 100) == "R-A-1"
    assert shop.orders == [("A-1", 100)]


def test_caller_that_waits_for_a_decision_says_so(
    tmp_path: Path, shop: Shop, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MIDCOURSE_HOME", str(tmp_path))
    order = place_orders(shop.url, tmp_path, approve="always")
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(order, "A-1", 100)
        while not caplog.messages:
            assert not waiting.done()
            time.sleep(0.01)
        (said,) = caplog.messages
        assert "waits for a decision: midcourse approve" in said
        assert main(["approve", said.split()[1], "--yes"]) == 0
        assert waiting.result() == "R-A-1"


async def test_async_and_plain_functions_can_be_called_from_a_loop(tmp_path: Path) -> None:
    sent: list[str] = []

    @guarded(name="mail", key="{to}", settings=Settings(home=tmp_path))
    async def mail(to: str) -> str:
        await asyncio.sleep(0)
        sent.append(to)
        return f"to {to}"

    @guarded(name="ring", key="{to}", settings=Settings(home=tmp_path))
    def ring(to: str) -> str:
        sent.append(to)
        return f"rang {to}"

    assert await asyncio.gather(mail("ada"), mail("ada"), mail("bob")) == ["to ada", "to ada", "to bob"]
    assert [ring("ada"), ring("ada")] == ["rang ada", "rang ada"]
    assert sorted(sent) == ["ada", "ada", "bob"]


async def test_async_function_that_takes_too_long_is_in_doubt(tmp_path: Path) -> None:
    sent: list[str] = []

    @guarded(name="mail", key="{to}", settings=Settings(home=tmp_path), happened=lambda to: to in sent, timeout=0.1)
    async def mail(to: str) -> None:
        sent.append(to)
        await asyncio.sleep(60)

    assert [await mail("ada"), await mail("ada")] == [None, None]
    assert sent == ["ada"]


@dataclass
class Line:
    sku: str
    pieces: int


def test_arguments_and_results_may_be_any_type_that_json_can_express(tmp_path: Path) -> None:
    booked: list[Any] = []

    @guarded(name="book", key="{number}", settings=Settings(home=tmp_path))
    def book(number: str, lines: list[Line], note: dict[str, Any] | None = None) -> list[Line]:
        booked.append((number, lines, note))
        return lines

    lines = [Line("DL-100", 2)]
    assert book("R-1", lines, {"b": 1, "a": [None]}) == lines
    assert book("R-1", lines, {"a": [None], "b": 1}) == lines
    assert booked == [("R-1", lines, {"a": [None], "b": 1})]
    with pytest.raises(TypeError, match="argument 'note' cannot be stored as JSON"):
        book("R-2", lines, {"file": object()})
    with pytest.raises(TypeError, match="'number' must be of type string"):
        book(7, lines)  # pyrefly: ignore[bad-argument-type]


PROGRAM = """
from midcourse import guarded

@guarded(key="{to}")
def ring(to: str) -> None:
    print("rang", to)

ring("ada")
"""


@pytest.mark.slow
def test_script_and_module_have_the_same_keys(tmp_path: Path) -> None:
    (tmp_path / "bells.py").write_text(PROGRAM)
    environment = {**os.environ, "MIDCOURSE_HOME": str(tmp_path / "home")}
    outputs = [
        subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        ).stdout
        for words in (["bells.py"], ["-m", "bells"], ["-c", "import bells"])
    ]
    assert outputs == ["rang ada\n", "", ""]


def test_functions_of_two_names_have_separate_keys(tmp_path: Path) -> None:
    rung: list[str] = []

    def make(name: str) -> Any:
        def ring(to: str) -> None:
            rung.append(name)

        return guarded(key="{to}", name=name, settings=Settings(home=tmp_path))(ring)

    for name in ("door", "desk", "door"):
        make(name)("ada")
    assert rung == ["door", "desk"]


def test_declarations_that_make_no_sense_are_refused() -> None:
    def ring(to: str) -> None: ...

    with pytest.raises(SkillInvalid, match="key 'x' names no argument"):
        guarded(name="ring", key="x")(ring)
    with pytest.raises(SkillInvalid, match="names number, which is not one of its arguments"):
        guarded(name="ring", key="{number}")(ring)
    with pytest.raises(SkillInvalid, match="a plain function cannot be interrupted"):
        guarded(name="ring", key="{to}", timeout=3)(ring)
    with pytest.raises(SkillInvalid, match="'sometimes' is none of"):
        guarded(name="ring", key="{to}", effect="sometimes")(ring)  # pyrefly: ignore[bad-argument-type]
    with pytest.raises(SkillInvalid, match="'rest' cannot be passed by name"):
        guarded(name="ring", key="{to}")(lambda to, *rest: None)


def test_several_functions_are_a_world_for_a_planner(tmp_path: Path) -> None:
    booked: list[str] = []

    def total(number: str) -> float:
        return 12.5

    @guarded(name="book", key="{number}", happened=lambda number: number in booked, settings=Settings(home=tmp_path))
    def book(number: str) -> None:
        booked.append(number)
        raise TimeoutError("stored, and the answer got lost")

    plan = [Draft(skill="total", arguments={"number": "R-1"}), Draft(skill="book", arguments={"number": "R-1"})]
    agent = Agent(Functions(book, read=[total]), SamePlan(plan), approver=Approves(), store=MemoryStore())
    result = agent.run_sync("Book R-1")
    assert (result.success, booked) == (True, ["R-1"])


def test_unknown_is_raised_when_the_person_stops_it(tmp_path: Path) -> None:
    @guarded(name="mail", key="{to}", settings=Settings(home=tmp_path), approver=Rejects())
    def mail(to: str) -> None:
        raise TimeoutError("no answer")

    with pytest.raises(OutcomeUnknown, match="mail may have happened") as first:
        mail("ada@example.com")
    with pytest.raises(OutcomeUnknown, match="in an earlier call") as second:
        mail("ada@example.com")
    assert first.value.run == second.value.run
