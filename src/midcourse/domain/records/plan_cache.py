"""A cached segment of a plan that worked, for other runs of the same task with other inputs.

Nothing of the inputs it worked with is in it. Arguments are references or constants of the task; in every text `{name}`
stands for the input of that name, and a brace of the text's own is doubled.
"""

from dataclasses import dataclass

from midcourse.domain.plan import Draft


@dataclass(frozen=True, kw_only=True)
class KeptStep:
    """A step that finds its zone by role and label, since ids belong to another run."""

    role: str = ""
    label: str = ""
    draft: Draft
    """Its zone is empty, unless it acts on none."""


@dataclass(frozen=True, kw_only=True)
class KeptSegment:
    id: str
    """Digest of all that it is found by."""
    task: str
    """Digest of what the task asks for, independent of its inputs."""
    surface: str
    """Digest of the screen it was made for, without what the run had put there."""
    after: int
    """Irreversible steps that were finished before: the same screen may come up again later."""
    apart: tuple[str, ...] = ()
    """Inputs that no step passes on. They may have decided what is done, so for other values of them this is not it."""
    apart_digest: str = ""
    goal: str = ""
    title: str = ""
    """Of the screen."""
    steps: tuple[KeptStep, ...] = ()
    """None: on this screen the task is done."""
    final: bool = False
    run: str = ""
    version: int = 0
    """The run and plan that it was made of."""
    worked: int = 1
    """How many runs it has served, the first included."""
    worked_at: float = 0.0
