"""Reads inputs from a CSV file: each row is a run and each column an input, with the type of the task's own input.

All errors in the file are found here, before anything runs.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from math import isfinite
from pathlib import Path

from midcourse.config.toml_table import read_text
from midcourse.domain.argument import Pairs, Scalar
from midcourse.errors import TaskInvalid
from midcourse.policy.spelling import describe_unknown

SEPARATORS = (",", ";", "\t")
WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_WHOLE = re.compile(r"[+-]?\d+")


def rows_text(path: Path) -> str:
    """The text of the file, without the byte order mark that Excel writes."""
    return read_text(path).removeprefix("\ufeff")


def read_rows(text: str, inputs: Pairs, file: str = "rows") -> tuple[Pairs, ...]:
    """The inputs of each row, without inputs that have no column. `inputs` are the task's own; `file` is the name in error messages."""
    records = list(_records(text, file))
    if not records:
        raise TaskInvalid(f"{file}: is empty; its first line names the inputs, such as {','.join(dict(inputs))}")
    (_, header), *rows = records
    columns = _columns(header, dict(inputs), file)
    if not rows:
        raise TaskInvalid(f"{file}: there are no rows under {','.join(columns)}")
    found: list[Pairs] = []
    for number, (line, cells) in enumerate(rows, start=1):
        where = f"{file}: row {number} (line {line})"
        if len(cells) != len(columns):
            raise TaskInvalid(f"{where}: has {len(cells)} cells, and there are {len(columns)} columns")
        found.append(convert_inputs(dict(zip(columns, cells, strict=True)), inputs, f"{where}: column"))
    return tuple(found)


def convert_inputs(texts: Mapping[str, str], inputs: Pairs, where: str) -> Pairs:
    """Convert each text to the type of the task's own input. `where` is what error messages begin with."""
    models = dict(inputs)
    for name in texts:
        if name not in models:
            raise TaskInvalid(f"{where}: {describe_unknown('input', name, models)}")
    return tuple((name, _value(text, models[name], f"{where} '{name}'")) for name, text in texts.items())


def _records(text: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """The lines that are not empty, each with its number in the file."""
    first = text.lstrip().partition("\n")[0]
    separator = next((each for each in SEPARATORS if each in first), ",")
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise TaskInvalid(f"{file}: line {reader.line_num}: {error}") from None


def _columns(header: Sequence[str], inputs: dict[str, Scalar], file: str) -> list[str]:
    columns = [name.strip() for name in header]
    for name in columns:
        if name not in inputs:
            raise TaskInvalid(f"{file}: {describe_unknown('input', name, inputs)}")
        if columns.count(name) > 1:
            raise TaskInvalid(f"{file}: there are {columns.count(name)} columns '{name}'")
    return columns


def _value(cell: str, like: Scalar, where: str) -> Scalar:
    """The value of a cell in the type of `like`. An empty cell is an empty text, never the task's own value."""
    bare = cell.strip()
    match like:
        case bool():
            if bare.lower() in WORDS:
                return WORDS[bare.lower()]
            wanted = "true or false"
        case int():
            if _WHOLE.fullmatch(bare):
                return int(bare)
            wanted = f"a whole number (if it may have decimals, write {like}.0 in the task's [inputs])"
        case float():
            value = _number(bare)
            if value is not None:
                return value
            wanted = "a number such as 12.5"
        case _:
            return cell
    raise TaskInvalid(f"{where}: '{cell}' has to be {wanted}")


def _number(text: str) -> float | None:
    try:
        value = float(text) if "_" not in text else None
    except ValueError:
        return None
    return value if value is not None and isfinite(value) else None
