"""Which worlds a host opens. Nothing else is ever imported, whatever a request names."""

import asyncio
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from midcourse.ports.world import World
from midcourse.worlds.host.threaded import in_its_own_thread


class NotServed(Exception):
    """There is no such world here, or not with these options. The message is for whoever asked for it."""


class Menu:
    """Worlds by 'package.module:Class', each imported when it is first asked for."""

    def __init__(self, specs: Iterable[str]) -> None:
        self.specs = tuple(specs)
        self._kinds: dict[str, Any] = {}

    async def make(self, spec: str, options: Mapping[str, Any]) -> World:
        """One that may block gets a thread of its own; the others share the host's event loop."""
        if spec not in self.specs:
            raise NotServed(f"'{spec}' is not served here; there is {', '.join(self.specs) or 'none'}")
        try:
            kind = self._kinds.get(spec) or await asyncio.to_thread(self.load, spec)
            if getattr(kind, "blocks", True):
                return await in_its_own_thread(lambda: kind(**options))
            return kind(**options)
        except Exception as error:
            raise NotServed(f"{spec} cannot be made: {type(error).__name__}: {error}") from error

    def load(self, spec: str) -> Any:
        module, _, name = spec.partition(":")
        kind = self._kinds[spec] = getattr(import_module(module), name)
        return kind
