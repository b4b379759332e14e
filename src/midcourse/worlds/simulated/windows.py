"""The model of a simulated application: windows, dialogs and menus, their controls, and the view that each click opens."""

import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal, TypeAlias, cast

from pydantic import ValidationError

from midcourse.codec import decode
from midcourse.errors import SkillInvalid

Role: TypeAlias = Literal["menu", "menuitem", "button", "checkbox", "textbox", "row", "text"]
MAIN = "main"


@dataclass(frozen=True, kw_only=True)
class Control:
    """One control of a view. A click does at most one of: forbidden, opens, closes, counts."""

    label: str
    role: Role = "button"
    opens: str = ""
    """The view that a click leads to."""
    forbidden: str = ""
    """Why a click on it is not permitted: it fails as `permission` with this message."""
    shows: str = ""
    """A text field, as `view/label`: its text becomes the label of this control, which is hidden while the field is empty."""
    context: str = ""
    """The menu that a right click opens."""
    closes: Literal["", "keep", "discard"] = ""
    """Whether a click closes the dialog, and whether the changes made in it are kept or discarded."""
    counts: bool = False
    """Whether clicks are counted. The count cannot be undone."""
    sends: bool = False
    """Whether pressing it has an effect outside the application, such as a message or a payment."""
    value: str = ""
    checked: bool = False


@dataclass(frozen=True, kw_only=True)
class View:
    """A window, dialog or menu of a simulated application, with its controls."""

    name: str
    title: str
    kind: Literal["window", "dialog", "menu"] = "dialog"
    controls: tuple[Control, ...] = ()


Stack: TypeAlias = tuple[str, ...]
"""Views that are open, the one on top last. Nothing below a dialog can be used."""


@dataclass(frozen=True, kw_only=True)
class Application:
    """The description of a simulated application: its views, the main window first."""

    views: tuple[View, ...]
    shortcuts: tuple[tuple[str, str], ...] = ()
    """Keys that open a view from the main window."""

    @cached_property
    def _by_name(self) -> dict[str, View]:
        return {view.name: view for view in self.views}

    @cached_property
    def _known(self) -> dict[Stack, dict[str, int]]:
        return {}

    def view(self, name: str) -> View:
        return self._by_name[name]

    def usable(self, stack: Stack) -> tuple[View, ...]:
        """The views that can be used: the topmost window or dialog, and the menus above it."""
        base = max(place for place, name in enumerate(stack) if self.view(name).kind != "menu")
        return tuple(self.view(name) for name in stack[base:])

    def open_view(self, stack: Stack, into: str, by: View) -> Stack:
        """The stack after opening a view. A dialog closes all menus; a menu opens on top of the view that it was opened from."""
        place = stack.index(by.name)
        if self.view(into).kind == "menu":
            return (*stack[: place + 1], into)
        return (*(name for name in stack[: place + 1] if self.view(name).kind != "menu"), into)

    def close_top(self, stack: Stack) -> Stack:
        return stack[:-1] if len(stack) > 1 else stack

    def list_next_stacks(self, stack: Stack) -> tuple[Stack, ...]:
        """Every stack that one click can lead to. Shortcuts are not included, since they are not visible."""
        found = [self.close_top(stack)]
        for view in self.usable(stack):
            for control in view.controls:
                found += [self.open_view(stack, into, view) for into in (control.opens, control.context) if into]
        return tuple(dict.fromkeys(found))

    def steps_to(self, goal: str, stack: Stack) -> int:
        """The minimum number of clicks to open this view."""
        if stack not in self._known:
            self._known[stack] = self._count_steps_from(stack)
        return self._known[stack][goal]

    def _count_steps_from(self, start: Stack) -> dict[str, int]:
        queue, seen = deque([(start, 0)]), {start}
        found: dict[str, int] = {}
        while queue:
            stack, steps = queue.popleft()
            for name in stack:
                found.setdefault(name, steps)
            for nxt in self.list_next_stacks(stack):
                if nxt not in seen:
                    seen.add(nxt)
                    queue.append((nxt, steps + 1))
        return found


def parse_application(views: Sequence[Mapping[str, object]], shortcuts: Mapping[str, str]) -> Application:
    """Build the application that a task file describes. Raises `SkillInvalid` for unknown keys and for views that do not exist."""
    described = [
        {**view, "controls": [_check_fields(Control, control) for control in _list_controls(view)]} for view in views
    ]
    values = {"views": [_check_fields(View, view) for view in described], "shortcuts": list(shortcuts.items())}
    try:
        application = decode(Application, json.dumps(values))
    except ValidationError as error:
        first = error.errors()[0]
        raise SkillInvalid(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    names = [view.name for view in application.views]
    if names[:1] != [MAIN]:
        raise SkillInvalid(f"the first view of an application is '{MAIN}', its main window")
    leads = [
        into
        for view in application.views
        for control in view.controls
        for into in (control.opens, control.context)
        if into
    ]
    for name in (*leads, *shortcuts.values()):
        if name not in names:
            raise SkillInvalid(f"there is no view '{name}'; there is {', '.join(names)}")
    return application


def _list_controls(view: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    return cast(Sequence[Mapping[str, object]], view.get("controls", ()))


def _check_fields(kind: type[View | Control], value: Mapping[str, object]) -> Mapping[str, object]:
    known = [field.name for field in fields(kind)]
    if wrong := [name for name in value if name not in known]:
        raise SkillInvalid(f"a {kind.__name__.lower()} has no {', '.join(map(repr, wrong))}; it has {', '.join(known)}")
    return value
