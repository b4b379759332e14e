"""Base class of the simulated worlds: a back end with an effect log, faults that are scheduled or random, and what a fault shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, ClassVar, Generic, Literal, TypedDict, TypeVar

from midcourse.domain.observation import Observation, Surface, Unseen, Zone
from midcourse.domain.outcome import Outcome
from midcourse.ports.clock import Clock, SystemClock
from midcourse.ports.world import Call
from midcourse.worlds.base import BaseWorld, Scene, failed, no_effect, skill, unreachable
from midcourse.worlds.simulated.drift import NO_DRIFT, Chance, Drift, parse_drift
from midcourse.worlds.simulated.effects import EffectLog, LoggedEffect
from midcourse.worlds.simulated.faults import (
    ACT_KINDS,
    LOOK_KINDS,
    SIGHT_KINDS,
    SPECIAL_KINDS,
    STORE_KINDS,
    ZONE_KINDS,
    ActKind,
    Fault,
    FaultKind,
    Premises,
    Schedule,
    Special,
    check_faults,
    parse_faults,
)


@dataclass(frozen=True, kw_only=True)
class Overlay:
    """An overlay that hides all other zones. It closes when its button is clicked, when its time is over, or by itself."""

    kind: Literal["popup", "error", "loading", "flicker"]
    title: str
    text: str
    button: str = ""
    until: float | None = None

    @property
    def button_id(self) -> str:
        return f"{self.kind}_button"

    def scene(self, under: Surface) -> Scene:
        role = "text" if self.button else "progressbar"
        zones = [Zone(id=f"{self.kind}_text", role=role, label=self.text)]
        if self.button:
            zones.append(Zone(id=self.button_id, role="button", label=self.button))
        return Scene(self.title, *zones, address=under.address, origin=under.origin)


WIDTH, HEIGHT, ROW = 300, 20, 24
ASIDE = 320


class Disguises:
    """The ids and labels that have changed since the session began."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._labels: dict[str, str] = {}

    def give_id(self, thing: str, shown_as: str) -> None:
        self._ids[thing] = shown_as

    def give_label(self, thing: str, label: str) -> None:
        self._labels[thing] = label

    def id_of(self, thing: str) -> str:
        return self._ids.get(thing, thing)

    def thing(self, zone_id: str) -> str:
        """The original id of the zone that is shown under this id."""
        return next((thing for thing, shown_as in self._ids.items() if shown_as == zone_id), zone_id)

    def disguise_zone(self, index: int, zone: Zone) -> Zone:
        """The zone as it is shown. Zones are laid out one below the other; a zone with a changed id is shifted to the right."""
        left = ASIDE if zone.id in self._ids else 0
        bounds = (left, ROW * index, WIDTH, HEIGHT)
        return replace(zone, id=self.id_of(zone.id), label=self._labels.get(zone.id, zone.label), bounds=bounds)


State = TypeVar("State")


class Simulation(TypedDict, total=False):
    """Options of every simulated world. All but the clock can be written in a task file."""

    effects: str
    """Path of the effect log; if it is empty, the log is kept in memory."""
    seed: int
    faults: Sequence[Fault | Mapping[str, object]]
    """Scheduled faults."""
    drift: Drift | str | Mapping[str, object]
    """Random faults: `calm`, `moderate`, `stormy`, or a rate for each kind of fault."""
    act_seconds: float
    """Seconds that pass at the start of each act, before it has an effect."""
    clock: Clock


class SimulatedWorld(BaseWorld, Generic[State]):
    """A world with a simulated session and back end. The session state is one frozen value; the back end is the effect log.

    The two are separate, so a fault can store an effect and show an error, or the reverse. An error page is the old state under
    an overlay.
    """

    state: State
    rebuilds = True
    blocks = False
    keeps: ClassVar[Mapping[str, str]] = {"effects": "effects.jsonl"}
    stores: ClassVar[tuple[str, ...]] = ()
    """Skills that leave effects in the back end."""
    popup: ClassVar[Overlay] = Overlay(kind="popup", title="Notice", text="Something wants attention.", button="OK")
    error: ClassVar[Overlay] = Overlay(kind="error", title="Error", text="Error. Please try again.", button="OK")
    loading: ClassVar[Overlay] = Overlay(kind="loading", title="Loading", text="Loading")
    flicker: ClassVar[Overlay] = Overlay(kind="flicker", title="Reconnecting", text="Connection lost, reconnecting")
    special: ClassVar[Special] = {}

    def __init__(
        self,
        state: State,
        *,
        effects: str = "",
        seed: int = 0,
        faults: Sequence[Fault | Mapping[str, object]] = (),
        drift: Drift | str | Mapping[str, object] = NO_DRIFT,
        act_seconds: float = 0.0,
        clock: Clock | None = None,
    ) -> None:
        super().__init__()
        premises = Premises(world=self.name, catalogue=self.catalogue(), stores=self.stores, special=self.special)
        self._ordered = parse_faults(faults)
        check_faults(self._ordered, premises)
        self._drift = parse_drift(drift, premises)
        self._at_first = state
        self.effects = EffectLog(effects)
        self._seed = seed
        self._clock = clock or SystemClock()
        self._act_seconds = act_seconds
        self._skill = ""
        self._store_fault: Fault | None = None
        self._begin()

    # --- for the worlds

    def scene(self) -> Scene:
        """The screen without overlays."""
        raise NotImplementedError

    def clicked(self, zone: Zone) -> Outcome | None:
        """Handle a click on a zone. Override it; by default a click does nothing."""

    def blocked(self, over: Overlay, call: Call) -> Outcome | None:
        """The outcome of a skill without a zone while an overlay covers the screen. None: the skill is carried out.

        Not called for `wait`, which is always possible.
        """
        return no_effect(f"'{over.title}' is in the way")

    def without_dialog(self) -> State | None:
        """The state after the open dialog or menu of the application is closed. None: none is open."""

    def logged_out(self) -> State | None:
        """The state after the session has expired. None: no user is logged in."""

    def store(self, effect: str, **values: Any) -> None:
        """Store an effect in the back end, unless a fault that is due prevents or delays it."""
        self._store_fault = next(iter(self._take_due_faults(STORE_KINDS, self._skill).values()), None)
        at = self._clock.now()
        if self._store_fault is not None:
            if self._store_fault.kind in ("error_not_stored", "success_not_stored"):
                return
            if self._store_fault.kind == "stored_late":
                at += self._store_fault.seconds
        self.effects.append(LoggedEffect(effect=effect, at=at, values=values))

    def happened(self, effect: str = "") -> tuple[LoggedEffect, ...]:
        """The effects that are visible in the back end now, oldest first."""
        return tuple(entry for entry in self.effects.present(self._clock.now()) if effect in ("", entry.effect))

    def draw_hex(self, *what: object) -> str:
        """Eight hexadecimal digits that depend only on the seed and on `what`."""
        return blake2b(repr((self._seed, *what)).encode(), digest_size=4).hexdigest()

    def keep_time_by(self, clock: Clock) -> None:
        """Set the time from now on. A replay that brings the world to a recorded state has its own clock."""
        self._clock = clock

    # --- the port

    async def open(self) -> str:
        """Begin a new session on the same back end. The counts of scheduled faults start again."""
        self._begin()
        return await super().open()

    @skill
    def click(self, zone: Zone) -> Outcome | None:
        """Click a zone."""
        over = self._find_top_overlay()
        if over is None:
            return self.clicked(zone)
        if zone.id == over.button_id:
            self._overlays.pop()
        return None

    @skill(effect="read")
    async def wait(self, seconds: float) -> Outcome | None:
        """Wait, for example until something has loaded. The next observation shows what is there."""
        if seconds < 0:
            return failed("bad_arguments", f"cannot wait {seconds:g} s")
        await self._clock.sleep(seconds)
        return None

    def look(self) -> Scene:
        screen = self._build_screen()
        zones = tuple(self._disguises.disguise_zone(index, zone) for index, zone in enumerate(screen.zones))
        where = screen.surface
        return Scene(where.title, *zones, address=where.address, origin=where.origin, fingerprint=screen.fingerprint)

    async def observe(self) -> Observation | Unseen:
        kinds: tuple[FaultKind, ...] = (*LOOK_KINDS, *SIGHT_KINDS)
        due = self._seeing = self._take_due_faults(tuple(kind for kind in kinds if self._can_have(kind)))
        self._flipped = "flip" in due and not self._flipped
        if fault := due.get("look_fails"):
            return Unseen(reason="failed", detail=fault.detail or "the screen could not be read")
        if "look_empty" in due:
            return Scene(self.look().surface.title).observed()
        return await super().observe()

    def _begin(self) -> None:
        self.state = self._at_first
        self._schedule, self._chance = Schedule(self._ordered), Chance(self._drift, self._seed)
        self._overlays: list[Overlay] = []
        self._flipped = False
        self._disguises = Disguises()
        self._due: dict[FaultKind, Fault] = {}
        self._seeing: dict[FaultKind, Fault] = {}

    def _take_due_faults(self, kinds: tuple[FaultKind, ...], skill: str = "") -> dict[FaultKind, Fault]:
        """The faults of these kinds that are due at this act or look. A scheduled fault takes precedence over a random one."""
        due = self._schedule.due(kinds, skill)
        for kind, fault in self._chance.due(kinds).items():
            due.setdefault(kind, fault)
        return due

    def _can_have(self, kind: FaultKind) -> bool:
        return kind not in SPECIAL_KINDS or kind in self.special

    def _can_meet(self, kind: ActKind, call: Call) -> bool:
        """Whether this fault can happen at this act. Other acts are neither counted nor drawn for."""
        if not self._can_have(kind):
            return False
        if kind in ZONE_KINDS:
            skill = self.catalogue().skill(call.skill)
            return skill is not None and skill.on_zone
        if kind == "dismissed":
            return bool(self._find_closable_overlay()) or self.without_dialog() is not None
        if kind == "expired":
            return self.logged_out() is not None
        return call.skill in (self.special.get(kind) or (call.skill,))

    async def _attempt(self, call: Call) -> Outcome:
        self._due = self._take_due_faults(tuple(kind for kind in ACT_KINDS if self._can_meet(kind, call)), call.skill)
        if "expired" in self._due and (login := self.logged_out()) is not None:
            self.state = login
        if "dismissed" in self._due:
            self._dismiss()
        if fault := self._due.get("popup"):
            self._cover(self.popup, fault)
        if "zone_moves" in self._due:
            self._move(call.zone)
        if fault := self._due.get("renamed"):
            self._rename(call.zone, fault.detail)
        return await super()._attempt(call)

    def _dismiss(self) -> None:
        if over := self._find_closable_overlay():
            self._overlays.remove(over)
        elif (closed := self.without_dialog()) is not None:
            self.state = closed

    def _move(self, zone_id: str) -> None:
        thing = self._disguises.thing(zone_id)
        self._disguises.give_id(thing, f"zone_{self.draw_hex(thing, self._disguises.id_of(thing))}")

    def _rename(self, zone_id: str, label: str) -> None:
        zone = next((zone for zone in self.look().zones if zone.id == zone_id), None)
        if zone is not None:
            self._disguises.give_label(self._disguises.thing(zone_id), label or f"{zone.label} (new)")
            self._move(zone_id)

    async def _find(self, zone_id: str) -> Zone | None:
        """Find the zone with its original id and label, which may differ from those on the screen."""
        shown = await super()._find(zone_id)
        if shown is None:
            return None
        thing = self._disguises.thing(shown.id)
        return next((zone for zone in self._build_screen().zones if zone.id == thing), None)

    async def _invoke(self, call: Call, arguments: dict[str, Any]) -> Outcome:
        if fault := self._due.get("transient"):
            return failed("busy", fault.detail or "busy with something else; try again later")
        if fault := self._due.get("structural"):
            return unreachable(fault.detail or "this cannot be reached from here")
        if "no_effect" in self._due:
            return Outcome()
        over = self._find_top_overlay()
        if over is not None and "zone" not in arguments and call.skill != "wait":
            if blocked := self.blocked(over, call):
                return blocked
            self._overlays.clear()
        if self._act_seconds:
            await self._clock.sleep(self._act_seconds)
        outcome = await self._do(call, arguments)
        if fault := self._due.get("slow_load"):
            self._cover(self.loading, fault, until=self._clock.now() + fault.seconds)
        if fault := self._due.get("done_but_timeout"):
            await self._clock.sleep(fault.seconds)
            return Outcome(status="unknown", reason="timeout", detail=fault.detail or "no answer in time")
        return outcome

    async def _do(self, call: Call, arguments: dict[str, Any]) -> Outcome:
        before, self._skill, self._store_fault = self.state, call.skill, None
        outcome = await super()._invoke(call, arguments)
        if self._store_fault is not None and self._store_fault.kind != "success_not_stored":
            self.state = before
            self._cover(self.error, self._store_fault)
        return outcome

    def _cover(self, overlay: Overlay, fault: Fault, until: float | None = None) -> None:
        self._overlays.append(replace(overlay, text=fault.detail or overlay.text, until=until))

    def _find_top_overlay(self) -> Overlay | None:
        if self._flipped:
            return self.flicker
        now = self._clock.now()
        self._overlays = [overlay for overlay in self._overlays if overlay.until is None or now < overlay.until]
        return self._overlays[-1] if self._overlays else None

    def _find_closable_overlay(self) -> Overlay | None:
        """The overlay that covers the screen, if it has a button to close it."""
        over = self._find_top_overlay()
        return over if over is not None and over.button else None

    def _build_screen(self) -> Scene:
        """The visible screen, with original ids and labels."""
        scene, over = self.scene(), self._find_top_overlay()
        return scene if over is None else over.scene(scene.surface)
