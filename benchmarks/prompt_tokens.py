"""How long are the planner's prompts, and how much of a replan's has the provider not seen before?

    npm i --prefix benchmarks/.cache js-tiktoken     # once: the ranks of o200k_base
    python -m benchmarks.prompt_tokens --tasks --long-page --json

A shop's pages of 50, 500 and 5,000 zones: the first plan, and a replan on the same page after three steps, with one zone in fifty
changed. What follows the longest beginning that both have in common is uncached. Without the ranks these are the upper estimate that
budgets are kept with; `--estimate` compares the two.

`--tasks` carries out the two tasks of `first_run/sites.py` in a browser, with a scripted model, and counts messages, tools and answer
schema of all calls. `--long-page` removes an order from a page of 500 elements, planted at each tenth of the page, once with a goal
that names it and once with one that describes it in other words, so that the model has to scroll. Both count exactly or not at all.
"""

import asyncio
import json
import os
import random
import string
import tempfile
from collections.abc import Callable
from dataclasses import replace
from typing import cast

from benchmarks import ROOT
from benchmarks.harness.chromium_pool import SharedBrowser, SharedChromium
from benchmarks.harness.report import describe_machine, format_table, keep, make_parser
from benchmarks.llm.long_page import GOALS, PER_ROW, ROWS, LongPage, Named, Remover
from benchmarks.llm.scripted_model import serve_model
from benchmarks.llm.sites import APPS, GOALS_WITH_PASSWORD, App, Site, serve, truth
from benchmarks.llm.tokenizer import ENCODING, is_installed, tokenizer
from midcourse import Agent, Settings
from midcourse.domain.budget import Cost
from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.outcome import CompletedStep
from midcourse.domain.task import Task
from midcourse.llm.model_client import CALL_TOKENS
from midcourse.llm.prompt.template import estimate_tokens
from midcourse.llm.roles.planner import build_planner_prompt
from midcourse.ports.planner import PlanningContext
from midcourse.testing import Approves
from midcourse.testing.models import ModelServer
from midcourse.worlds.simulated.shop import Shop

SIZES = (50, 500, 5_000)
CHANGED = 50
"""One zone in so many is another one at the replan."""
GOODS = ("Desk lamp", "Notebook A5", "Pencil set", "Office chair", "Stapler", "Ring binder", "Whiteboard", "Coffee mug")
ROOM = CALL_TOKENS - 10_000
"""Tokens of a prompt, as the default settings have it."""

Count = Callable[[str], int]


def counter() -> tuple[Count, str]:
    if not is_installed():
        return estimate_tokens, "upper estimate"
    encode = tokenizer()
    return lambda text: len(encode(text)), ENCODING


def zones(how_many: int, seed: int) -> tuple[Zone, ...]:
    chance = random.Random(seed)
    return tuple(_zone(n, chance) for n in range(how_many))


def _zone(n: int, chance: random.Random) -> Zone:
    article = (
        f"{chance.choice(GOODS)}, {chance.choice(('black', 'white', 'oak', 'steel'))}, no. {chance.randrange(10_000)}"
    )
    match n % 4:
        case 0:
            return Zone(id=f"e{n}", role="link", label=article)
        case 1:
            return Zone(id=f"e{n}", role="text", label=f"{chance.randrange(1, 400)}.{chance.randrange(100):02d} EUR")
        case 2:
            return Zone(id=f"e{n}", role="spinbutton", label=f"Quantity of {article}", state=(("value", "0"),))
        case _:
            return Zone(id=f"e{n}", role="button", label="Add to basket", state=(("enabled", True),))


def situation(how_many: int) -> tuple[PlanningContext, PlanningContext]:
    """The first plan on a page, and a replan there after three steps."""
    before = zones(how_many, seed=how_many)
    after = tuple(replace(zone, state=(("value", "1"),)) if n % CHANGED == 2 else zone for n, zone in enumerate(before))
    task = Task(goal="Put three desk lamps and a whiteboard into the basket", inputs=(("reference", "PO-1001"),))
    first = PlanningContext(
        task=task, observation=_seen("o1", before), catalogue=Shop().catalogue(), left=Cost(calls=30)
    )
    done = tuple(
        CompletedStep(version=1, index=n, skill="fill", target="", says=f"Set the quantity of article {n}")
        for n in range(3)
    )
    again = replace(
        first,
        observation=_seen("o2", after),
        earlier=(first.observation,),
        planned=(1,),
        completed=done,
        cause="adaptive",
        why="a transition was due",
    )
    return first, again


def _seen(name: str, shown: tuple[Zone, ...]) -> Observation:
    surface = Surface(title="Catalogue", address="https://shop.example/catalogue")
    return Observation(id=name, surface=surface, zones=shown, fingerprint=name)


def measured(count: Count) -> list[dict[str, int | float]]:
    rows: list[dict[str, int | float]] = []
    for size in SIZES:
        first, again = (build_planner_prompt(context, ROOM).text for context in situation(size))
        whole, same = count(again), _common(first, again)
        rows.append(
            {
                "zones": size,
                "changed": len([n for n in range(size) if n % CHANGED == 2]),
                "shown": first.count("\ne"),
                "first": count(first),
                "replan": whole,
                "uncached": count(again[same:]),
                "uncached_share": round(count(again[same:]) / whole, 3),
            }
        )
    return rows


def _common(one: str, other: str) -> int:
    """Characters that both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


# --- whole tasks in a browser

SAFE: dict[App, tuple[str, ...]] = {
    "tickets": ("POST /login*", "POST /tickets/new/*"),
    "shop": ("POST /login*", "POST /p/*"),
}
"""What needs no approval: the sign-in and the drafts."""
BEFORE = {"tickets": 10_686, "shop": 10_775}
"""Tokens in of the same tasks at 7ab0955, where prompts listed every skill and all of a page."""
MOST_TOKENS = 7_000
MOST_DOLLARS = {"tickets": 0.0090, "shop": 0.0087}
MOST_ON_PAGE = 3_300


async def task(app: App, chromium: SharedChromium) -> dict[str, object]:
    site = Site(app)
    with serve(site) as url, serve_model(app, encode=tokenizer()) as (endpoint, model):
        world = SharedBrowser(chromium, f"{url}/", origins={url: {"safe": [*SAFE[app]]}})
        result = await _agent(world, endpoint).run(GOALS_WITH_PASSWORD[app])
    assert result.success, f"{app}: {result.final_reason}, {result.final_detail}"
    assert truth(site).right, f"{app}: {truth(site)}"
    return {"task": app, **model.spent(), "tokens_in_before": BEFORE[app]}


async def long_page(named: Named, tenth: int, chromium: SharedChromium) -> dict[str, object]:
    wanted = 1000 + tenth * ROWS // 10 + 5
    site, model = LongPage(wanted), Remover(wanted, named, tokenizer())
    with serve(site) as url, ModelServer(model) as server:
        world = SharedBrowser(chromium, f"{url}/", origins={url: {"safe": ["POST /remove/*"]}})
        result = await _agent(world, server.url).run(GOALS[named].format(order=wanted))
    return {
        "named": named,
        "tenth": tenth,
        "found": bool(result.success) and site.removed == [wanted],
        "calls": len(model.calls),
        "tokens_in": sum(call.tokens_in for call in model.calls),
        "largest_page": max(model.screens),
        "largest_prompt": max(call.tokens_in for call in model.calls),
    }


def _agent(world: SharedBrowser, endpoint: str) -> Agent:
    os.environ.setdefault("OPENAI_API_KEY", "none")
    settings = Settings.load(overrides={"home": tempfile.mkdtemp(), "model_base_url": endpoint})
    return Agent(world=world, model="openai:gpt-5", approver=Approves(), settings=settings)


async def in_browser(*, tasks: bool, long: bool) -> dict[str, list[dict[str, object]]]:
    chromium = SharedChromium()
    named: tuple[Named, ...] = ("by name", "by description")
    try:
        return {
            "tasks": [await task(app, chromium) for app in APPS] if tasks else [],
            "long_page": [await long_page(each, n, chromium) for each in named for n in range(10)] if long else [],
        }
    finally:
        await chromium.end()


def format_tasks(rows: list[dict[str, object]]) -> str:
    header = ["task", "calls", "tokens in", "cached", "out", "$ with caching", "$ without", "tokens in at 7ab0955"]
    cells = [[f"{value:,}" if isinstance(value, int) else str(value) for value in row.values()] for row in rows]
    return (
        f"Whole tasks, clean pages. Target: at most {MOST_TOKENS:,} tokens in, and $0.0090 and $0.0087 with caching. Tokens of messages, tools and answer "
        f"schema. Cached: what an earlier call began with, from 1,024 tokens in steps of 128. List price of gpt-5.\n\n{format_table(header, cells)}"
    )


def format_long_page(rows: list[dict[str, object]]) -> str:
    header = ["the goal names it", "tenth of the page", "found", "calls", "tokens in", "largest page", "largest prompt"]
    cells = [[f"{value:,}" if type(value) is int else str(value) for value in row.values()] for row in rows]
    return f"A page of {ROWS * PER_ROW} controls in {ROWS} rows. Target: at most {MOST_ON_PAGE:,} tokens for the page.\n\n{format_table(header, cells)}"


FORMATS = {"tasks": format_tasks, "long_page": format_long_page}


def missed(found: dict[str, list[dict[str, object]]]) -> list[str]:
    """The targets that were not reached."""
    missed_targets = [
        f"{row['task']}: {row['tokens_in']} tokens"
        for row in found["tasks"]
        if cast(int, row["tokens_in"]) > MOST_TOKENS
    ]
    missed_targets += [
        f"{row['task']}: ${row['usd']}"
        for row in found["tasks"]
        if cast(float, row["usd"]) > MOST_DOLLARS[str(row["task"])]
    ]
    for row in found["long_page"]:
        if not row["found"] or cast(int, row["largest_page"]) > MOST_ON_PAGE:
            missed_targets.append(
                f"{row['named']}, tenth {row['tenth']}: found {row['found']}, {row['largest_page']} tokens"
            )
    return missed_targets


# --- is the upper estimate one?


def texts() -> dict[str, str]:
    chance = random.Random(1)
    salad = ["".join(chance.choices(string.ascii_lowercase, k=chance.randrange(2, 12))) for _ in range(3_000)]
    return {
        "a page of 500 zones": build_planner_prompt(situation(500)[0], ROOM).text,
        "English": (ROOT / "README.md").read_text(encoding="utf-8"),
        "German": "Die Bestellung wurde aufgegeben und wird in Kürze versandt. Lieferanschrift ändern. " * 40,
        "Chinese": "请在下面输入您的收货地址，然后点击提交订单按钮。" * 40,
        "emoji": "😀🎉🚀🧯" * 200,
        "letter salad": " ".join(salad),
        "random ASCII": "".join(chance.choices(string.printable[:95], k=10_000)),
        "hexadecimal": "".join(chance.choices("0123456789abcdef", k=10_000)),
    }


def estimated(count: Count) -> dict[str, float]:
    return {name: round(estimate_tokens(text) / count(text), 2) for name, text in texts().items()}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--tasks", action="store_true", help="carry out two tasks in a browser")
    parser.add_argument("--long-page", action="store_true", help="find an order on a page of 500 elements")
    parser.add_argument("--estimate", action="store_true", help="compare the upper estimate with the tokenizer")
    chosen = parser.parse_args()
    count, counted_with = counter()
    rows = measured(count)
    summary: dict[str, object] = {"counted_with": counted_with, "rows": rows, "machine": describe_machine()}
    header = ["zones", "changed", "shown", "first plan", "replan", "uncached", "share"]
    report = format_table(header, [[f"{value:,}" for value in row.values()] for row in rows])
    print(f"tokens of {counted_with}\n\n{report}", flush=True)
    prompts = len(report)
    if chosen.tasks or chosen.long_page:
        tokenizer()
        found = asyncio.run(in_browser(tasks=chosen.tasks, long=chosen.long_page))
        report += "".join(f"\n\n{say(found[key])}" for key, say in FORMATS.items() if found[key])
        summary |= {**found, "missed": missed(found)}
        report += f"\n\nTargets missed: {'; '.join(missed(found)) or 'none'}."
    if chosen.estimate:
        summary["estimate"] = estimates = estimated(count)
        report += "\n\n" + format_table(
            ["text", "estimate / tokens"], [[name, f"{ratio}"] for name, ratio in estimates.items()]
        )
    print(report[prompts:])
    if chosen.keep:
        keep(
            "prompt_tokens",
            summary,
            f"Tokens of {counted_with}.\n\n{report}",
        )
    if chosen.json:
        print(json.dumps(summary))


if __name__ == "__main__":
    main()
