"""What a task of the bench is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from benchmarks.reading_mind.judging import Effect

Kind: TypeAlias = Literal[
    "multi_page",
    "edit",
    "upload",
    "download",
    "date",
    "autocomplete",
    "compare",
    "table",
    "append",
    "impossible",
    "ambiguous",
    "lost_answer",
    "long_text",
]


@dataclass(frozen=True, kw_only=True)
class LostAnswer:
    """The answer to the first request like this never arrives: the application stores it, and a proxy says 504."""

    method: str
    path: str
    """A pattern with `*`."""
    body: str = ""
    """What the body contains."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a user types, and how one knows that it was done."""

    id: str
    app: str
    kind: Kind
    goal: str
    at: str = "/"
    """The path where it begins."""
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Sequence[str] = ()
    """What `--file` gets: names of files below `files`."""
    outputs: Sequence[str] = ()
    """What `--output` gets."""
    person: str = ""
    """What the user would answer to a question; it is shown with the question only."""
    effects: Sequence[Effect] = ()
    answer: Sequence[str] = ()
    """What the reported answer or data must contain; spellings are parted by `|`."""
    must_ask: bool = False
    """It cannot be known without a question to the user."""
    possible: bool = True
    """If not, it ends right if it says so and has changed nothing."""
    trouble: LostAnswer | None = None
