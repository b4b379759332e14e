"""A cached segment of a plan that worked, for other runs of the same task with other inputs.

It contains no values of inputs. Arguments are references or constants of the task; in every text `{name}` stands for the
input of that name, and literal braces are doubled.
"""

from dataclasses import dataclass

from midcourse.domain.plan import Draft


@dataclass(frozen=True, kw_only=True)
class KeptStep:
    """A step that finds its zone by role and label, since ids belong to another run."""

    role: str = ""
    label: str = ""
    draft: Draft
    """The step with an empty zone, or `__global__`."""


@dataclass(frozen=True, kw_only=True)
class KeptSegment:
    """A cached segment, with what it is found by and how often it worked."""

    id: str
    """Digest of everything that it is found by."""
    task: str
    """Digest of what the task asks for, independent of its inputs."""
    surface: str
    """Digest of the screen it was made for, without what the run had entered."""
    after: int
    """The number of irreversible steps finished before it, since the same screen may appear again later."""
    apart: tuple[str, ...] = ()
    """Inputs that no step passes on. They may have determined the plan, so it applies only to the same values of them."""
    apart_digest: str = ""
    goal: str = ""
    title: str = ""
    """Title of the screen."""
    steps: tuple[KeptStep, ...] = ()
    """Empty: on this screen the task is done."""
    final: bool = False
    run: str = ""
    version: int = 0
    """The run and plan that it comes from."""
    worked: int = 1
    """The number of runs in which it worked, including the first."""
    worked_at: float = 0.0
