"""How fast is the console with a long run? Seconds until its page is there, and the longest task of its script while it is scrolled.

    python -m benchmarks.console_speed --steps 2000 --json

One run with a plan for every step is carried out first; `midcourse serve` serves it, and a real Chromium opens its page in a fresh context,
several times. A page is there when its sentence, its current plan and the last line of its log are on the screen. Then the log, the plans and
the film strip of the replay are scrolled from end to end, and the slider is dragged. Tasks are what the browser itself reports
(`PerformanceObserver`, `longtask`: over 50 ms); besides, the CPU time of the longest one, from a trace, which other programs do not lengthen.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from benchmarks.growth import Pages, Turning
from benchmarks.harness.report import describe_machine, format_table, make_parser, report
from midcourse import Agent, Settings
from midcourse.home.stores import open_store
from midcourse.worlds.browser.chromium import system_chromium

OPENS_WITHIN = 2.0
"""Seconds."""
LONGEST_TASK = 100.0
"""Milliseconds that a task may take while the page is scrolled, as the browser reports it."""
PATIENCE = 60_000
RUN = "book"
TRACED = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"]
OBSERVED = """
window.longTasks = [];
new PerformanceObserver(list => {
  for (const one of list.getEntries()) window.longTasks.push([Math.round(one.startTime), Math.round(one.duration)]);
}).observe({ type: 'longtask', buffered: true });
"""
IS_THERE = """last => {
  const log = document.querySelector('[role=log]');
  const there = document.querySelector('h1')?.textContent?.includes('not verified')
    && document.querySelector('[aria-label="Plan versions"]')
    && [...log?.querySelectorAll('[data-seq]') ?? []].some(row => Number(row.dataset.seq) >= last - 3);
  return there ? performance.now() : 0;
}"""
SCROLLED = """async ([selector, down]) => {
  const box = document.querySelector(selector);
  const across = box.scrollWidth > box.clientWidth + 1;
  const name = across ? 'scrollLeft' : 'scrollTop';
  const whole = across ? box.scrollWidth - box.clientWidth : box.scrollHeight - box.clientHeight;
  box[name] = down ? 0 : whole;
  for (let frame = 0; frame <= 120; frame++) {
    await new Promise(requestAnimationFrame);
    box[name] = (down ? frame : 120 - frame) * whole / 120;
  }
  return whole;
}"""


async def read_book(home: Path, steps: int) -> int:
    """Carry out the run; returns the place of its last turn, of which one of the last four has a line in the log."""
    ceilings = dict.fromkeys(("max_calls", "max_replans", "max_segments"), str(3 * steps))
    settings = Settings.load(overrides={"home": str(home), "max_wall_seconds": "36000", **ceilings})
    world = Pages()
    with open_store(home) as store:
        planner = Turning(world=world, steps=steps, reads=lambda: 0)
        agent = Agent(world=world, planner=planner, settings=settings, store=store)
        result = await agent.start("Read the book", run_id=RUN).result()
        assert result.success, result
        return (await store.load(RUN))[0].seq


@asynccontextmanager
async def served(home: Path) -> AsyncGenerator[str]:
    command = [sys.executable, "-m", "midcourse", "serve", "--port", "0", "--json", "--home", str(home)]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield json.loads(await process.stdout.readline())["url"]
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def visited(browser: Browser, address: str) -> AsyncGenerator[Page]:
    """A fresh browser that is signed in, at a page without runs."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(PATIENCE)
    await context.add_init_script(OBSERVED)
    page = await context.new_page()
    await page.goto(address + "/lessons")
    await page.locator("h1").wait_for()
    try:
        yield page
    finally:
        await context.close()


async def open_page(browser: Browser, address: str, last: int) -> float:
    """Seconds from the navigation to the run until its page is there."""
    async with visited(browser, address) as page:
        url = address.partition("#")[0]
        await page.goto("about:blank")
        await page.goto(f"{url}#/runs/{RUN}", wait_until="commit")
        found = await page.wait_for_function(IS_THERE, arg=last, polling="raf")
        return float(await found.json_value()) / 1000


async def scroll(browser: Browser, address: str, last: int) -> tuple[dict[str, list[int]], int]:
    """Long tasks by what is scrolled, and the CPU time of the longest, in milliseconds."""
    found: dict[str, list[int]] = {}
    cpu: list[int] = []
    async with visited(browser, address) as page:

        async def watch(name: str, selector: str, *, down: bool) -> None:
            await page.wait_for_timeout(1000)
            since = await page.evaluate("performance.now()")
            await browser.start_tracing(page=page, categories=TRACED)
            assert await page.evaluate(SCROLLED, [selector, down]) > 0, f"{name} cannot be scrolled"
            await page.wait_for_timeout(300)
            cpu.append(longest_cpu(await browser.stop_tracing()))
            found[name] = await tasks_since(page, since)

        await page.evaluate(f"location.hash = '#/runs/{RUN}'")
        await page.wait_for_function(IS_THERE, arg=last, polling="raf")
        await page.locator(f"[data-turns='{last}']").wait_for()  # the whole log, not only its end
        await watch("log", "[role=log]", down=False)
        await watch("plans", "[aria-label='Plan versions'] > div", down=False)
        await page.evaluate(f"location.hash = '#/runs/{RUN}/replay'")
        await page.get_by_text(f"of {last}", exact=False).first.wait_for()  # all turns are there
        await watch("film strip", "div:has(> [aria-label='Film strip'])", down=False)
        found["slider"] = await drag(page)
    return found, max(cpu)


def longest_cpu(trace: bytes) -> int:
    """Milliseconds of CPU time of the longest task of any renderer's main thread."""
    events: list[dict[str, Any]] = json.loads(trace)["traceEvents"]
    mains = {(one["pid"], one["tid"]) for one in events if one.get("args", {}).get("name") == "CrRendererMain"}
    tasks = [one["tdur"] for one in events if "tdur" in one and (one["pid"], one["tid"]) in mains]
    assert tasks, "the trace has no tasks"
    return round(max(tasks) / 1000)


async def drag(page: Page) -> list[int]:
    thumb = page.locator("[role=slider]")
    await page.wait_for_timeout(1000)
    box = await thumb.bounding_box()
    assert box is not None
    since = await page.evaluate("performance.now()")
    await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await page.mouse.down()
    await page.mouse.move(200, box["y"] + box["height"] / 2, steps=40)
    await page.mouse.up()
    await page.wait_for_timeout(500)
    return await tasks_since(page, since)


async def tasks_since(page: Page, since: float) -> list[int]:
    tasks: list[list[int]] = await page.evaluate("window.longTasks")
    return [duration for start, duration in tasks if start + duration >= since]


async def measure(steps: int, times: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        began = time.monotonic()
        last = await read_book(home, steps)
        ran = time.monotonic() - began
        async with served(home) as address, async_playwright() as driver:
            browser = await driver.chromium.launch(executable_path=system_chromium(), chromium_sandbox=False)
            opened = [await open_page(browser, address, last) for _ in range(times)]
            tasks, cpu = await scroll(browser, address, last)
            await browser.close()
    return {
        "steps": steps,
        "turns": last,
        "run_seconds": round(ran, 1),
        "open_seconds": [round(one, 3) for one in opened],
        "open_median": round(statistics.median(opened), 3),
        "tasks": tasks,
        "longest_task_cpu": cpu,
        "longest_task": max((one for found in tasks.values() for one in found), default=0),
    }


def format_summary(summary: dict[str, Any]) -> str:
    rows = [[f"page of {summary['steps']} steps opens, median", f"{summary['open_median']:.2f} s"]]
    for name, found in summary["tasks"].items():
        rows.append([f"longest task, {name}", f"{max(found)} ms" if found else "under 50 ms"])
    rows.append(["CPU time of the longest task while scrolling", f"{summary['longest_task_cpu']} ms"])
    return format_table(["what", "measured"], rows)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--steps", type=int, default=2000, help="of the one run")
    parser.add_argument("--times", type=int, default=5, help="how often its page is opened")
    args = parser.parse_args()
    began = time.monotonic()
    summary = asyncio.run(measure(args.steps, args.times))
    summary |= {"seconds": round(time.monotonic() - began, 1), "machine": describe_machine()}
    report(args, "console_speed", summary, format_summary(summary))
    return 1 if summary["open_median"] > OPENS_WITHIN or summary["longest_task"] > LONGEST_TASK else 0


if __name__ == "__main__":
    sys.exit(main())
