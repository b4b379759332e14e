"""A sentence about one turn of a run, and its tone."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Tone: TypeAlias = Literal["good", "bad", "doubt", "ask", "plain"]


@dataclass(frozen=True, kw_only=True)
class Sentence:
    text: str
    tone: Tone = "plain"
    detail: str = ""
    """Comes last: what a narrow line can do without."""


def bad(text: str, detail: str = "") -> Sentence:
    return Sentence(text=text, tone="bad", detail=detail)
