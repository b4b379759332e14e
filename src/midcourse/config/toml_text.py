"""Values as the text of a TOML file: the counterpart of `tomllib`, for the files that we write."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import cast

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(values: Mapping[str, object], path: tuple[str, ...] = ()) -> str:
    """A table and its sub-tables as TOML. None and empty tables are left out."""
    present = {name: value for name, value in values.items() if value is not None}
    tables = {name: cast(Mapping[str, object], value) for name, value in present.items() if isinstance(value, Mapping)}
    lines = [f"{_key(name)} = {_value(value)}" for name, value in present.items() if name not in tables]
    head = [f"[{'.'.join(map(_key, path))}]"] if path and lines else []
    below = (toml_text(table, (*path, name)) for name, table in tables.items())
    return "\n".join(part for part in ("\n".join([*head, *lines, ""]) if lines else "", *below) if part)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case Mapping():
            pairs = cast(Mapping[str, object], value).items()
            return f"{{ {', '.join(f'{_key(name)} = {_value(inner)}' for name, inner in pairs)} }}"
        case Sequence() if not isinstance(value, str):
            return f"[{', '.join(map(_value, cast(Sequence[object], value)))}]"
        case _:
            return _text(str(value))


def _text(text: str) -> str:
    """A text in quotes. JSON's notation is valid TOML, except for one control character that TOML requires to be escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
