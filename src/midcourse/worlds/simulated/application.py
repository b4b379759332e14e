"""A simulated desktop application with menus, nested dialogs, check boxes, text fields and context menus, built from a description."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from midcourse.domain.observation import Zone
from midcourse.domain.outcome import Outcome
from midcourse.worlds.base import Scene, failed, no_effect, not_sent, skill
from midcourse.worlds.simulated.base import SimulatedWorld, Simulation
from midcourse.worlds.simulated.windows import MAIN, Application, Control, Stack, View, parse_application


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
            self._flip(zone.id)
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
        shown = ((view, control) for view in views for control in view.controls if self._is_shown(control))
        zones = [self._build_zone(view, control) for view, control in shown]
        return Scene(views[0].title, *zones)

    def without_dialog(self) -> AppState | None:
        return self._compute_state_after_closing(keep=False) if len(self.state.stack) > 1 else None

    def _is_shown(self, control: Control) -> bool:
        return not control.shows or bool(dict(self.state.texts).get(control.shows))

    def _build_zone(self, view: View, control: Control) -> Zone:
        number = f"{view.name}/{control.label}"
        label = dict(self.state.texts).get(control.shows) or control.label
        if control.counts and (times := self.state.marks.count(number)):
            label = f"{label} ({times})"
        match control.role:
            case "checkbox":
                return Zone(
                    id=number, role="checkbox", label=label, state=(("checked", self._is_checked(control, number)),)
                )
            case "textbox":
                text = dict(self.state.texts).get(number, control.value)
                return Zone(id=number, role="textbox", label=label, state=(("value", text),))
            case _:
                return Zone(id=number, role="send_button" if control.sends else control.role, label=label)

    def _is_checked(self, control: Control, number: str) -> bool:
        return control.checked != (number in self.state.flipped)

    def _find_control(self, zone: Zone) -> tuple[View, Control]:
        name, _, label = zone.id.partition("/")
        view = self.application.view(name)
        return view, next(control for control in view.controls if control.label == label)

    # --- changes of the state

    def _flip(self, number: str) -> None:
        flipped = self.state.flipped
        without = tuple(each for each in flipped if each != number)
        self.state = replace(self.state, flipped=without if number in flipped else (*flipped, number))

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
