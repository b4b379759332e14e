"""What scripted models answer for other roles than the planner: nothing that would help."""

from collections.abc import Mapping
from typing import Any

ADVICE: Mapping[str, Mapping[str, Any]] = {
    "reflector": {"root_cause": "The page is not as it was when the plan was made", "severity": "HIGH"},
    "outliner": {"goals": []},
    "judge": {"current": 1},
}
