"""The live view over HTTP: pictures on change, at most two a second, and none without a viewer."""

import threading
import time
from typing import Any

import httpx2 as httpx
import pytest

from midcourse.server.live import PERIOD
from tests.server.serving import RunningServer, start, start_run_that_asks, wait_until
from tests.server.worlds import Window

pytestmark = pytest.mark.slow

SLACK = 0.05
"""Seconds by which the clock of the test may be late."""


@pytest.fixture(scope="module")
def watched_run(server: RunningServer) -> str:
    """A run in a world that can be watched. It waits for an approval."""
    start_run_that_asks(server.client("operator"), "watched", "watched")
    return "watched"


def get_picture(client: httpx.Client, run: str, after: str = "") -> tuple[str, bytes]:
    answer = client.get(f"/runs/{run}/live", params={"after": after})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.headers["cache-control"] == "no-store"
    return answer.headers["etag"].strip('"'), answer.content


def change_screen() -> None:
    Window.changes[0] += 1


def test_no_picture_is_taken_without_a_viewer(server: RunningServer, watched_run: str) -> None:
    viewer = server.client("viewer")
    Window.taken.clear()
    for _ in range(3):  # a page that only reads
        viewer.get(f"/runs/{watched_run}")
        viewer.get(f"/runs/{watched_run}/observations")
        time.sleep(0.1)
    assert Window.taken == []
    number, _ = get_picture(viewer, watched_run)
    assert number
    assert len(Window.taken) == 1
    change_screen()
    time.sleep(3 * PERIOD)  # in which a viewer that left would have been shown something
    assert len(Window.taken) == 1


def test_viewers_share_pictures_that_come_on_change_at_most_twice_a_second(
    server: RunningServer, watched_run: str
) -> None:
    Window.taken.clear()
    shown: list[list[bytes]] = [[], [], []]
    until_then = time.monotonic() + 4 * PERIOD

    def look(into: list[bytes]) -> None:
        client, number = server.client("viewer"), ""
        while time.monotonic() < until_then:
            number, data = get_picture(client, watched_run, number)
            into.append(data)

    viewers = [threading.Thread(target=look, args=(one,)) for one in shown]
    for viewer in viewers:
        viewer.start()
    while any(viewer.is_alive() for viewer in viewers):
        change_screen()
        time.sleep(0.05)
    assert all(len(one) >= 2 for one in shown)
    assert all(len(set(one)) == len(one) for one in shown)  # each is another than the one before
    gaps = [after - before for before, after in zip(Window.taken, Window.taken[1:], strict=False)]
    assert min(gaps) > PERIOD - SLACK
    assert len(set(shown[0]) | set(shown[1]) | set(shown[2])) <= len(Window.taken)


def test_a_viewer_who_leaves_while_waiting_is_noticed(server: RunningServer, watched_run: str) -> None:
    viewer = server.client("viewer")
    number, _ = get_picture(viewer, watched_run)
    with pytest.raises(httpx.TimeoutException):
        viewer.get(f"/runs/{watched_run}/live", params={"after": number}, timeout=0.3)
    time.sleep(3 * PERIOD)
    Window.taken.clear()
    change_screen()
    time.sleep(3 * PERIOD)
    assert Window.taken == []


def test_a_run_without_pictures_says_when_to_ask_again(server: RunningServer) -> None:
    start_run_that_asks(server.client("operator"), "blind")
    answer = server.client("viewer").get("/runs/blind/live")
    assert (answer.status_code, answer.headers["retry-after"]) == (204, "10")


def test_a_run_that_has_ended_has_nothing_to_watch(server: RunningServer) -> None:
    client: Any = server.client()
    start(client, "over", "lamp", settings={"approvals": "never"})
    wait_until(lambda: client.get("/runs/over").json()["result"])
    assert client.get("/runs/over/live").headers["retry-after"] == "10"
