"""How long are the planner's prompts, and how much of a replan's has the provider not seen before?

    python benchmarks/prompt_tokens.py --json

A shop's pages of 50, 500 and 5,000 zones: the first plan, and a replan on the same page after three steps, with one zone in fifty
changed. What follows the longest beginning that both have in common is uncached. Tokens are those of OpenAI's o200k_base if tiktoken
has it at hand (`TIKTOKEN_CACHE_DIR`), else of the upper estimate that budgets are kept with; `--estimate` compares the two.
"""

import argparse
import json
import random
import string
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from midcourse.domain.budget import Cost
from midcourse.domain.completed import CompletedStep
from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.task import Task
from midcourse.llm.mind import CALL_TOKENS
from midcourse.llm.planner import prompt_for
from midcourse.llm.tokens import tokens_at_most
from midcourse.ports.planner import PlanningContext
from midcourse.worlds.simulated.shop import Shop

sys.path.insert(0, str(Path(__file__).parent))
from report import keep, machine, table

ENCODING = "o200k_base"
SIZES = (50, 500, 5_000)
CHANGED = 50
"""One zone in so many is another one at the replan."""
GOODS = ("Desk lamp", "Notebook A5", "Pencil set", "Office chair", "Stapler", "Ring binder", "Whiteboard", "Coffee mug")
ROOM = CALL_TOKENS - 10_000
"""Tokens of a prompt, as the default settings have it."""

Count = Callable[[str], int]


def counter() -> tuple[Count, str]:
    try:
        import tiktoken

        encoding = tiktoken.get_encoding(ENCODING)
    except Exception:  # no network, and nothing in its cache
        return tokens_at_most, "upper estimate"
    return lambda text: len(encoding.encode(text, disallowed_special=())), ENCODING


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
        first, again = (prompt_for(context, ROOM).text for context in situation(size))
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


# --- is the upper estimate one?


def texts() -> dict[str, str]:
    chance = random.Random(1)
    salad = ["".join(chance.choices(string.ascii_lowercase, k=chance.randrange(2, 12))) for _ in range(3_000)]
    root = Path(__file__).parents[1]
    return {
        "a page of 500 zones": prompt_for(situation(500)[0], ROOM).text,
        "English": (root / "README.md").read_text(encoding="utf-8"),
        "German": "Die Bestellung wurde aufgegeben und wird in Kürze versandt. Lieferanschrift ändern. " * 40,
        "Chinese": "请在下面输入您的收货地址，然后点击提交订单按钮。" * 40,
        "emoji": "😀🎉🚀🧯" * 200,
        "letter salad": " ".join(salad),
        "random ASCII": "".join(chance.choices(string.printable[:95], k=10_000)),
        "hexadecimal": "".join(chance.choices("0123456789abcdef", k=10_000)),
    }


def estimated(count: Count) -> dict[str, float]:
    return {name: round(tokens_at_most(text) / count(text), 2) for name, text in texts().items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--estimate", action="store_true", help="compare the upper estimate with the tokenizer")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", action="store_true")
    chosen = parser.parse_args()
    count, counted_with = counter()
    rows = measured(count)
    summary: dict[str, object] = {"counted_with": counted_with, "rows": rows, "machine": machine()}
    header = ["zones", "changed", "shown", "first plan", "replan", "uncached", "share"]
    told = table(header, [[f"{value:,}" for value in row.values()] for row in rows])
    if chosen.estimate:
        summary["estimate"] = estimates = estimated(count)
        told += "\n\n" + table(["text", "estimate / tokens"], [[name, f"{ratio}"] for name, ratio in estimates.items()])
    print(f"tokens of {counted_with}\n\n{told}")
    if chosen.keep:
        keep("prompt_tokens", "python " + " ".join(sys.argv), summary, f"Tokens of {counted_with}.\n\n{told}")
    if chosen.json:
        print(json.dumps(summary))


if __name__ == "__main__":
    main()
