"""Stored JSON of run format 1, turned into the present format when it is read. Nothing writes it any more.

Format 1 had a phase, a command, an event and a move for each adviser; they carry the role instead. Its move `doubt` is
`check_outcome` now.
"""

import json
import re
from typing import Any

PRESENT = 2

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
"""Kinds of format 1, and the kind and role that stand for each now."""

ANSWERED = ("reflected", "reviewed", "goals", "judged")
"""Verdicts of answers that brought advice."""

# Unescaped quotes cannot be part of a string, so text of a page never matches.
_OLD = re.compile(rf'"kind":\s*"(?:doubt|{"|".join(ROLES)})"|"format":\s*1\b')
_OLD_BYTES = re.compile(_OLD.pattern.encode())


def modernized(text: str | bytes) -> str | bytes:
    """The same JSON in the present format. Text that is up to date, nearly all of it, is only scanned."""
    if not (_OLD.search(text) if isinstance(text, str) else _OLD_BYTES.search(text)):
        return text
    try:
        return json.dumps(json.loads(text, object_hook=_modernized))
    except ValueError:
        return text  # the decoder reports what is wrong with it


def _modernized(value: dict[str, Any]) -> dict[str, Any]:
    if value.get("format") == 1 and "id" in value:
        return value | {"format": PRESENT}
    kind = value.get("kind")
    if kind == "doubt":
        return value | {"kind": "check_outcome"}
    if not isinstance(kind, str) or kind not in ROLES:
        return value
    kind, role = ROLES[kind]
    answered = {"verdict": "answered"} if value.get("verdict") in ANSWERED else {}
    return value | {"kind": kind, "role": role} | answered
