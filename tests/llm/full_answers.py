"""The fullest answer of every role: each field is given, and a step has three arguments."""

from importlib import import_module
from typing import Any

from pydantic import BaseModel

from midcourse.agent.roles import ROLES

THREE = ["to=$input.recipient", "copies=3", "urgent=true"]
STEP: dict[str, Any] = {
    "zone": "e7",
    "skill": "send",
    "arguments": THREE,
    "says": "Send the letter",
    "expect": ["page=Sent*", "text=a", "appears=b", "gone=c", "state=d checked=true", "says=e"],
    "probe": {"name": "was_sent", "arguments": THREE},
    "transition": False,
    "as": "letter",
    "on": "Letters",
}
STATE = {"text": "12", "checked": True, "enabled": False, "expanded": True, "selected": False}
FULL: dict[str, dict[str, Any]] = {
    "planner": {
        "reason": "it is ready",
        "verdict": "steps",
        "steps": [STEP],
        "final": True,
        "answer": "The letter was sent.",
        "data": [
            {"name": "number", "value": "7", "source": "$result.letter"},
            {"name": "to", "value": "ada", "source": ""},
        ],
        "note": "the second page lists older letters",
    },
    "detour_planner": {
        "verdict": "try",
        "reason": "it may be there",
        "act": STEP,
        "options": [{"name": "Profile", "says": "Open the profile"}],
    },
    "closeness_judge": {"closeness": 6.5, "why": "the menu is open"},
    "judge": {"current": 2, "evidence": "Catalogue"},
    "monitor": {"problem": "repetition", "guidance": "Look elsewhere."},
    "outliner": {"goals": ["Explore the menu", "Find the settings"], "why": "there are two"},
    "reader": {"zones": [{"role": "textbox", "label": "Amount", "place": [4.5, 1, 20, 15], "state": STATE}]},
    "extractor": {"values": THREE},
    "reflector": {
        "root_cause": "the date is missing",
        "contributing_factors": ["no default"],
        "severity": "HIGH",
        "preventable": True,
        "fix": "Fill it in",
        "changes": ["fill in the date"],
    },
    "verifier": {"now": None, "before": True, "quote": "Order 17 placed", "why": "it is not shown"},
}


def answer_type(role: str) -> type[BaseModel]:
    row = next(row for row in ROLES.values() if row.name == role)
    return getattr(import_module(f"midcourse.llm.roles.{role}"), row.answer)


def write_pairs(value: Any) -> Any:
    """Write names and values as a model does."""
    match value:
        case {"name": str(name), "value": str(text), **rest} if not rest:
            return f"{name}={text}"
        case dict():
            return {name: write_pairs(each) for name, each in value.items()}
        case list():
            return [write_pairs(each) for each in value]
        case _:
            return value
