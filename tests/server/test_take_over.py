"""An approver takes over a headless Chromium over HTTP: sees it uncovered, sends a form, and is on record for it."""

from collections.abc import Generator
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from PIL import Image

from tests.pages import Pages, serve_pages
from tests.server.serving import RunningServer, start, wait_until

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


def make_form_task(pages: Pages) -> str:
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


def read_field_color(client: httpx.Client, path: str) -> tuple[int, ...]:
    """The colour of the password field in the next picture there."""
    answer = client.get(f"/runs/form/{path}")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store"), answer.text
    found = Image.open(BytesIO(answer.content)).getpixel((290, 135))
    assert isinstance(found, tuple)
    return found


def read_lines(client: httpx.Client) -> str:
    return "\n".join(one["line"]["text"] for one in client.get("/runs/form/lines").json())


def test_an_approver_takes_over_and_an_operator_does_not(server: RunningServer, pages: Pages) -> None:
    admin, operator, approver, viewer = (server.client(role) for role in ("admin", "operator", "approver", "viewer"))
    (server.home / "tasks" / "form.toml").write_text(make_form_task(pages))
    start(operator, "form", "form")
    wait_until(lambda: operator.get("/runs/form").json()["state"] == "asking")
    assert read_field_color(viewer, "live") == pytest.approx((212, 212, 216), abs=6)
    before = list_files(server.home)

    for who in (viewer, operator):
        assert who.post("/runs/form/take-over").status_code == 403
        assert who.get("/runs/form/take-over/picture").status_code == 403
        assert who.post("/runs/form/take-over/input", json=CLICK).status_code == 403
    not_taken = approver.post("/runs/form/take-over/input", json=CLICK)
    assert (not_taken.status_code, not_taken.json()["detail"]) == (409, "you have not taken it over")

    assert "in the console" in approver.post("/runs/form/take-over", json={}).json()["says"]
    assert viewer.get("/runs/form").json()["state"] == "paused"
    assert viewer.get("/runs/form").json()["taken_over_by"] == "acme-approver"
    assert read_field_color(approver, "take-over/picture") == pytest.approx((200, 0, 0), abs=20)
    assert read_field_color(viewer, "live") == pytest.approx((212, 212, 216), abs=6)
    other = admin.get("/runs/form/take-over/picture")
    assert (other.status_code, other.json()["detail"]) == (409, "acme-approver has taken it over")

    assert approver.post("/runs/form/take-over/input", json=CLICK).json() == {"dialog": ""}
    wait_until(lambda: "POST /save" in pages.hits)
    assert server.client("approver", "umbrella").post("/runs/form/resume", json={}).status_code == 403
    assert approver.post("/runs/form/resume", json={}).status_code == 200
    assert approver.post("/runs/form/resume", json={}).status_code == 403, "only to hand back what one has taken over"
    wait_until(lambda: "sent POST" in read_lines(viewer))
    assert f"acme-approver acted in place of the run: clicked button 'Save'; sent POST {pages.url}/save" in read_lines(
        viewer
    )
    assert approver.get("/runs/form/take-over/picture").status_code == 204
    assert "acme-approver took over" in str(viewer.get("/audit").json()["rows"])
    assert viewer.get("/audit/verdict").json()["problem"] == ""

    admin.post("/runs/form/cancel", json={})
    wait_until(lambda: admin.get("/runs/form").json()["result"])
    assert pages.hits.count("POST /save") == 1
    assert not any(data[:2] == b"\xff\xd8" for data in list_files(server.home) - before)
    assert "tiger-lily" not in viewer.get("/audit").text


def list_files(home: Path) -> set[bytes]:
    return {path.read_bytes() for path in (home / "acme").rglob("*") if path.is_file()}


def test_a_world_without_a_page_is_taken_over_in_its_own_place(server: RunningServer) -> None:
    operator: Any = server.client("admin")
    start(operator, "shop", settings={"approvals": "always"})
    wait_until(lambda: operator.get("/runs/shop").json()["state"] == "asking")
    assert "you have taken over the world" in operator.post("/runs/shop/take-over", json={}).json()["says"]
    assert operator.get("/runs/shop").json()["taken_over_by"] == ""
    assert operator.get("/runs/shop/take-over/picture").status_code == 204
