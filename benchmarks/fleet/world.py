"""The world of the fleet's trials: an office with counters that must be visited once each, and a log.

The log is independent of any run. It has every act with its beginning and its answer, and every effect with its time; one JSON line
each, for all offices of a host.
"""

import asyncio
import json
import time
from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from midcourse.domain.observation import Surface, fingerprint_of
from midcourse.domain.skill import Effect
from midcourse.ports.world import Call
from midcourse.worlds.base import BaseWorld, Outcome, Scene, Zone, probe, skill

Shown: TypeAlias = Literal["lasting", "probe", "toast"]
"""How a visit can be verified later: lasting on the screen, by a probe, or only by a toast that soon disappears."""
Fault: TypeAlias = Literal["", "error", "timeout", "late", "refused"]
"""What goes wrong at the first visit. error: done, but an error is shown. timeout: done, but not answered. late: an error is shown, and
it is done some time later. refused: an error is shown, and nothing is done."""

SKILLS: dict[Effect, str] = {"read": "consult", "set_state": "enter", "reversible": "reserve", "irreversible": "send"}
FLOOR = 4
"""Number of counters on a floor. The last counter of a floor leads to the next floor."""
TROUBLE = "Something went wrong"


@dataclass(frozen=True, kw_only=True)
class Counter:
    effect: Effect
    shown: Shown = "lasting"
    fault: Fault = ""

    @property
    def skill(self) -> str:
        return SKILLS[self.effect]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of the log."""

    what: Literal["began", "ended", "effect"]
    run: str
    counter: int
    at: float
    command: int = 0
    status: str = ""


class Office(BaseWorld):
    """An office. `padding` is the number of extra characters in every observation, as from a screenshot."""

    blocks = False

    def __init__(
        self,
        *,
        run: str,
        log: str,
        counters: Sequence[Mapping[str, Any]],
        act_seconds: float = 0.05,
        late_seconds: float = 0.5,
        timeout_seconds: float = 0.2,
        toast_seconds: float = 1.0,
        padding: int = 0,
        remembers: bool = False,
    ) -> None:
        """With `remembers`, a new session starts with what the log has from earlier sessions of this run."""
        super().__init__()
        self._run = run
        self._log = Path(log)
        self._counters = {number: Counter(**one) for number, one in enumerate(counters, start=1)}
        self._act_seconds = act_seconds
        self._late_seconds = late_seconds
        self._timeout_seconds = timeout_seconds
        self._toast_seconds = toast_seconds
        self._padding = padding
        self._done_at: dict[int, float] = {}
        self._visits: Tally[int] = Tally()
        self._toast = 0, 0.0
        self._error = False
        self._looks = 0
        for line in read_log(self._log) if remembers else ():
            if line.run == run:
                self._remember(line)

    def _remember(self, line: Line) -> None:
        if line.what == "began" and line.counter:
            self._visits[line.counter] += 1
        asked = line.counter and self._counters[line.counter].effect == "read"  # which has no effect in the log
        if line.what == "effect" or (asked and line.what == "ended" and line.status == "ok"):
            self._done_at.setdefault(line.counter, line.at)

    # --- skills and probes

    @skill(effect="read")
    async def consult(self, zone: Zone) -> Outcome | None:
        """Ask at a counter."""
        return await self._visit(zone)

    @skill
    async def enter(self, zone: Zone) -> Outcome | None:
        """Have something entered; twice is the same as once."""
        return await self._visit(zone)

    @skill(effect="reversible")
    async def reserve(self, zone: Zone) -> Outcome | None:
        """Reserve something; twice is two reservations."""
        return await self._visit(zone)

    @skill(effect="irreversible")
    async def send(self, zone: Zone) -> Outcome | None:
        """Have something sent."""
        return await self._visit(zone)

    @skill
    def dismiss(self, zone: Zone) -> None:
        """Close an error."""
        self._error = False

    @probe
    def visited(self, counter: int) -> bool:
        """Return whether the effect of this counter is there."""
        return self._is_done(counter)

    @probe
    def all_visited(self) -> bool:
        return all(self._is_done(number) for number in self._counters)

    # --- observations

    def look(self) -> Scene:
        self._looks += 1
        if self._error:
            return self._make_scene(TROUBLE, (Zone(id="ok", role="button", label="OK"),))
        floor = self._find_floor()
        first = floor * FLOOR + 1
        zones = (self._make_zone(number) for number in range(first, first + FLOOR) if number in self._counters)
        return self._make_scene(f"Floor {floor + 1}", (*zones, *self._make_toast()))

    def _make_scene(self, title: str, zones: tuple[Zone, ...]) -> Scene:
        """Make a scene. With padding, every picture differs, while the fingerprint depends only on title and zones."""
        if not self._padding:
            return Scene(title, *zones)
        picture = Zone(id="picture", role="image", label=f"{self._looks:08}".ljust(self._padding, "x"))
        return Scene(title, *zones, picture, fingerprint=fingerprint_of(Surface(title=title), zones))

    def _find_floor(self) -> int:
        last = (len(self._counters) - 1) // FLOOR
        return next((floor for floor in range(last) if not self._is_done((floor + 1) * FLOOR)), last)

    def _make_zone(self, number: int) -> Zone:
        lasting = self._counters[number].shown == "lasting"
        state = (("visited", self._is_done(number)),) if lasting else ()
        return Zone(id=f"counter_{number}", role="counter", label=f"Counter {number}", state=state)

    def _make_toast(self) -> tuple[Zone, ...]:
        number, until = self._toast
        return (Zone(id="toast", role="toast", label=f"Thanks from {number}"),) if time.time() < until else ()

    def _is_done(self, number: int) -> bool:
        return time.time() >= self._done_at.get(number, float("inf"))

    # --- acts

    async def _attempt(self, call: Call) -> Outcome:
        number = int(call.zone.removeprefix("counter_")) if call.zone.startswith("counter_") else 0
        self._write(Line(what="began", run=self._run, counter=number, at=time.time(), command=call.command))
        outcome = await super()._attempt(call)
        ended = Line(what="ended", run=self._run, counter=number, at=time.time(), command=call.command)
        self._write(Line(**{**asdict(ended), "status": outcome.status}))
        return outcome

    async def _visit(self, zone: Zone) -> Outcome | None:
        number = int(zone.id.removeprefix("counter_"))
        counter = self._counters[number]
        self._visits[number] += 1
        fault = counter.fault if self._visits[number] == 1 else ""
        await asyncio.sleep(self._act_seconds)
        if fault != "refused":
            self._record_effect(number, counter, time.time() + (self._late_seconds if fault == "late" else 0.0))
        if fault == "timeout":
            await asyncio.sleep(self._timeout_seconds)
            return Outcome(status="unknown", reason="timeout", detail="no answer in time")
        self._error = fault in ("error", "late", "refused")
        if not fault:
            self._toast = number, time.time() + self._toast_seconds
        return None

    def _record_effect(self, number: int, counter: Counter, at: float) -> None:
        """Log the effect, if there is one: reading has none, and entering the same again has none either."""
        new = number not in self._done_at
        self._done_at.setdefault(number, at)
        if counter.effect in ("reversible", "irreversible") or (counter.effect == "set_state" and new):
            self._write(Line(what="effect", run=self._run, counter=number, at=at))

    def _write(self, line: Line) -> None:
        with self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(line)) + "\n")


def read_log(log: Path) -> list[Line]:
    """Read the complete lines of the log, because another process may be writing."""
    if not log.exists():
        return []
    return [Line(**json.loads(line)) for line in log.read_text(encoding="utf-8").split("\n")[:-1]]
