"""Conversion of stored JSON from run format 1 to the current format when it is read. Format 1 is no longer written.

Format 1 had a phase, a command, an event and a move for each adviser; now they carry the role instead. Its move `doubt` is
now `check_outcome`.
"""

import json
import re
from typing import Any

CURRENT = 2

ROLES: dict[str, tuple[str, str]] = {
    "reflecting": ("advising", "reflector"),
    "reviewing": ("advising", "monitor"),
    "outlining": ("advising", "outliner"),
    "judging": ("advising", "judge"),
    "reflect_on": ("advise", "reflector"),
    "review_path": ("advise", "monitor"),
    "draw_outline": ("advise", "outliner"),
    "judge_progress": ("advise", "judge"),
    "reflected": ("advised", "reflector"),
    "path_reviewed": ("advised", "monitor"),
    "outlined": ("advised", "outliner"),
    "progress_judged": ("advised", "judge"),
    "reflect": ("consult", "reflector"),
    "review": ("consult", "monitor"),
    "orient": ("consult", "outliner"),
}
"""Kinds of format 1, and the kind and role that replace each."""

ANSWERED = ("reflected", "reviewed", "goals", "judged")
"""Verdicts of format 1 that mean that there is advice."""

# Unescaped quotes cannot be part of a string, so text of a page never matches.
_OLD = re.compile(rf'"kind":\s*"(?:doubt|{"|".join(ROLES)})"|"format":\s*1\b')
_OLD_BYTES = re.compile(_OLD.pattern.encode())


def modernize(text: str | bytes) -> str | bytes:
    """The JSON in the current format. Text that is already current is only scanned."""
    if not (_OLD.search(text) if isinstance(text, str) else _OLD_BYTES.search(text)):
        return text
    try:
        return json.dumps(json.loads(text, object_hook=_modernize_object))
    except ValueError:
        return text  # the decoder reports what is wrong with it


def _modernize_object(value: dict[str, Any]) -> dict[str, Any]:
    if value.get("format") == 1 and "id" in value:
        return value | {"format": CURRENT}
    kind = value.get("kind")
    if kind == "doubt":
        return value | {"kind": "check_outcome"}
    if not isinstance(kind, str) or kind not in ROLES:
        return value
    kind, role = ROLES[kind]
    answered = {"verdict": "answered"} if value.get("verdict") in ANSWERED else {}
    return value | {"kind": kind, "role": role} | answered
