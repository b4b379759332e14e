"""Draws docs/img/killed-and-resumed.svg from a real run: it is killed with -9 while it places its order, and resumed.

python docs/record.py
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).parent / "img" / "killed-and-resumed.svg"
MIDCOURSE = [sys.executable, "-m", "midcourse"]
SHOWN = ("sent", "world", "data")
"""The lines of the closing table that the picture keeps."""


def kill_while_ordering(folder: Path) -> str:
    """Start the run, kill it as soon as the shop's own log has an order, and return what it printed."""
    output = folder / "run.txt"
    command = [*MIDCOURSE, "run", "order", "--set", "step_delay_seconds=0.5"]
    with output.open("w") as file:
        process = subprocess.Popen(command, cwd=folder, stdout=file, stderr=subprocess.STDOUT, env=environment())
    while not any(log.stat().st_size for log in folder.glob(".midcourse/runs/*/effects.jsonl")):
        time.sleep(0.01)
    process.kill()
    process.wait()
    return output.read_text()


def resume(folder: Path) -> str:
    command = [*MIDCOURSE, "resume", "last"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, env=environment()).stdout


def environment() -> dict[str, str]:
    return {**os.environ, "COLUMNS": "100", "MIDCOURSE_HOME": ".midcourse"}


def draw(killed: str, resumed: str) -> str:
    console = Console(record=True, width=100, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115
    console.print(Text("$ midcourse run order", style="bold"))
    for line in killed.splitlines():
        console.print(colored(line))
    console.print(
        Text("$ kill -9 %1        # the shop has stored the order; the run has not heard of it", style="bold red")
    )
    console.print()
    console.print(Text("$ midcourse resume last", style="bold"))
    progress, _, closing = resumed.partition("done, and verified")
    for line in progress.splitlines():
        console.print(colored(line))
    console.print(Text("✓ done, and verified", style="bold green"))
    kept = False
    for line in closing.splitlines():
        kept = line.startswith(SHOWN) or (kept and line.startswith(" "))
        if kept:
            console.print(Text(line))
    title = "An order, killed with -9 and resumed"
    picture = console.export_svg(title=title).replace(">", f"><title>{title}</title>", 1)
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)  # no fonts from another host


def colored(line: str) -> Text:
    style = "green" if "done:" in line or "did happen" in line or "verified" in line else ""
    return Text(line, style="yellow" if "unknown" in line else style)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        killed = kill_while_ordering(Path(folder))
        PICTURE.write_text(draw(killed, resume(Path(folder))), encoding="utf-8")
    print(PICTURE)


if __name__ == "__main__":
    main()
