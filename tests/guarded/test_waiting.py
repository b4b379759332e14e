"""`@guarded`: calls that are interrupted, that wait for other calls, or that would wait for themselves."""

import asyncio
import gc
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from midcourse import guarded
from midcourse.agent import patience
from midcourse.domain.events import CancelAsked
from midcourse.errors import AnswerLost, Pending, RunBusy
from midcourse.home.folder import database_path
from midcourse.settings import Settings
from midcourse.store.sqlite import SqliteStore
from tests.forked import PROCESSES
from tests.guarded.shop import Shop, open_shop, place_orders


class Timeout(BaseException):
    """As those of gevent, func_timeout and others."""


@pytest.fixture
def shop() -> Generator[Shop]:
    with open_shop() as shop:
        yield shop


# --- interrupted


def press_ctrl_c_twice() -> None:
    for _ in range(2):
        signal.raise_signal(signal.SIGINT)


def raise_one(error: BaseException) -> Callable[[], None]:
    def raise_it() -> None:
        raise error

    return raise_it


INTERRUPTS = {
    "Ctrl-C twice": (press_ctrl_c_twice, KeyboardInterrupt),
    "KeyboardInterrupt": (raise_one(KeyboardInterrupt()), KeyboardInterrupt),
    "SystemExit": (raise_one(SystemExit(1)), SystemExit),
    "Timeout": (raise_one(Timeout("3 seconds")), AnswerLost),
    "GeneratorExit": (raise_one(GeneratorExit()), AnswerLost),
    "CancelledError": (raise_one(asyncio.CancelledError()), AnswerLost),
}


@pytest.mark.parametrize(
    ("interrupt", "in_loop"),
    [*((each, False) for each in INTERRUPTS), *((each, True) for each in INTERRUPTS if each != "Ctrl-C twice")],
)
def test_call_after_an_interrupted_one_in_the_same_process(interrupt: str, in_loop: bool, tmp_path: Path) -> None:
    """In a loop a plain function is called in another thread, which no Ctrl-C reaches."""
    fail, raised = INTERRUPTS[interrupt]
    sent: list[str] = []

    @guarded(key="{ref}", name="order", happened=lambda ref: ref in sent, settings=Settings(home=tmp_path))
    def order(ref: str) -> str:
        sent.append(ref)
        fail()
        return "A-1"

    async def call_in_loop() -> str:
        return order("A-1")

    with pytest.raises(raised):
        asyncio.run(call_in_loop()) if in_loop else order("A-1")
    for _ in range(2):
        with pytest.raises(AnswerLost):
            order("A-1")
    assert sent == ["A-1"]


@pytest.mark.parametrize("error", [Timeout("3 seconds"), GeneratorExit(), asyncio.CancelledError()])
def test_own_exception_is_raised_if_nothing_happened(error: BaseException, tmp_path: Path) -> None:
    sent: list[str] = []
    settings = Settings(home=tmp_path)

    @guarded(key="{ref}", name="order", happened=lambda ref: ref in sent, settings=settings)
    async def order(ref: str) -> str:
        if not tries.pop():
            raise error
        sent.append(ref)
        return "A-1"

    tries = [True, False]
    with pytest.raises(type(error)):
        asyncio.run(order("A-1"))
    assert asyncio.run(order("A-1")) == "A-1"
    assert sent == ["A-1"]


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # its coroutines are closed after their loop
def test_lock_ends_with_a_loop_that_was_torn_down(tmp_path: Path) -> None:
    """As by an interrupt in the middle of the cleanup after an interrupt: no `finally` of the task runs."""
    begun: list[str] = []

    @guarded(key="{ref}", name="order", happened=lambda ref: None, settings=Settings(home=tmp_path), wait=0)
    async def order(ref: str) -> str:
        begun.append(ref)
        await asyncio.sleep(60)
        return "A-1"

    async def begin() -> None:
        kept.append(asyncio.create_task(order("A-1")))
        while not begun:
            await asyncio.sleep(0.01)

    kept: list[Any] = []
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda loop, context: None)  # it would tell of the tasks that were left pending
    loop.run_until_complete(begin())
    loop.close()
    with pytest.raises(Pending, match="waits for a decision"):  # the first call is in doubt, and nobody drives it
        asyncio.run(order("A-1"))
    assert begun == ["A-1"]
    kept.clear()
    gc.collect()


# --- waiting for another call


def order_slowly(url: str, home: str) -> None:
    place_orders(url, Path(home))("slow-1", 100)


@pytest.mark.slow
def test_caller_that_does_not_wait_is_told_who_is_in_the_call(shop: Shop, tmp_path: Path) -> None:
    """Not even for a process that is stopped."""
    other = PROCESSES.Process(target=order_slowly, args=(shop.url, str(tmp_path)))
    other.start()
    shop.asked.wait(60)
    assert other.pid
    os.kill(other.pid, signal.SIGSTOP)
    began = time.monotonic()
    with pytest.raises(Pending, match=f"process {other.pid} is driving run .*call again to get what it returned"):
        place_orders(shop.url, tmp_path, wait=0)("slow-1", 100)
    with pytest.raises(Pending):
        place_orders(shop.url, tmp_path, wait=0.3)("slow-1", 100)
    assert 0.3 < time.monotonic() - began < 20
    os.kill(other.pid, signal.SIGCONT)
    shop.goes_on.set()
    assert place_orders(shop.url, tmp_path)("slow-1", 100) == "R-slow-1"
    other.join(60)
    assert shop.orders == [("slow-1", 100)]


def test_wait_for_a_call_in_another_thread_says_for_what(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(patience, "SAYS_AFTER", 0.1)
    order = place_orders(shop.url, tmp_path)
    with ThreadPoolExecutor(2) as threads, caplog.at_level(logging.WARNING):
        first = threads.submit(order, "slow-1", 100)
        shop.asked.wait(60)
        second = threads.submit(order, "slow-1", 100)
        while len(caplog.messages) < 2:
            assert not second.done()
            time.sleep(0.01)
        shop.goes_on.set()
        assert (first.result(), second.result()) == ("R-slow-1", "R-slow-1")
    assert "order for slow-1 has been waiting for 0 s: this process (task 'run " in caplog.messages[0]
    assert shop.orders == [("slow-1", 100)]


def test_caller_that_does_not_wait_is_told_of_the_question(tmp_path: Path) -> None:
    sent: list[str] = []

    def make(wait: float | None) -> Callable[[str], None]:
        def mail(to: str) -> None:
            sent.append(to)

        return guarded(key="{to}", name="mail", approve="always", settings=Settings(home=tmp_path), wait=wait)(mail)

    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(make(20.0), "ada")
        with SqliteStore(database_path(tmp_path)) as store:
            while not (found := store.newest(1)) or asyncio.run(store.open_question(found[0].id)) is None:
                assert not waiting.done()
                time.sleep(0.01)
        with pytest.raises(Pending, match=f"run {found[0].id} waits for a decision: midcourse approve"):
            make(0)("ada")
        with SqliteStore(database_path(tmp_path)) as store:
            asyncio.run(store.post(found[0].id, CancelAsked()))
        with pytest.raises(Exception, match="cancel"):
            waiting.result()
    assert sent == []


def fail_and_count(home: str, log: str) -> None:
    @guarded(key="{ref}", name="order", absent_on=(ConnectionRefusedError,), settings=Settings(home=Path(home)))
    def order(ref: str) -> None:
        with Path(log).open("a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(0.05)
        raise ConnectionRefusedError("not listening")

    with pytest.raises(ConnectionRefusedError):
        order("A-1")


@pytest.mark.slow
def test_each_of_eight_processes_that_race_for_a_key_gets_its_turn(tmp_path: Path) -> None:
    """Each call fails without an effect, so that each of the others makes the call itself."""
    processes = [
        PROCESSES.Process(target=fail_and_count, args=(str(tmp_path / "home"), str(tmp_path / "log"))) for _ in range(8)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(300)
    assert [process.exitcode for process in processes] == [0] * 8
    assert sorted((tmp_path / "log").read_text().split()) == sorted(str(process.pid) for process in processes)


# --- a call inside itself


def test_plain_function_that_calls_itself_under_its_own_key_is_refused(tmp_path: Path) -> None:
    sent: list[str] = []

    @guarded(key="{ref}", name="order", happened=lambda ref: ref in sent, settings=Settings(home=tmp_path))
    def order(ref: str, depth: int = 0) -> str:
        if depth == 0 and ref == "A-1":
            with pytest.raises(RunBusy) as busy:
                order("A-1")
            refused.append(busy.value)
            assert order("A-2") == "A-2"  # another key is another call
        sent.append(ref)
        return ref

    refused: list[RunBusy] = []
    assert order("A-1") == "A-1"
    assert "order for A-1 is called inside that same call, which would wait for itself" in str(refused[0])
    assert sent == ["A-2", "A-1"]


async def test_async_function_that_calls_itself_is_refused_and_others_wait(tmp_path: Path) -> None:
    sent: list[str] = []
    begun = asyncio.Event()

    @guarded(key="{ref}", name="order", settings=Settings(home=tmp_path))
    async def order(ref: str) -> str:
        begun.set()
        with pytest.raises(RunBusy, match="would wait for itself"):
            await order(ref)
        with pytest.raises(RunBusy, match="would wait for itself"):
            await asyncio.create_task(order(ref))
        with pytest.raises(RunBusy, match="would wait for itself"):
            await asyncio.to_thread(asyncio.run, order(ref))
        await asyncio.sleep(0.2)
        sent.append(ref)
        left_behind.append(asyncio.create_task(call_later(ref)))
        return ref

    async def call_later(ref: str) -> str:
        await over.wait()
        return await order(ref)

    left_behind: list[asyncio.Task[str]] = []
    over = asyncio.Event()
    first = asyncio.create_task(order("A-1"))
    await begun.wait()
    second, third = asyncio.create_task(order("A-1")), asyncio.to_thread(asyncio.run, order("A-1"))
    assert await asyncio.gather(first, second, third) == ["A-1"] * 3
    over.set()
    assert await left_behind[0] == "A-1"  # a task of the call that outlives it may make the call
    assert sent == ["A-1"]


def test_threads_of_a_call_are_not_that_call(tmp_path: Path) -> None:
    """A thread that the function starts and does not wait for may make the same call."""
    sent: list[str] = []

    @guarded(key="{ref}", name="order", settings=Settings(home=tmp_path))
    def order(ref: str) -> str:
        sent.append(ref)
        thread = threading.Thread(target=lambda: later.append(order(ref)))
        thread.start()
        threads.append(thread)
        return ref

    threads: list[threading.Thread] = []
    later: list[str] = []
    assert order("A-1") == "A-1"
    threads[0].join()
    assert (later, sent) == (["A-1"], ["A-1"])
