"""What the simulated worlds share: a back end that keeps its own log, and faults to order."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, ClassVar, Generic, TypedDict, TypeVar

from midcourse.domain.observation import Observation, Unseen, Zone
from midcourse.domain.outcome import Outcome
from midcourse.ports.clock import Clock, SystemClock
from midcourse.ports.world import Call
from midcourse.worlds.base import BaseWorld, Scene, failed, no_effect, skill, unreachable
from midcourse.worlds.simulated.effects import EffectLog, Happened
from midcourse.worlds.simulated.faults import (
    ACT_KINDS,
    LOOK_KINDS,
    STORE_KINDS,
    Fault,
    FaultKind,
    Schedule,
    check_faults,
    faults_from,
)
from midcourse.worlds.simulated.overlay import Overlay

State = TypeVar("State")


class Simulation(TypedDict, total=False):
    """What every simulated world can be told. All but the clock can be written in a task file."""

    effects: str
    """Path of the log of effects; nothing keeps it in memory."""
    seed: int
    faults: Sequence[Fault | Mapping[str, object]]
    act_seconds: float
    """How long each act takes before it does anything."""
    clock: Clock


class SimulatedWorld(BaseWorld, Generic[State]):
    """Session state is one frozen value; the back end is the log. An error page is the old state under an overlay.

    That split is what the faults of storing rest on: whether something happened and what the screen says about it are
    two things.
    """

    state: State
    stores: ClassVar[tuple[str, ...]] = ()
    """Skills that leave effects in the back end."""
    popup: ClassVar[Overlay] = Overlay(kind="popup", title="Notice", text="Something wants attention.", button="OK")
    error: ClassVar[Overlay] = Overlay(kind="error", title="Error", text="Error. Please try again.", button="OK")
    loading: ClassVar[Overlay] = Overlay(kind="loading", title="Loading", text="Loading")

    def __init__(
        self,
        state: State,
        *,
        effects: str = "",
        seed: int = 0,
        faults: Sequence[Fault | Mapping[str, object]] = (),
        act_seconds: float = 0.0,
        clock: Clock | None = None,
    ) -> None:
        super().__init__()
        self._ordered = faults_from(faults)
        check_faults(self.name, self._ordered, self.catalogue(), self.stores)
        self._at_first = state
        self.effects = EffectLog(effects)
        self._seed = seed
        self._clock = clock or SystemClock()
        self._act_seconds = act_seconds
        self._due: dict[FaultKind, Fault] = {}
        self._skill = ""
        self._store_fault: Fault | None = None
        self._begin()

    # --- for the worlds

    def scene(self) -> Scene:
        """The screen as it is underneath any overlay."""
        raise NotImplementedError

    def clicked(self, zone: Zone) -> Outcome | None:
        """What a click does; nothing, unless a world says otherwise."""

    def blocked(self, over: Overlay, call: Call) -> Outcome | None:
        """What becomes of a skill without a zone while something covers the screen. None: it gets through."""
        return no_effect(f"'{over.title}' is in the way")

    def store(self, effect: str, **values: Any) -> None:
        """Leave an effect in the back end, unless a fault has it otherwise."""
        due = self._schedule.due(STORE_KINDS, self._skill)
        self._store_fault = next(iter(due.values()), None)
        at = self._clock.now()
        if self._store_fault is not None:
            if self._store_fault.kind in ("error_not_stored", "success_not_stored"):
                return
            if self._store_fault.kind == "stored_late":
                at += self._store_fault.seconds
        self.effects.append(Happened(effect=effect, at=at, values=values))

    def happened(self, effect: str = "") -> tuple[Happened, ...]:
        """What the back end shows now, oldest first."""
        return tuple(one for one in self.effects.present(self._clock.now()) if effect in ("", one.effect))

    def drawn(self, *what: object) -> str:
        """Eight hexadecimal digits that depend on the seed and on `what`, and on nothing else."""
        return blake2b(repr((self._seed, *what)).encode(), digest_size=4).hexdigest()

    # --- the port

    async def open(self) -> str:
        """A new session on the same back end. Faults are counted anew."""
        self._begin()
        return await super().open()

    @skill
    def click(self, zone: Zone) -> Outcome | None:
        """Click a zone."""
        over = self._over()
        if over is None:
            return self.clicked(zone)
        if zone.id == over.button_id:
            self._overlays.pop()
        return None

    def look(self) -> Scene:
        scene, over = self.scene(), self._over()
        if over is not None:
            scene = over.scene(scene.surface)
        zones = tuple(self._placed(index, zone) for index, zone in enumerate(scene.zones))
        where = scene.surface
        return Scene(where.title, *zones, address=where.address, origin=where.origin, fingerprint=scene.fingerprint)

    async def observe(self) -> Observation | Unseen:
        due = self._schedule.due(LOOK_KINDS)
        if fault := due.get("look_fails"):
            return Unseen(reason="failed", detail=fault.detail or "the screen could not be read")
        if "look_empty" in due:
            return Scene(self.look().surface.title).observed()
        return await super().observe()

    def _begin(self) -> None:
        self.state = self._at_first
        self._schedule = Schedule(self._ordered)
        self._overlays: list[Overlay] = []
        self._moved: dict[str, str] = {}

    async def _attempt(self, call: Call) -> Outcome:
        skill = self.catalogue().skill(call.skill)
        on_zone = skill is not None and skill.on_zone
        kinds: tuple[FaultKind, ...] = tuple(kind for kind in ACT_KINDS if on_zone or kind != "zone_moves")
        self._due = self._schedule.due(kinds, call.skill)
        if fault := self._due.get("popup"):
            self._cover(self.popup, fault)
        if "zone_moves" in self._due:
            thing = self._thing(call.zone)
            self._moved[thing] = f"zone_{self.drawn(thing, self._moved.get(thing))}"
        return await super()._attempt(call)

    async def _find(self, zone_id: str) -> Zone | None:
        """A skill is given the zone as the world knows it, whatever id it goes by at the moment."""
        zone = await super()._find(zone_id)
        return None if zone is None else replace(zone, id=self._thing(zone.id))

    async def _invoke(self, call: Call, arguments: dict[str, Any]) -> Outcome:
        if fault := self._due.get("transient"):
            return failed("busy", fault.detail or "busy with something else; try again later")
        if fault := self._due.get("structural"):
            return unreachable(fault.detail or "this cannot be reached from here")
        if "no_effect" in self._due:
            return Outcome()
        over = self._over()
        if over is not None and "zone" not in arguments:
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

    def _over(self) -> Overlay | None:
        now = self._clock.now()
        self._overlays = [one for one in self._overlays if one.until is None or now < one.until]
        return self._overlays[-1] if self._overlays else None

    def _placed(self, index: int, zone: Zone) -> Zone:
        """One zone below the other; a moved one is to the right."""
        moved = self._moved.get(zone.id)
        left = 320 if moved else 0
        bounds = (left, 24 * index, left + 300, 24 * index + 20)
        return replace(zone, id=moved or zone.id, bounds=bounds)

    def _thing(self, zone_id: str) -> str:
        return next((thing for thing, moved in self._moved.items() if moved == zone_id), zone_id)
