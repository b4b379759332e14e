"""`midcourse compare`: two models or prompts on the situations of a recording, side by side."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich import box
from rich.table import Table
from rich.text import Text

from midcourse.app.models.comparison import Compared, Comparison, Judged, Tally, tally
from midcourse.app.models.comparison import compare as compare_arms
from midcourse.app.settings.run import Settings
from midcourse.cli.overrides import pairs
from midcourse.cli.view.symbols import Marks
from midcourse.cli.view.terminal import Terminal, print_object, terminal
from midcourse.cli.view.vocabulary import argument, several
from midcourse.domain.plan import Step
from midcourse.policy.spending import MICRO

LONGEST = 40
"""Letters of a screen's title in the table."""


def compare(cassette: str, a: str, b: str, overrides: Sequence[str], *, json: bool) -> None:
    settings = Settings.load(overrides=pairs(overrides))
    found = asyncio.run(compare_arms(Path(cassette), a, b, settings))
    if json:
        print_object(_plain(found))
        return
    where = terminal()
    where.console.print(_table(found, where))
    for line in _lines(found, where.marks):
        where.console.print(line, soft_wrap=True)


def _table(found: Comparison, where: Terminal) -> Table:
    table = Table(box=box.ASCII if where.marks.ascii_only else box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", justify="right", style="dim")
    table.add_column("screen", overflow="fold")
    table.add_column("planned", no_wrap=True)
    for arm in ("A", "B"):
        table.add_column(f"{arm}: verdict", overflow="fold")
        table.add_column("tokens", justify="right")
    table.add_column("same", no_wrap=True)
    for number, each in enumerate(found.situations, start=1):
        cells = [cell for judged in (each.a, each.b) for cell in (_verdict(judged), str(judged.cost.tokens))]
        screen = where.marks.clean(each.surface)[:LONGEST]
        table.add_row(str(number), screen, each.cause, *cells, "yes" if each.same else "no")
    return table


def _verdict(judged: Judged) -> Text:
    if judged.verdict != "steps":
        return Text(judged.verdict, "" if judged.usable else "red")
    text = several(len(judged.steps), "step")
    if len(judged.steps) < judged.drafted:
        text = f"{len(judged.steps)} of {several(judged.drafted, 'step')}"
    mended = f", {several(len(judged.repairs), 'repair')}" if judged.repairs else ""
    return (
        Text(text + mended, "yellow" if judged.repairs else "")
        if judged.usable
        else Text(f"{text}: nothing left", "red")
    )


def _lines(found: Comparison, marks: Marks) -> Iterator[Text]:
    situations = several(len(found.situations), "situation")
    for letter, name, total in _totals(found):
        usable = f"usable in {total.usable} of {situations}"
        spent = f"{total.cost.tokens} tokens, ${total.cost.microusd / MICRO:.4f}"
        yield Text(marks.clean(f"{letter}  {name}: {usable}, {spent}"))
    same = sum(each.same for each in found.situations)
    yield Text(f"the same plan in {same} of {situations}")
    if found.unanswered:
        yield Text(f"left out: {several(found.unanswered, 'situation')} in which nobody was reached", "dim")


def _totals(found: Comparison) -> Iterator[tuple[str, str, Tally]]:
    yield "A", found.a, tally([each.a for each in found.situations])
    yield "B", found.b, tally([each.b for each in found.situations])


def _plain(found: Comparison) -> dict[str, object]:
    return {
        "arms": {
            letter: {
                "name": name,
                "usable": total.usable,
                "tokens": total.cost.tokens,
                "cost_usd": total.cost.microusd / MICRO,
            }
            for letter, name, total in _totals(found)
        },
        "same": sum(each.same for each in found.situations),
        "unanswered": found.unanswered,
        "situations": [_situation(each) for each in found.situations],
    }


def _situation(each: Compared) -> dict[str, object]:
    arms = {"A": _judged(each.a), "B": _judged(each.b)}
    return {"screen": each.surface, "cause": each.cause, "same": each.same, **arms}


def _judged(judged: Judged) -> dict[str, object]:
    return {
        "verdict": judged.verdict,
        "detail": judged.detail,
        "usable": judged.usable,
        "drafted": judged.drafted,
        "steps": [_step(step) for step in judged.steps],
        "repairs": list(judged.repairs),
        "tokens": judged.cost.tokens,
        "cost_usd": judged.cost.microusd / MICRO,
    }


def _step(step: Step) -> dict[str, object]:
    arguments = {name: argument(value) for name, value in step.arguments}
    return {"skill": step.skill, "zone": step.zone, "on": step.target.label, "arguments": arguments}
