"""What does an observation of a web page cost, compared with a minimal script?

    python -m benchmarks.capture --json
    python -m benchmarks.capture --first 5 --spin 2 --json

On the same page, in the same Chromium, by turns:

bare       a script that lists the interactive elements with role, name, box and value as one JSON string, parsed and no more
anew       an observation of a page that was not seen before: zones, states, boxes, names, text, frames, what is covered, the
           fingerprint, as Python objects
again      a later observation of a page that has hardly changed; only the changes are sent
changed?   the question whether anything has changed

Medians in milliseconds, and the ratios to the bare script as medians of the ratios of the pairs, with their 95 % interval
(bootstrap).

With --first N, only the first observation of the largest page is timed, each in a new browser, from the moment the page is
loaded, beside --spin spinning processes. None may be empty or take longer than three seconds.
"""

import asyncio
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.harness.report import format_table, keep, make_parser
from midcourse.testing.sites import Request, Response, serve
from midcourse.worlds.browser.egress.policy import read_origins
from midcourse.worlds.browser.page.capture import Capture
from midcourse.worlds.browser.page.tabs import Patience
from midcourse.worlds.browser.session import BrowserSession, SessionOptions

SIZES = (50, 500, 5000)
MOST = 1.5
"""What a look may cost, as a multiple of the bare script."""
FIRST_WITHIN = 3.0
"""Seconds that the first observation of the largest page may take."""
WARM = 3

BARE = """() => {
  const seen = [];
  for (const element of document.querySelectorAll('a, button, input, select, textarea, [role=button], [onclick]')) {
    const style = getComputedStyle(element);
    if (style.display === 'none' || style.visibility !== 'visible') continue;
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    const name = element.getAttribute('aria-label') || element.labels?.[0]?.innerText || element.innerText || element.placeholder || '';
    seen.push({
      role: element.getAttribute('role') || element.tagName.toLowerCase(),
      name: name.trim().slice(0, 200),
      box: [Math.round(box.x), Math.round(box.y), Math.round(box.width), Math.round(box.height)],
      value: element.value, checked: element.checked, disabled: element.disabled, href: element.href,
    });
  }
  return JSON.stringify(seen);
}"""


def page(elements: int) -> str:
    """Rows of a list with five interactive elements each, and some text, as applications have them."""
    rows = "".join(
        f"<li><p>Order {i} of somebody, placed a while ago</p><a href='/orders/{i}'>Order {i}</a> "
        f"<label>Quantity <input value={i}></label> <label><input type=checkbox> Gift</label> "
        f"<select aria-label=Size><option>Small<option>Large</select> <button>Remove</button></li>"
        for i in range(elements // 5)
    )
    return f"<!doctype html><title>{elements} elements</title><h1>Orders</h1><ul>{rows}</ul>"


@dataclass(frozen=True)
class Ratio:
    """To the bare script, with its 95 % interval."""

    ratio: float
    low: float
    high: float

    @classmethod
    def of(cls, ours: list[float], bare: list[float]) -> "Ratio":
        ratios = [one / other for one, other in zip(ours, bare, strict=True)]
        chance = random.Random(0)
        medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(2000))
        return cls(round(statistics.median(ratios), 2), round(medians[49], 2), round(medians[1949], 2))

    def __str__(self) -> str:
        return f"{self.ratio} ({self.low}–{self.high})"


@dataclass(frozen=True)
class Row:
    elements: int
    zones: int
    bare: float
    anew: float
    again: float
    changed: float
    anew_to_bare: Ratio
    again_to_bare: Ratio


class Blank:
    def answer(self, request: Request) -> Response:
        return Response(body="<!doctype html><title>Blank</title>")


async def timed(work: Callable[[], Awaitable[Any]]) -> float:
    begun = time.perf_counter()
    await work()
    return 1000 * (time.perf_counter() - begun)


async def measure(session: BrowserSession, elements: int, looks: int) -> Row:
    tab = session.tab
    await tab.page.set_content(page(elements))
    await session.settle()

    async def bare() -> None:
        json.loads(await tab.page.evaluate(BARE))

    async def anew() -> None:
        await Capture().look(session.tabs)

    async def changed() -> None:
        await tab.frames.ask("changes")

    arms: dict[str, Callable[[], Awaitable[Any]]] = {
        "bare": bare,
        "anew": anew,
        "again": session.look,
        "changed": changed,
    }
    times: dict[str, list[float]] = {arm: [] for arm in arms}
    for turn in range(WARM + looks):
        for arm, work in arms.items():
            if arm == "again":
                await session.look()
            took = await timed(work)
            if turn >= WARM:
                times[arm].append(took)
    medians = {arm: round(statistics.median(several), 2) for arm, several in times.items()}
    return Row(
        elements=elements,
        zones=len((await session.look()).zones),
        **medians,
        anew_to_bare=Ratio.of(times["anew"], times["bare"]),
        again_to_bare=Ratio.of(times["again"], times["bare"]),
    )


def make_options(start: str) -> SessionOptions:
    return SessionOptions(
        start=start,
        headed=False,
        executable="",
        width=1280,
        height=800,
        storage="",
        downloads="",
        origins=read_origins(None, start),
        authorities="",
        patience=Patience(),
        navigate_seconds=30.0,
    )


async def measured(looks: int) -> list[Row]:
    with serve(Blank()) as address:
        session = await BrowserSession.begin(make_options(address))
        try:
            return [await measure(session, elements, looks) for elements in SIZES]
        finally:
            await session.end()


class Large:
    def answer(self, request: Request) -> Response:
        return Response(body=page(SIZES[-1]))


async def first_looks(count: int) -> list[tuple[float, int]]:
    """Seconds until the first observation, and the number of its zones."""
    results: list[tuple[float, int]] = []
    with serve(Large()) as address:
        for _ in range(count):
            session = await BrowserSession.begin(make_options(address))
            try:
                begun = time.perf_counter()
                scene = await session.look()
                results.append((round(time.perf_counter() - begun, 3), len(scene.zones)))
            finally:
                await session.end()
    return results


@contextmanager
def spinning(processes: int) -> Iterator[None]:
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def report_first_looks(count: int, spin: int, *, kept: bool, as_json: bool) -> int:
    with spinning(spin):
        looks = asyncio.run(first_looks(count))
    slowest, fewest = max(seconds for seconds, _ in looks), min(zones for _, zones in looks)
    summary: dict[str, object] = {
        "elements": SIZES[-1],
        "spinning": spin,
        "looks": [seconds for seconds, _ in looks],
        "slowest": slowest,
        "within": FIRST_WITHIN,
        "fewest_zones": fewest,
        "met": slowest <= FIRST_WITHIN and fewest >= SIZES[-1],
    }
    text = f"{count} first observations of {SIZES[-1]} elements: at most {slowest} s, at least {fewest} zones"
    print(text)
    if kept:
        keep("first_look", summary, text)
    if as_json:
        print(json.dumps(summary))
    return 0 if summary["met"] else 1


def shown(rows: list[Row]) -> str:
    header = ["elements", "zones", "bare, ms", "anew, ms", "again, ms", "changed?, ms", "anew : bare", "again : bare"]
    cells = [[r.elements, r.zones, r.bare, r.anew, r.again, r.changed, r.anew_to_bare, r.again_to_bare] for r in rows]
    return format_table(header, [[str(cell) for cell in row] for row in cells])


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--looks", type=int, default=100, help="of each kind, at each size")
    parser.add_argument("--first", type=int, metavar="N", help="time N first observations of the largest page instead")
    parser.add_argument("--spin", type=int, default=0, metavar="N", help="processes that spin beside --first")
    options = parser.parse_args()
    if options.first:
        return report_first_looks(options.first, options.spin, kept=options.keep, as_json=options.json)
    rows = asyncio.run(measured(options.looks))
    summary: dict[str, object] = {"looks": options.looks, "most": MOST, "rows": [asdict(row) for row in rows]}
    print(shown(rows))
    if options.keep:
        keep("capture", summary, shown(rows))
    if options.json:
        print(json.dumps(summary))
    return 0 if all(max(row.anew_to_bare.ratio, row.again_to_bare.ratio) <= MOST for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
