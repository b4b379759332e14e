"""`@guarded` with its records in PostgreSQL: calls from many processes, killed ones, and one that lost its connection in the middle."""

import os
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from midcourse.errors import AnswerLost, Pending
from midcourse.process import has_ended, identify_self
from tests.forked import PATIENCE, PROCESSES
from tests.guarded.shop import open_shop, order_and_die, place_orders, place_several

KILLED = -9
ORDERS = int(os.environ.get("GUARDED_ORDERS", "1"))
"""Orders of each of three kinds, which eight processes place."""
LINES = int(os.environ.get("GUARDED_LINES", "4000"))
"""A call is killed after each so many lines of Midcourse's code."""


@pytest.mark.slow
def test_calls_from_eight_processes_place_each_order_once(postgres: str, tenant: str, tmp_path: Path) -> None:
    ids = [f"{kind}-{number}" for number in range(ORDERS) for kind in ("ok", "lost", "cut")]
    options = {"database": postgres, "tenant": tenant}
    with open_shop() as shop:
        processes = [
            PROCESSES.Process(target=place_several, args=(shop.url, str(tmp_path), ids, seed), kwargs=options)
            for seed in range(8)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join(PATIENCE)
        assert [process.exitcode for process in processes] == [0] * 8
        assert Counter(shop.orders) == {(order_id, 100): 1 for order_id in ids}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lost", "down"])
def test_one_order_wherever_the_process_dies(kind: str, postgres: str, tenant: str, tmp_path: Path) -> None:
    options = {"database": postgres, "tenant": tenant}
    places = 0
    with open_shop() as shop:
        order = place_orders(shop.url, tmp_path, **options)
        while True:
            order_id = f"{kind}-{places}"
            args = (shop.url, str(tmp_path), order_id, LINES * places)
            process = PROCESSES.Process(target=order_and_die, args=args, kwargs=options)
            process.start()
            process.join(PATIENCE)
            if process.exitcode != KILLED:
                break
            places += 1
            with pytest.raises(AnswerLost if kind == "lost" else OSError):
                order(order_id, 100)
            assert Counter(shop.orders)[order_id, 100] == (kind == "lost")
    assert (process.exitcode, places > 1) == (0, True)


@pytest.mark.slow
def test_a_process_that_lost_the_database_may_still_be_in_its_call(postgres: str, tenant: str, tmp_path: Path) -> None:
    """The order is not there yet, and the first process is still about to place it: nothing may place another."""
    options = {"database": postgres, "tenant": tenant}
    with open_shop() as shop:
        first = PROCESSES.Process(target=place_slowly, args=(shop.url, str(tmp_path)), kwargs=options)
        first.start()
        assert shop.asked.wait(PATIENCE)
        end_connections(postgres)
        order = place_orders(shop.url, tmp_path, wait=0, **options)
        with pytest.raises(Pending):
            order("slow-1", 100)
        assert shop.orders == []
        shop.goes_on.set()
        first.join(PATIENCE)
        with pytest.raises(Pending):
            order("slow-1", 100)
        assert shop.orders == [("slow-1", 100)]


def place_slowly(url: str, home: str, **options: str) -> None:
    with suppress(ConnectionError, Pending):  # it cannot store the outcome any more, and a person is asked
        place_orders(url, Path(home), wait=0, **options)("slow-1", 100)


def end_connections(database: str) -> None:
    """As a restart of the server or of the network would."""
    ending = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(ending)


@pytest.mark.slow
def test_a_process_is_known_to_have_ended_only_on_its_own_machine() -> None:
    mine = identify_self()
    process = PROCESSES.Process(target=int)
    process.start()
    process.join(PATIENCE)
    machine = mine.rsplit(" ", 2)[0]
    assert not has_ended(mine)
    assert has_ended(f"{machine} {process.pid} 1")
    assert not has_ended(f"another-boot {mine.split(' ')[1]} {process.pid} 1")
    assert not has_ended("")


PROGRAM = """
import sys
from pathlib import Path
from midcourse import guarded

@guarded(key="{ref}", database=sys.argv[1], tenant=sys.argv[2])
def order(ref: float) -> str:
    with Path(sys.argv[3]).open("a") as log:
        log.write(f"{ref:g}\\n")
    return "ordered"

print(order(17), order(17.0))
"""


@pytest.mark.slow
def test_a_script_is_known_by_its_path_and_another_one_of_its_name_is_refused(
    postgres: str, tenant: str, tmp_path: Path
) -> None:
    def run(folder: str) -> str:
        words = [sys.executable, "main.py", postgres, tenant, str(tmp_path / "log.txt")]
        done = subprocess.run(words, cwd=tmp_path / folder, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "main.py").write_text(PROGRAM)
    assert [run("a"), run("a")] == ["ordered ordered\n"] * 2
    refused = run("b")
    assert f"from {tmp_path}/a/main.py, and this is {tmp_path}/b/main.py" in refused
    assert (tmp_path / "log.txt").read_text() == "17\n"
