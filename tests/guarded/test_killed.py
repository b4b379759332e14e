"""`@guarded` calls whose process is killed with -9, and calls from many processes: each order is placed once, as the shop counts."""

import os
from collections import Counter
from pathlib import Path

import pytest

from midcourse.errors import AnswerLost
from tests.forked import PATIENCE, PROCESSES
from tests.guarded.shop import open_shop, order_and_die, place_orders, place_several

KILLED = -9
LINES = int(os.environ.get("GUARDED_LINES", "1300"))
"""A call runs about 9,000 lines of Midcourse's code; it is killed after each so many of them. 1 is every line."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ok", "lost", "cut", "down"])
def test_one_order_wherever_the_process_dies(kind: str, tmp_path: Path) -> None:
    places = 0
    with open_shop() as shop:
        order = place_orders(shop.url, tmp_path)
        while True:
            order_id = f"{kind}-{places}"
            process = PROCESSES.Process(target=order_and_die, args=(shop.url, str(tmp_path), order_id, LINES * places))
            process.start()
            process.join(PATIENCE)
            if process.exitcode != KILLED:
                break
            places += 1
            try:
                assert (order(order_id, 100), kind) == (f"R-{order_id}", "ok")
            except AnswerLost:
                assert kind != "down"
            except OSError:
                assert kind == "down"
            assert Counter(shop.orders)[order_id, 100] == (kind != "down")
    assert (process.exitcode, places > 4) == (0, True)


@pytest.mark.slow
def test_calls_from_eight_processes_place_each_order_once(tmp_path: Path) -> None:
    ids = [f"{kind}-{number}" for number in range(8) for kind in ("ok", "lost", "cut")]
    with open_shop() as shop:
        processes = [
            PROCESSES.Process(target=place_several, args=(shop.url, str(tmp_path), ids, seed)) for seed in range(8)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join(PATIENCE)
        assert [process.exitcode for process in processes] == [0] * 8
        assert Counter(shop.orders) == {(order_id, 100): 1 for order_id in ids}
