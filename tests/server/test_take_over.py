"""An operator takes over a headless Chromium over HTTP: sees it uncovered, sends a form, and is on record for it."""

from collections.abc import Generator
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from PIL import Image

from tests.pages import Pages, serve_pages
from tests.server.serving import Served, decide, question_of, start, until

pytestmark = pytest.mark.slow

AT = "style='position:absolute; left:100px; top:{}px; width:200px; height:40px; background:rgb(200,0,0)'"
FORM = f"""<form method=post action=/save><input type=password name=pin value=tiger-lily {AT.format(100)}>
<button {AT.format(200)}>Save</button></form>"""
PRESS = {"x": 150 / 1280, "y": 220 / 800}
CLICK = {"gestures": [{"kind": "press", **PRESS}, {"kind": "release", **PRESS}]}


@pytest.fixture(scope="module")
def pages() -> Generator[Pages]:
    with serve_pages() as there:
        there.show("/save", "<h1>Saved</h1>", title="Saved")
        yield there


def taking_over_task(pages: Pages) -> str:
    """A run that waits for an approval of a form in a browser."""
    return f"""
goal = "Save it"
[world]
name = "browser"
[world.options]
start = "{pages.show("/form", FORM, title="Form")}"
[planner]
name = "playbook"
[[planner.rules]]
final = true
steps = [{{ zone = "*:Save", skill = "click", says = "Save it" }}]
[settings]
approvals = "always"
"""


def picture(client: httpx.Client, path: str) -> tuple[int, ...]:
    """The colour of the password field in the next picture there."""
    answer = client.get(f"/runs/form/{path}")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store"), answer.text
    found = Image.open(BytesIO(answer.content)).getpixel((290, 135))
    assert isinstance(found, tuple)
    return found


def lines(client: httpx.Client) -> str:
    return "\n".join(one["line"]["text"] for one in client.get("/runs/form/lines").json())


def test_an_operator_takes_over_and_a_viewer_does_not(served: Served, pages: Pages) -> None:
    admin, operator, viewer = (served.client(role) for role in ("admin", "operator", "viewer"))
    (served.home / "tasks" / "form.toml").write_text(taking_over_task(pages))
    start(operator, "form", "form")
    until(lambda: operator.get("/runs/form").json()["state"] == "asking")
    assert picture(viewer, "live") == pytest.approx((212, 212, 216), abs=6)
    before = files(served.home)

    for who in (viewer, served.client("approver")):
        assert who.post("/runs/form/take-over").status_code == 403
        assert who.get("/runs/form/take-over/picture").status_code == 403
        assert who.post("/runs/form/take-over/input", json=CLICK).status_code == 403
    not_taken = operator.post("/runs/form/take-over/input", json=CLICK)
    assert (not_taken.status_code, not_taken.json()["detail"]) == (409, "you have not taken it over")

    asks = operator.post("/runs/form/take-over", json={})
    assert (asks.status_code, "an approver has to" in asks.json()["detail"]) == (409, True)
    assert decide(served.client("approver"), question_of(operator, "form") or {}, "take_over").status_code == 200
    until(lambda: operator.get("/runs/form").json()["state"] == "paused")
    assert "in the console" in operator.post("/runs/form/take-over", json={}).json()["says"]
    assert viewer.get("/runs/form").json()["taken_over_by"] == "acme-operator"
    assert picture(operator, "take-over/picture") == pytest.approx((200, 0, 0), abs=20)
    assert picture(viewer, "live") == pytest.approx((212, 212, 216), abs=6)
    other = admin.get("/runs/form/take-over/picture")
    assert (other.status_code, other.json()["detail"]) == (409, "acme-operator has taken it over")

    assert operator.post("/runs/form/take-over/input", json=CLICK).json() == {"dialog": ""}
    until(lambda: "POST /save" in pages.hits)
    assert operator.post("/runs/form/resume", json={}).status_code == 200
    until(lambda: "sent POST" in lines(viewer))
    assert f"acme-operator acted in place of the run: clicked button 'Save'; sent POST {pages.url}/save" in lines(
        viewer
    )
    assert operator.get("/runs/form/take-over/picture").status_code == 204
    assert "acme-operator took over" in str(viewer.get("/audit").json()["rows"])
    assert viewer.get("/audit/verdict").json()["problem"] == ""

    admin.post("/runs/form/cancel", json={})
    until(lambda: admin.get("/runs/form").json()["result"])
    assert pages.hits.count("POST /save") == 1
    assert not any(data[:2] == b"\xff\xd8" for data in files(served.home) - before)
    assert "tiger-lily" not in viewer.get("/audit").text


def files(home: Path) -> set[bytes]:
    return {path.read_bytes() for path in (home / "acme").rglob("*") if path.is_file()}


def test_a_world_without_a_page_is_taken_over_in_its_own_place(served: Served) -> None:
    operator: Any = served.client("admin")
    start(operator, "shop", settings={"approvals": "always"})
    until(lambda: operator.get("/runs/shop").json()["state"] == "asking")
    assert "the world is yours" in operator.post("/runs/shop/take-over", json={}).json()["says"]
    assert operator.get("/runs/shop").json()["taken_over_by"] == ""
    assert operator.get("/runs/shop/take-over/picture").status_code == 204
