"""`midcourse look`: shows a web page or a desktop as a planner sees it, in the terminal and as a picture."""

import asyncio
import json as json_format
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from midcourse.agent.wiring import build_browser, build_desktop
from midcourse.cli.options import OriginsFile, teach
from midcourse.codec import encode
from midcourse.domain.argument import Scalar
from midcourse.domain.observation import Observation, Unseen, Zone
from midcourse.errors import TaskInvalid
from midcourse.presentation.vocabulary import pluralize
from midcourse.terminal.output import Marks, print_object, terminal

_STYLES = {"page": "bold", "heading": "bold", "text": "dim", "cell": "dim", "alert": "red", "dialog": "magenta"}
_LONGEST_ROLE = 10
ERROR_PAGE = "chrome-error:"
BAD_GATEWAY = 502
OF_GATE = "Midcourse did not let this through"
_NET_ERROR = re.compile(r"ERR_\w+")
_LONGEST_STATE = 60


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A page or a desktop as it was observed."""

    seen: Observation
    picture: bytes
    """A PNG; empty if the browser's own dialog is open, because Chromium draws nothing until it is answered."""
    turned_away: tuple[str, ...]
    """Requests of the page to other origins that were blocked."""
    milliseconds: float
    """The duration of one observation."""


commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse look https://example.org", "its zones in the terminal, and drawn over it in look.png"),
        ("midcourse look http://127.0.0.1:8000 --whole --png page.png", "the whole page, down to its end"),
        ("midcourse look --desktop mousepad", "a program on a separate display; without a program, your own display"),
        ("midcourse look https://example.org --json | jq '.zones[].label'", "for programs"),
    ),
)
def look(
    url: Annotated[
        str, typer.Argument(metavar="URL", help="The page to look at, or the program to start.", show_default=False)
    ] = "",
    png: Annotated[str, typer.Option("--png", metavar="FILE", help="The file for the picture.")] = "look.png",
    whole: Annotated[bool, typer.Option("--whole", help="Show the whole page, not only what is in view.")] = False,
    desktop: Annotated[bool, typer.Option("--desktop", help="Look at a desktop instead of a web page.")] = False,
    origins: OriginsFile = "",
    json: Annotated[
        bool, typer.Option("--json", help="Print what is seen as one JSON object, and nothing else.")
    ] = False,
) -> None:
    """See a web page or a desktop as a planner sees it: every zone with its id, role, name and state.

    Nothing is clicked, typed or sent. Requests of the page to other origins
    are blocked, unless a policy file allows them.
    """
    if not url and not desktop:
        raise TaskInvalid("what to look at? An address, or --desktop")
    looking = _look_at_desktop(url) if desktop else _look(url, {"origins": origins} if origins else {}, whole=whole)
    sight = asyncio.run(looking)
    if sight.picture:
        Path(png).write_bytes(sight.picture)
    if json:
        seen = json_format.loads(encode(sight.seen))
        found = {
            "png": png if sight.picture else "",
            "turned_away": list(sight.turned_away),
            "milliseconds": sight.milliseconds,
        }
        print_object({**seen, **found})
        return
    where = terminal()
    for line in lines(sight.seen, where.marks):
        where.console.print(line, soft_wrap=not where.console.is_terminal)
    zones = pluralize(len(sight.seen.zones), "zone")
    drawn = f"drawn in {png}" if sight.picture else "no picture: a dialog must be answered first"
    where.console.print(Text(f"\n{zones} in {sight.milliseconds:.0f} ms, {drawn}", "dim"), soft_wrap=True)
    for request in sight.turned_away:
        where.say(f"not let through: {where.marks.fit(request, 100)}", style="yellow")


async def _look(url: str, options: Mapping[str, object], *, whole: bool) -> Snapshot:
    """Observe twice and time the second: the first one also attaches to frames."""
    browser = build_browser(url, options)
    await browser.open()
    try:
        await browser.observe()
        begun = time.perf_counter()
        seen = await browser.observe()
        took = time.perf_counter() - begun
        if isinstance(seen, Unseen):
            raise ConnectionError(f"the page cannot be seen: {seen.detail}")
        if why := _why_no_page(seen):
            raise ConnectionError(f"there is no page at {url}: {why}")
        picture, turned_away = await browser.picture(seen, whole=whole), browser.take_refused()
    finally:
        await browser.close()
    return Snapshot(seen=seen, picture=picture, turned_away=turned_away, milliseconds=round(1000 * took, 1))


async def _look_at_desktop(program: str) -> Snapshot:
    desktop = build_desktop(program, {})
    await desktop.open()
    try:
        begun = time.perf_counter()
        seen = await desktop.observe()
        took = time.perf_counter() - begun
        if isinstance(seen, Unseen):
            raise ConnectionError(f"the desktop cannot be seen: {seen.detail}")
        picture = await desktop.picture(seen)
    finally:
        await desktop.close()
    return Snapshot(seen=seen, picture=picture, turned_away=(), milliseconds=round(1000 * took, 1))


def _why_no_page(seen: Observation) -> str:
    """Why no page is shown, as Chromium says, or our gate if a server cannot be reached; empty if a page is shown."""
    if seen.surface.address.startswith(ERROR_PAGE):
        errors = (_NET_ERROR.search(str(zone.get("error"))) for zone in seen.zones)
        return next((found[0] for found in errors if found), "it cannot be opened")
    if any(zone.role == "page" and zone.get("status") == BAD_GATEWAY for zone in seen.zones):
        return next((zone.label.partition(": ")[2] for zone in seen.zones if zone.label.startswith(OF_GATE)), "")
    return ""


def lines(seen: Observation, marks: Marks) -> list[Text]:
    """One line for each zone: id, role, label and states."""
    widest = max(len(zone.id) for zone in seen.zones)
    return [Text(marks.clean(seen.surface.address), "cyan"), *(_line(zone, widest, marks) for zone in seen.zones)]


def _line(zone: Zone, widest: int, marks: Marks) -> Text:
    states = "  ".join(_state(name, value, marks) for name, value in zone.state)
    return Text.assemble(
        (f"{zone.id:>{widest}}  ", "cyan"),
        (f"{marks.clean(zone.role):<{_LONGEST_ROLE}}  ", "green"),
        (marks.fit(zone.label, 100), _STYLES.get(zone.role, "")),
        (f"  {states}" if states else "", "dim"),
    )


def _state(name: str, value: Scalar, marks: Marks) -> str:
    if value is True:
        return name
    return f"{name}={marks.fit(str(value), _LONGEST_STATE)}"
