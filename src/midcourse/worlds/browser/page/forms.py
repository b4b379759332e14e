"""What would the form around this send? Every field, hidden ones too, and where it would go."""

from base64 import b64decode
from typing import Any

from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Pairs
from midcourse.worlds.browser.egress.request import RAW, commit_set, file_value, normalize_newlines


def commit_of_form(form: dict[str, Any]) -> CommitSet | None:
    """As the request that the form makes would be read. None: it makes none."""
    action = str(form["action"]).partition("#")[0]
    if not action.startswith(("http:", "https:")) or form["method"] == "dialog":
        return None
    if form["method"] != "post":
        return commit_set(f"GET {action.partition('?')[0]}", _texts(form["values"]))
    match form["kind"]:
        case "multipart/form-data":
            values = tuple((str(value[0]), _value(*value[1:])) for value in form["values"])
        case "text/plain":
            values = ((RAW, "".join(f"{name}={text}\n" for name, text in _texts(form["values"]))),)
        case _:
            values = _texts(form["values"])
    return commit_set(f"POST {action}", values)


def _texts(values: list[list[str]]) -> Pairs:
    """Where there is only text, a file is sent by its name."""
    return tuple((normalize_newlines(value[0]), normalize_newlines(value[1])) for value in values)


def _value(text: str, kind: str | None = None, content: str = "") -> str:
    return normalize_newlines(text) if kind is None else file_value(text, kind, b64decode(content))
