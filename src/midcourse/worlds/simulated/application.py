"""A simulated desktop application with menus, nested dialogs, check boxes, text fields and context menus, built from a description."""

import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Literal, TypeAlias, Unpack, cast

from pydantic import ValidationError

from midcourse.codec import decode
from midcourse.domain.observation import Zone
from midcourse.domain.outcome import Outcome
from midcourse.errors import SkillInvalid
from midcourse.worlds.base import Scene, failed, no_effect, not_sent, skill
from midcourse.worlds.simulated.base import SimulatedWorld, Simulation

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
    described: list[Mapping[str, object]] = []
    for view in views:
        controls = cast(Sequence[Mapping[str, object]], view.get("controls", ()))
        described.append({**view, "controls": [_check_fields(Control, control) for control in controls]})
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


def _check_fields(kind: type[View | Control], value: Mapping[str, object]) -> Mapping[str, object]:
    known = [field.name for field in fields(kind)]
    if wrong := [name for name in value if name not in known]:
        raise SkillInvalid(f"a {kind.__name__.lower()} has no {', '.join(map(repr, wrong))}; it has {', '.join(known)}")
    return value


@dataclass(frozen=True, kw_only=True)
class AppState:
    stack: Stack = (MAIN,)
    texts: tuple[tuple[str, str], ...] = ()
    """The texts that were entered, by control."""
    flipped: tuple[str, ...] = ()
    """Check boxes that differ from their initial state."""
    marks: tuple[str, ...] = ()
    """Controls with `counts` that were clicked, once for each click."""
    before: tuple["AppState", ...] = ()
    """The state before each open dialog, which is restored if the dialog is cancelled."""


EMPTY = Application(views=(View(name=MAIN, title="Window", kind="window"),))
"""An application with one empty window, used if none is described."""


class Windows(SimulatedWorld[AppState]):
    """A simulated desktop application with menus, nested dialogs and context menus, built from an `Application`."""

    name = "windows"
    kind = "desktop"
    stores = ("send",)

    def __init__(
        self,
        application: Application | None = None,
        *,
        views: Sequence[Mapping[str, object]] = (),
        shortcuts: Mapping[str, str] | None = None,
        **simulation: Unpack[Simulation],
    ) -> None:
        """An `application`, or one that a task file describes by its `views`, the main window first, and its `shortcuts`."""
        self.application = application or (parse_application(views, shortcuts or {}) if views else EMPTY)
        super().__init__(AppState(), **simulation)

    def steps_to(self, view: str) -> int:
        """The minimum number of clicks to this view, as a perfect judge would know it."""
        return self.application.steps_to(view, self.state.stack)

    # --- skills

    def clicked(self, zone: Zone) -> Outcome | None:
        view, control = self._find_control(zone)
        top = self.application.view(self.state.stack[-1])
        if control.forbidden:
            return failed("permission", control.forbidden)
        if top.kind == "menu" and top is not view and not control.opens:
            self._pop_menus()  # a click elsewhere only closes the menu
        elif control.opens:
            self._open(control.opens, view)
        elif control.closes:
            self._close(keep=control.closes == "keep")
        elif control.role == "checkbox":
            flipped = self.state.flipped
            without = tuple(each for each in flipped if each != zone.id)
            self.state = replace(self.state, flipped=without if zone.id in flipped else (*flipped, zone.id))
        elif control.counts:
            self.state = replace(self.state, marks=(*self.state.marks, zone.id))
            self._pop_menus()
        elif view.kind == "menu":
            self._pop_menus()
        return None

    @skill
    def right_click(self, zone: Zone) -> Outcome | None:
        """Click with the other button: some things have a menu of their own."""
        view, control = self._find_control(zone)
        if not control.context:
            return no_effect(f"{control.role} '{control.label}' has no menu")
        self._open(control.context, view)
        return None

    @skill
    def type_text(self, zone: Zone, text: str) -> Outcome | None:
        """Write into a field, in place of what is there."""
        if zone.role != "textbox":
            return failed("wrong_target", f"cannot write into {zone.role} '{zone.label}'")
        others = tuple(pair for pair in self.state.texts if pair[0] != zone.id)
        self.state = replace(self.state, texts=(*others, (zone.id, text)))
        return None

    @skill
    def press(self, key: str) -> None:
        """Press a key or a shortcut. Escape closes what is on top, Enter agrees to a dialog."""
        top = self.application.view(self.state.stack[-1])
        into = {name.lower(): view for name, view in self.application.shortcuts}.get(key.lower())
        if key.lower() == "escape":
            self._close(keep=False)
        elif key.lower() == "enter" and top.kind == "dialog":
            self._close(keep=True)
        elif into and len(self.application.usable(self.state.stack)) == len(self.state.stack):
            self._pop_menus()
            self._open(into, self.application.view(MAIN))

    @skill(effect="irreversible")
    def send(self, zone: Zone) -> Outcome | None:
        """Press what sends something."""
        _, control = self._find_control(zone)
        if not control.sends:
            return not_sent("wrong_target", f"{control.role} '{control.label}' sends nothing")
        self.store("sent", what=control.label)
        return None

    # --- the screen

    def scene(self) -> Scene:
        views = self.application.usable(self.state.stack)
        texts = dict(self.state.texts)
        zones = [
            self._build_zone(view, control)
            for view in views
            for control in view.controls
            if not control.shows or texts.get(control.shows)
        ]
        return Scene(views[0].title, *zones)

    def without_dialog(self) -> AppState | None:
        return self._compute_state_after_closing(keep=False) if len(self.state.stack) > 1 else None

    def _build_zone(self, view: View, control: Control) -> Zone:
        number = f"{view.name}/{control.label}"
        label = dict(self.state.texts).get(control.shows) or control.label
        if control.counts and (times := self.state.marks.count(number)):
            label = f"{label} ({times})"
        match control.role:
            case "checkbox":
                checked = control.checked != (number in self.state.flipped)
                return Zone(id=number, role="checkbox", label=label, state=(("checked", checked),))
            case "textbox":
                text = dict(self.state.texts).get(number, control.value)
                return Zone(id=number, role="textbox", label=label, state=(("value", text),))
            case _:
                return Zone(id=number, role="send_button" if control.sends else control.role, label=label)

    def _find_control(self, zone: Zone) -> tuple[View, Control]:
        name, _, label = zone.id.partition("/")
        view = self.application.view(name)
        return view, next(control for control in view.controls if control.label == label)

    # --- changes of the state

    def _open(self, name: str, by: View) -> None:
        state, stack = self.state, self.application.open_view(self.state.stack, name, by)
        if self.application.view(name).kind == "dialog":
            quiet = replace(state, stack=stack[:-1])
            self.state = replace(state, stack=stack, before=(*state.before, quiet))
        else:
            self.state = replace(state, stack=stack)

    def _close(self, *, keep: bool) -> None:
        self.state = self._compute_state_after_closing(keep=keep)

    def _compute_state_after_closing(self, *, keep: bool) -> AppState:
        """The state after the top view is closed. Cancelling a dialog restores texts and check boxes."""
        state = self.state
        if self.application.view(state.stack[-1]).kind != "dialog":
            return replace(state, stack=self.application.close_top(state.stack))
        before = state.before[-1]
        if keep:
            return replace(state, stack=before.stack, before=before.before)
        return replace(before, marks=state.marks)

    def _pop_menus(self) -> None:
        stack = self.state.stack
        while self.application.view(stack[-1]).kind == "menu":
            stack = stack[:-1]
        self.state = replace(self.state, stack=stack)
