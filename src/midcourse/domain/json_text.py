"""Canonical JSON text: one text for each value, whatever the order of its keys."""

import json
from typing import Any


def json_text(value: Any) -> str:
    """The canonical text of a JSON value. Raises `TypeError` or `ValueError` for anything else, such as NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def is_json(text: object) -> bool:
    """Whether this is the text of a JSON value."""
    if not isinstance(text, str):
        return False
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
