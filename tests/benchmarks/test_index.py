"""The index in benchmarks/README.md: every benchmark has a row, and every row is right."""

import argparse
import json
import re
import runpy
import shlex
import sys
from dataclasses import dataclass
from typing import NoReturn

import pytest

from tests.benchmarks.scripts import ROOT

FOLDER = ROOT / "benchmarks"


@dataclass(frozen=True)
class Row:
    command: str
    result: str
    minutes: str

    @property
    def module(self) -> str:
        return self.command.split()[0]


def _rows() -> list[Row]:
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
    cells = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "`benchmarks." in line and line[0] == "|"
    ]
    return [Row(command=command.strip("`"), result=result, minutes=minutes) for _, command, result, minutes in cells]


ROWS = _rows()


class Parsed(Exception):
    """Raised in place of running a benchmark, after its options were read."""


def test_every_benchmark_has_a_row() -> None:
    files = [*FOLDER.glob("*.py"), *(FOLDER / "approvals").glob("*.py")]
    runnable = [file for file in files if "__main__" in file.read_text(encoding="utf-8")]
    assert {".".join(file.relative_to(ROOT).with_suffix("").parts) for file in runnable} == {row.module for row in ROWS}


def test_every_kept_result_is_named_and_every_named_one_is_kept() -> None:
    named = {name for row in ROWS for name in re.findall(r"\(results/(\w+)\.md\)", row.result)}
    assert named == {file.stem for file in (FOLDER / "results").glob("*.json")}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.command)
def test_the_duration_and_the_figures_are_those_of_the_kept_result(row: Row) -> None:
    if row.result == "–":
        assert row.minutes == "–"
        return
    (name,) = re.findall(r"\(results/(\w+)\.md\)", row.result)
    text = (FOLDER / "results" / f"{name}.json").read_text(encoding="utf-8")
    seconds = json.loads(text).get("seconds")
    assert row.minutes == ("–" if seconds is None else f"{seconds / 60:.0f}")
    text += (FOLDER / "results" / f"{name}.md").read_text(encoding="utf-8")
    figures = [figure.replace(",", "") for figure in re.findall(r"\d[\d,]*(?:\.\d+)?", row.result.split("([")[0])]
    unknown = [figure for figure in figures if not re.search(rf"(?<![\d.]){re.escape(figure)}(?!\d)", text)]
    assert unknown == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:'benchmarks.* found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.command)
def test_the_command_can_be_parsed(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    parse = argparse.ArgumentParser.parse_args

    def stop_after(parser: argparse.ArgumentParser) -> NoReturn:
        parse(parser)
        raise Parsed

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stop_after)
    monkeypatch.setattr(sys, "argv", shlex.split(row.command))
    with pytest.raises(Parsed):
        runpy.run_module(row.module, run_name="__main__")
