"""Draws docs/img/console/: every page of the console, with runs of the tasks and the shop that ship, in both themes and two widths.

python docs/picture_console.py [--pages inbox,run] [--to FOLDER]
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, cast

import httpx2 as httpx
from playwright.sync_api import Page, ViewportSize, sync_playwright

from midcourse.agent.wiring import packaged_tasks
from midcourse.demo import RECORDING, REFERENCE, TroubledShop, demo_task, provide_password
from midcourse.testing.sites.server import serve
from midcourse.testing.sites.site import PASSWORD
from midcourse.worlds.browser.chromium import system_chromium

PICTURES = Path(__file__).parent / "img" / "console"
EXAMPLES = Path(__file__).parents[1] / "examples" / "tasks"
MIDCOURSE = [sys.executable, "-m", "midcourse"]
PATIENCE = 120.0
TALLEST = 2400
HEIGHTS = {"1280": 800, "390": 844}
LOOKS = [f"{theme}-{width}" for theme in ("light", "dark") for width in HEIGHTS]
PAGES = {
    "runs": "/",
    "start": "/?start=true",
    "run-live": "/runs/po-1002",
    "run-ended": "/runs/po-1001",
    "run-robot": "/runs/cubes-8",
    "run-failed": "/runs/cube-7",
    "run-doubt": "/runs/po-1003",
    "plans": "/runs/po-1001/plans/3..4",
    "inbox": "/inbox?run=po-1002",
    "inbox-values": "/inbox?run=inv-2207",
    "inbox-long": "/inbox?run=po-1004",
    "inbox-doubt": "/inbox?run=po-1003",
    "evidence": "/runs/po-1001/evidence",
    "replay": "/runs/po-1001/replay?at=30",
    "what-if": "/runs/po-1001/what-if?set=%7B%22max_error_replans%22%3A0%7D",
    "lessons": "/lessons",
    "fleet": "/fleet",
    "take-over": "/runs/po-1002",
}
TAKEN_OVER = "take-over"
"""The page that comes last: it changes the run whose other pages were drawn before."""
SHOPS = {"order_in_browser": "PO-1001", "order_in_second_browser": "PO-1002"}
"""Tasks of the demo, with the references of their orders."""
DELIVERY = (
    "1 Harbour Street, second courtyard. The gate on the street is closed after 18:00: ring at 'Workshop' and wait for the porter, "
    "who has the key of the goods lift. Leave nothing in front of the door. If nobody answers, take the parcel to number 3, where "
    "Ms Okafor signs for us until 20:00. Do not deliver on Thursday: the street is closed for the market. The invoice goes to the "
    "office at 4 Mill Lane and not with the parcel, and has our reference on every page: accounting sends back what has none. Lamps "
    "come without bulbs, please; we have our own. Packaging is taken back by the driver, and the pallet, too, if there is one. "
    "Telephone the workshop an hour before you come, because the yard is narrow and has to be cleared first. A van fits, a lorry does "
    "not: in that case stop at the corner of Dock Road and wait for the trolley. What is broken is refused at the door, with a note on "
    "the delivery slip and a photograph, which the porter takes."
)


def task_files(folder: Path, shops: dict[str, str]) -> Path:
    """The tasks of the server: those that ship, with questions and faults, and the shop of the demo in a browser."""
    folder.mkdir()
    order, invoice = ((EXAMPLES / f"{name}.toml").read_text(encoding="utf-8") for name in ("order", "invoice"))
    for name, address in shops.items():
        (folder / f"{name}.toml").write_text(order_in_browser(folder, name, address), encoding="utf-8")
    asks = order.replace('approvals = "never"', 'approvals = "always"').replace("process = true\n", "")
    (folder / "order_lamp.toml").write_text(asks, encoding="utf-8")
    fault = '[[world.faults]]\nkind = "error_not_stored"\nskill = "place_order"\n\n[settings]'
    doubt = re.sub(r"\n(absent_when|probe) = .*", "", asks.replace("[settings]", fault))
    doubt = re.sub(r"\[done_when\]\narguments = .*\nsettles_after = .*\n", "", doubt)
    (folder / "order_unsure.toml").write_text(doubt, encoding="utf-8")
    (folder / "book_invoice.toml").write_text(invoice.replace('approvals = "never"', 'approvals = "always"'))
    assert "tabletop" in packaged_tasks()
    return folder


def order_in_browser(folder: Path, name: str, address: str) -> str:
    """The task of the demo, with a reference of its own."""
    reference = SHOPS[name]
    recording = folder / f"{name}.jsonl"
    recording.write_text(RECORDING.read_text(encoding="utf-8").replace(REFERENCE, reference), encoding="utf-8")
    planner = '[planner]\nname = "midcourse.demo:RecordedPlanner"\n'
    task = demo_task(address).replace(REFERENCE, reference)
    assert planner in task, task
    return task.replace(planner, f'{planner}\n[planner.options]\nrecording = "{recording}"\n')


class Desk:
    """The API of the server, as a program uses it."""

    def __init__(self, address: str) -> None:
        self.address = address
        url, _, token = address.partition("#token=")
        self._client = httpx.Client(
            base_url=f"{url}api/v1", headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE, verify=False
        )

    def get(self, path: str) -> Any:
        return self._client.get(path).raise_for_status().json()

    def post(self, path: str, **body: Any) -> Any:
        answer = self._client.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def start(self, run: str, task: str, **body: Any) -> None:
        self.post("/runs", run_id=run, task=task, **body)

    def question(self, run: str) -> dict[str, Any] | None:
        return next((one for one in self.get("/questions")["questions"] if one["run"] == run), None)

    def decide(self, run: str, verdict: str, **body: Any) -> None:
        asked = until(lambda: self.question(run))
        self.post(f"/runs/{run}/questions/{asked['id']}", verdict=verdict, shown=asked["shown"], **body)

    def ended(self, run: str) -> None:
        until(lambda: self.get(f"/runs/{run}")["result"])


def until(condition: Callable[[], Any]) -> Any:
    give_up_at = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < give_up_at, "it never came true"
        time.sleep(0.05)
    return found


def stage(desk: Desk, home: Path) -> None:
    """Runs in every state, so that each page has something to show."""
    for task, run in (("quest", "quest-12"), ("reflection", "save-report-5"), ("detour", "add-files-2")):
        desk.start(run, task)
        desk.ended(run)
    desk.start("report-3", "report", settings={"max_replans": 8})
    desk.start("cube-7", "unreachable_cube")
    desk.ended("cube-7")
    desk.start("po-0999", "order_lamp", inputs={"reference": "PO-0999"})
    desk.decide("po-0999", "approved")
    desk.start("po-1001", "order_in_browser")
    desk.decide("po-1001", "approved")
    interrupt(home, "note-41")
    desk.start("note-42", "notepad", settings={"step_delay_seconds": 5})
    desk.post("/runs/note-42/pause")
    for run in ("po-0999", "po-1001", "report-3"):
        desk.ended(run)
    desk.start("po-1003", "order_unsure", inputs={"reference": "PO-1003"})
    desk.decide("po-1003", "approved")
    desk.start("po-1004", "order_lamp", inputs={"reference": "PO-1004", "address": DELIVERY})
    desk.start("inv-2207", "book_invoice", inputs={"number": "INV-2207"})
    desk.start("po-1002", "order_in_second_browser")
    for run in ("po-1003", "po-1004", "inv-2207", "po-1002"):
        until(lambda run=run: desk.question(run))
    desk.start("cubes-8", "tabletop", settings={"step_delay_seconds": 4})


def interrupt(home: Path, run: str) -> None:
    """A run whose process is killed."""
    command = [
        *MIDCOURSE,
        "run",
        "notepad",
        "--run-id",
        run,
        "--set",
        f"home={home}",
        "--set",
        "step_delay_seconds=0.5",
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    until(lambda: (home / "runs" / run / "job.json").exists())
    time.sleep(1.5)
    process.kill()
    process.wait()


@contextmanager
def served(home: Path, tasks: Path) -> Generator[Desk]:
    command = [*MIDCOURSE, "serve", "--port", "0", "--json", "--home", str(home), "--tasks", str(tasks)]
    environment = {**os.environ, "MIDCOURSE_SECRET_PASSWORD": PASSWORD, "LOGNAME": "ada"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    try:
        yield Desk(json.loads(process.stdout.readline())["url"])
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)


def take(page: Page, name: str, place: str, to: Path) -> None:
    """One picture of the whole page, as WebP."""
    from PIL import Image

    page.evaluate("place => { location.hash = '#' + place }", place)
    page.locator("h1").filter(has_not_text="Loading").wait_for()
    page.wait_for_timeout(1200)
    raw = to / f"{name}.png"
    size = page.viewport_size
    assert size is not None
    if not page.locator("[role=dialog]").count():  # all of the page, with what is fixed to its end at the end
        height = max(size["height"], min(TALLEST, page.evaluate("document.documentElement.scrollHeight")))
        page.set_viewport_size({"width": size["width"], "height": height})
        page.wait_for_timeout(300)
    page.screenshot(path=raw)
    page.set_viewport_size(size)
    with Image.open(raw) as picture:
        picture.save(to / f"{name}.webp", quality=60, method=6)
    raw.unlink()


def draw(address: str, to: Path, pages: dict[str, str], looks: list[str]) -> None:
    to.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=system_chromium(), chromium_sandbox=False)
        for look in looks:
            theme, width = look.split("-")
            size: ViewportSize = {"width": int(width), "height": HEIGHTS[width]}
            context = browser.new_context(viewport=size, color_scheme=cast(Any, theme), reduced_motion="reduce")
            page = context.new_page()
            page.goto(address)
            page.locator("h1").wait_for()
            desk = Desk(address)
            for name, place in pages.items():
                if name == TAKEN_OVER and not desk.get(place)["taken_over_by"]:
                    desk.post(f"{place}/take-over")
                if name == "lessons":  # most of them are of the robot's run
                    while desk.get(PAGES["run-robot"])["ended_at"] is None:
                        time.sleep(0.5)
                take(page, f"{name}-{look}", place, to)
            context.close()
        browser.close()


@contextmanager
def staged() -> Generator[str]:
    """The address of a server with all these runs."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(provide_password())
        shops = {name: stack.enter_context(serve(TroubledShop())) for name in SHOPS}
        home = folder / "home"
        desk = stack.enter_context(served(home, task_files(folder / "tasks", shops)))
        stage(desk, home)
        yield desk.address


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=PICTURES)
    parser.add_argument("--pages", default=",".join(PAGES), help="names, separated by commas")
    parser.add_argument("--looks", default=",".join(LOOKS), help="such as light-1280,dark-390")
    parser.add_argument("--at", default="", help="the address of a server that is up, as --stay prints it")
    parser.add_argument("--stay", action="store_true", help="draw nothing: keep the server up until it is interrupted")
    options = parser.parse_args()
    pages = {name: PAGES[name] for name in options.pages.split(",")}
    with nullcontext(options.at) if options.at else staged() as address:
        if options.stay:
            print(address, flush=True)
            signal.pause()
        last = {name: pages.pop(name) for name in [TAKEN_OVER] if name in pages}
        draw(address, options.to, pages, options.looks.split(","))
        draw(address, options.to, last, options.looks.split(","))


if __name__ == "__main__":
    main()
