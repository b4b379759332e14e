"""`midcourse export`: writes a run as one HTML file."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from midcourse.cli.lookup import blobs_of_run, find_run, task_name
from midcourse.cli.options import Fleet, HomeFolder, Json, Run, load_home_and_fleet, teach, with_options
from midcourse.files import atomic_write
from midcourse.home.folder import AtHome
from midcourse.presentation.page.page import page_of_run
from midcourse.presentation.page.story import MOST_BYTES
from midcourse.terminal.output import print_outcome

if TYPE_CHECKING:
    from midcourse.config.fleet_settings import FleetSettings

commands = typer.Typer()
MEGABYTE = 1_000_000


@commands.command(
    epilog=teach(
        ("midcourse export last --html run.html", "plans, decisions, evidence and pictures, to be sent to anyone"),
        ("midcourse export last --html run.html --most-megabytes 0", "the same without pictures"),
    )
)
def export(
    run: Run,
    html: Annotated[str, typer.Option("--html", metavar="FILE", help="The file to write.", show_default=False)],
    most_megabytes: Annotated[
        float, typer.Option("--most-megabytes", metavar="N", min=0, help="Leave out pictures beyond this total size.")
    ] = MOST_BYTES / MEGABYTE,
    set_: Fleet = None,
    home: HomeFolder = "",
    json: Json = False,
) -> None:
    """Write a run as one HTML file.

    It shows what was sent and the evidence for it, the decisions, the plans
    and why they changed, the pictures and the log. The file has no script and
    loads nothing, so it opens from a disk or a mail. Anyone who has it can read
    everything that the run saw: secrets were covered before anything was
    stored, but other data of the pages was not.
    """
    settings, fleet = load_home_and_fleet(with_options(set_, home=home))
    run_id, page = asyncio.run(_page(run, settings, fleet, int(most_megabytes * MEGABYTE)))
    path = Path(html)
    atomic_write(path, page)
    size = path.stat().st_size
    done = f"run {run_id} is in {path} ({size / MEGABYTE:.1f} MB)"
    print_outcome({"run": run_id, "path": str(path), "bytes": size}, done, json=json)


async def _page(name: str, settings: AtHome, fleet: "FleetSettings | None", most_bytes: int) -> tuple[str, str]:
    async with find_run(settings, fleet, name) as found:
        run_id = found.run.id
        blobs = blobs_of_run(found, settings, fleet)
        task = await task_name(found, settings)
        return run_id, await page_of_run(found.store, blobs, run_id, name=task, most_bytes=most_bytes)
