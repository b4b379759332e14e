"""A story: what is to be done in a program, by which rules, and how its effects are counted outside of it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from midcourse.domain.expectation import Expectation, Probe, SurfaceMatches
from midcourse.domain.plan import Draft
from midcourse.domain.task import Task
from midcourse.planners import Rule
from midcourse.ports.planner import Planner


@dataclass(frozen=True)
class Truth:
    """Counted in files and at the mail server."""

    done: bool
    twice: int = 0
    """Effects beyond the one that was to happen."""


@dataclass(frozen=True, kw_only=True)
class Started:
    """A story that is prepared in a home folder."""

    command: str
    planner: Planner
    task: Task
    truth: Callable[[], Truth]
    renamed: tuple[str, str]
    """The label of the control that matters, and the other name that it may have."""


class Story(Protocol):
    def __call__(self, home: Path, *, slow: float = 0.0) -> AbstractContextManager[Started]:
        """Prepare it in this home folder. `slow` is how many seconds a server takes, where there is one."""
        ...


def title(pattern: str) -> Expectation:
    return Expectation(checks=[SurfaceMatches(pattern=pattern)])


def there(name: str, **arguments: str) -> Probe:
    return Probe(name=name, arguments=dict(arguments))


def type_into(field: str, text: str, says: str) -> Draft:
    return Draft(zone=field, skill="type", arguments={"text": text}, says=says)


def press(keys: str, says: str, *, transition: bool = True) -> Draft:
    return Draft(skill="press_keys", arguments={"keys": keys}, says=says, transition=transition)


def click(zone: str, says: str, *, expect: Expectation | None = None, absent_when: Expectation | None = None) -> Draft:
    return Draft(zone=zone, skill="click", says=says, transition=True, expect=expect, absent_when=absent_when)


def interruptions(own_window: str) -> tuple[Rule, ...]:
    """Rules for what may come in between."""
    wait = Draft(skill="wait", arguments={"seconds": 2.0}, says="Wait a moment", transition=True)
    back = Draft(zone=f"window:{own_window}", skill="switch_window", says="Back to the own window", transition=True)
    return (
        Rule(on="File Manager Preferences", steps=(click("button:Close*", "Close what came up"),)),
        Rule(on="elsewhere - Thunar", steps=(back,)),
        Rule(on="* does not answer", steps=(wait,)),
    )
