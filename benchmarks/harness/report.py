"""What all benchmarks share: command-line options, tables, confidence intervals, and kept results."""

import argparse
import json
import math
import os
import platform
import shlex
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import ROOT

RESULTS = ROOT / "benchmarks" / "results"


@dataclass(frozen=True)
class Share:
    """A share with its 95 % interval (Wilson)."""

    share: float
    low: float
    high: float

    @classmethod
    def of(cls, successes: int, runs: int) -> "Share":
        if not runs:
            return cls(0.0, 0.0, 0.0)
        z, p = 1.959964, successes / runs
        centre = (p + z * z / (2 * runs)) / (1 + z * z / runs)
        half = z * math.sqrt(p * (1 - p) / runs + z * z / (4 * runs * runs)) / (1 + z * z / runs)
        return cls(round(p, 4), round(max(0.0, centre - half), 4), round(min(1.0, centre + half), 4))

    def __str__(self) -> str:
        return f"{100 * self.share:.1f} ({100 * self.low:.1f}–{100 * self.high:.1f})"


def format_table(header: list[str], rows: list[list[str]]) -> str:
    """Format rows as a Markdown table that is also readable on a terminal."""
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in [header, *rows]
    ]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def describe_machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def read_commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def make_parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the summary as one JSON object on the last line")
    parser.add_argument(
        "--keep", action="store_true", help="write the summary, tables and plots into benchmarks/results"
    )
    return parser


def format_command() -> str:
    """Return the command that started this process, as a user would type it."""
    spec = sys.modules["__main__"].__spec__
    module = spec.name if spec else ".".join(Path(sys.argv[0]).resolve().relative_to(ROOT).with_suffix("").parts)
    return shlex.join(["python", "-m", module, *sys.argv[1:]])


def keep(name: str, summary: dict[str, Any], tables: str) -> None:
    """Write the summary as JSON and the tables as Markdown into `benchmarks/results`, with command, commit, date and machine."""
    RESULTS.mkdir(exist_ok=True)
    head = f"# {name}\n\n`{format_command()}` at {read_commit()}, {datetime.now(UTC).date()}, {describe_machine()}.\n\n"
    (RESULTS / f"{name}.md").write_text(head + tables + "\n", encoding="utf-8")
    (RESULTS / f"{name}.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


def report(args: argparse.Namespace, name: str, summary: dict[str, Any], tables: str) -> None:
    """Print the tables, unless only JSON was asked for, and the summary on the last line. With `--keep`, write both."""
    if args.keep:
        keep(name, summary, tables)
    if not args.json:
        print(tables)
    print(json.dumps(summary), flush=True)
