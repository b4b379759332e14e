"""A sentence about one turn of a run, and its tone."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Tone: TypeAlias = Literal["good", "bad", "doubt", "ask", "plain"]


@dataclass(frozen=True, kw_only=True)
class Sentence:
    text: str
    tone: Tone = "plain"
    detail: str = ""
    """Shown after the text; left out if the line is too narrow."""


def report_setback(text: str, detail: str = "") -> Sentence:
    """Make a sentence with the tone `bad`."""
    return Sentence(text=text, tone="bad", detail=detail)
