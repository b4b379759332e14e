"""What does a look at a web page cost, compared with the barest script that could be injected?

    python benchmarks/capture.py --json

On the same page, in the same Chromium, by turns: a look of ours (zones, states, boxes, names, frames, what is covered, the
fingerprint, as Python objects); a bare script that lists the interactive elements with role, name, box and value as one
JSON string, parsed and no more; and our question whether anything has changed. Medians in milliseconds, and the ratio
look : bare as the median of the ratios of the pairs, with its 95 % interval (bootstrap).
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from midcourse.testing.sites import Request, Response, serve
from midcourse.worlds.browser.origins import read_origins
from midcourse.worlds.browser.session import Session, Terms
from midcourse.worlds.browser.settle import Patience

sys.path.insert(0, str(Path(__file__).parent))
from report import keep, table

SIZES = (50, 500, 5000)
MOST = 1.5
"""What a look may cost, as a multiple of the bare script."""
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
class Row:
    elements: int
    zones: int
    bare: float
    look: float
    changed: float
    ratio: float
    low: float
    high: float


class Blank:
    def answer(self, request: Request) -> Response:
        return Response(body="<!doctype html><title>Blank</title>")


async def timed(work: Callable[[], Awaitable[Any]]) -> float:
    begun = time.perf_counter()
    await work()
    return 1000 * (time.perf_counter() - begun)


async def measure(session: Session, elements: int, looks: int) -> Row:
    tab = session.tab
    await tab.page.set_content(page(elements))
    await session.rest()

    async def bare() -> None:
        json.loads(await tab.page.evaluate(BARE))

    async def changed() -> None:
        await tab.frames.ask("changes")

    zones = len((await session.look()).zones)
    times: dict[str, list[float]] = {"bare": [], "look": [], "changed": []}
    for turn in range(WARM + looks):
        took = {"bare": await timed(bare), "look": await timed(session.look), "changed": await timed(changed)}
        if turn >= WARM:
            for arm, one in took.items():
                times[arm].append(one)
    low, ratio, high = interval([ours / theirs for ours, theirs in zip(times["look"], times["bare"], strict=True)])
    medians = {arm: round(statistics.median(several), 2) for arm, several in times.items()}
    return Row(elements=elements, zones=zones, **medians, ratio=ratio, low=low, high=high)


def interval(ratios: list[float]) -> tuple[float, float, float]:
    """The median, with what 95 % of resampled medians lie between."""
    chance = random.Random(0)
    medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(2000))
    return round(medians[49], 2), round(statistics.median(ratios), 2), round(medians[1949], 2)


async def measured(looks: int) -> list[Row]:
    with serve(Blank()) as address:
        terms = Terms(
            start=address,
            headed=False,
            executable="",
            width=1280,
            height=800,
            storage="",
            origins=read_origins(None, address),
            authorities="",
            patience=Patience(),
            navigate_seconds=30.0,
        )
        session = await Session.begin(terms)
        try:
            return [await measure(session, elements, looks) for elements in SIZES]
        finally:
            await session.end()


def shown(rows: list[Row]) -> str:
    header = ["interactive elements", "zones", "bare script, ms", "look, ms", "changed?, ms", "look : bare (95 %)"]
    cells = [
        [str(r.elements), str(r.zones), str(r.bare), str(r.look), str(r.changed), f"{r.ratio} ({r.low}–{r.high})"]
        for r in rows
    ]
    return table(header, cells)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--looks", type=int, default=100, help="of each kind, at each size")
    parser.add_argument("--json", action="store_true", help="print a summary as one JSON object on the last line")
    parser.add_argument("--keep", action="store_true", help="write what was measured to benchmarks/results")
    options = parser.parse_args()
    rows = asyncio.run(measured(options.looks))
    summary: dict[str, object] = {"looks": options.looks, "most": MOST, "rows": [asdict(row) for row in rows]}
    print(shown(rows))
    if options.keep:
        keep("capture", f"python benchmarks/capture.py --looks {options.looks}", summary, shown(rows))
    if options.json:
        print(json.dumps(summary))
    return 0 if all(row.ratio <= MOST for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
