"""What goes wrong on a desktop: drawn from a seed, and made to happen with real windows, signals and a slow server."""

import asyncio
import os
import random
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from midcourse.domain.outcome import Outcome
from midcourse.ports.world import Call
from midcourse.worlds.desktop import Desktop
from midcourse.worlds.desktop.input import Input

KINDS = ("dialog", "window", "renamed", "slow", "lost click")
CHANCE = 0.4
_ACTS = 6
"""Windows come up before one of the first acts: every story has at least so many."""


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """One seed's share of it."""

    dialog_at: int = 0
    """Before which act the preferences of the file manager come up; 0 for never."""
    window_at: int = 0
    """Before which act a window of another folder comes to the front."""
    renamed: bool = False
    """The control that matters has another name."""
    slow: float = 0.0
    """Seconds for which the program stands still in the act that matters, and a server takes to answer."""
    lost_click: bool = False
    """The first click on the control that matters does nothing."""

    @classmethod
    def of(cls, story: str, seed: int) -> "Trouble":
        """At least one kind."""
        chance = random.Random(f"{story} {seed}")
        kinds = {kind for kind in KINDS if chance.random() < CHANCE} or {chance.choice(KINDS)}
        return cls(
            dialog_at=chance.randint(1, _ACTS) if "dialog" in kinds else 0,
            window_at=chance.randint(1, _ACTS) if "window" in kinds else 0,
            renamed="renamed" in kinds,
            slow=round(chance.uniform(1.0, 3.0), 1) if "slow" in kinds else 0.0,
            lost_click="lost click" in kinds,
        )

    @property
    def kinds(self) -> tuple[str, ...]:
        here = (self.dialog_at, self.window_at, self.renamed, self.slow, self.lost_click)
        return tuple(kind for kind, is_here in zip(KINDS, here, strict=True) if is_here)


class TroubledDesktop(Desktop):
    """A desktop on which this happens. `matters` are the name and the other name of the control that matters."""

    name = "desktop"

    def __init__(self, command: str, trouble: Trouble, matters: tuple[str, str], *, home: str) -> None:
        super().__init__(command, home=home)
        self._trouble = trouble
        self._matters = matters
        self._acts = 0
        self._lost = False

    async def open(self) -> str:
        handle = await super().open()
        if self._trouble.renamed:
            self._running.windows.read_label = self._relabelled(self._running.windows.read_label)
        return handle

    def _relabelled(self, read_label: Callable[..., Any]) -> Callable[..., Any]:
        async def label(*where: Any) -> str:
            found = str(await read_label(*where))
            return self._matters[1] if found == self._matters[0] else found

        return label

    async def act(self, call: Call) -> Outcome:
        if not call.allowed:  # an allowed act was tried before
            self._acts += 1
            if self._acts == self._trouble.dialog_at:
                await self._running.start(["thunar-settings"])
            if self._acts == self._trouble.window_at:
                elsewhere = self._running.home / "elsewhere"
                elsewhere.mkdir()
                await self._running.start(["thunar", str(elsewhere)])
        return await super().act(call)

    async def _click_at(self, zone: Any, button: str = "left", times: int = 1) -> Outcome | None:
        front = self._running.view.front
        if zone.label not in self._matters or front is None:
            return await super()._click_at(zone, button, times)
        if self._trouble.lost_click and not self._lost:
            self._lost = True
            return None
        if self._trouble.slow:
            self._running.input = _Halting(self._running.input, front.program.pid, self._trouble.slow)
        return await super()._click_at(zone, button, times)


class _Halting(Input):
    """Halts a program for a while just before the next click reaches it."""

    def __init__(self, plain: Input, pid: int, seconds: float) -> None:
        super().__init__(plain._environment)
        self._pid = pid
        self._seconds = seconds
        self._halted = False

    async def click(self, x: int, y: int, button: str = "left", times: int = 1) -> Outcome | None:
        if not self._halted:
            self._halted = True
            os.kill(self._pid, signal.SIGSTOP)
            asyncio.get_running_loop().call_later(self._seconds, self._continue)
        return await super().click(x, y, button, times)

    def _continue(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGCONT)


class UnguardedDesktop(TroubledDesktop):
    """One that asks about nothing: each act is carried out as it comes."""

    name = "desktop"

    async def _attempt(self, call: Call) -> Outcome:
        await self.commit_set(call)
        return await super()._attempt(replace(call, allowed=True))
