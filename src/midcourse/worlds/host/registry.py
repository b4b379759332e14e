"""The worlds that a host opens, and the options that it allows. No other module is imported for a request.

A world declares which of its options only the operator of the host may set. `keeps` are options for files that a session writes,
each with its place in the session's folder. `host_options` are the others, such as programs, each with its default value, which
the operator can replace. A session that sends one of these options is refused.
"""

import asyncio
from collections.abc import Iterable, Mapping
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from midcourse.containment import Contained
from midcourse.files import folder_of_run
from midcourse.ports.world import World
from midcourse.worlds.host.threaded import start_in_thread


class NotServed(Exception):
    """The host does not serve this world, or not with these options. The client gets the message."""


class WorldRegistry:
    """The worlds of a host, named 'package.module:Class'. Each is imported when it is first requested."""

    def __init__(
        self,
        specs: Iterable[str],
        *,
        options: Mapping[str, Mapping[str, object]] | None = None,
        home: Path | None = None,
        private: bool = False,
    ) -> None:
        """`options` are those that the operator set for each world. Sessions write below `home`; without it, they write no files.

        Raise `NotServed` if a world does not have an option. A `private` host was started for one session by the process that opens it. That process sets all options.
        """
        self.specs = tuple(specs)
        self._options = options or {}
        self._home = home
        self._private = private
        self._kinds: dict[str, Any] = {}
        for spec, own in self._options.items():
            taken = signature(self.load(spec)).parameters
            takes_all = any(each.kind is Parameter.VAR_KEYWORD for each in taken.values())
            if unknown := [name for name in own if name not in taken and not takes_all]:
                raise NotServed(f"{spec} has no option '{unknown[0]}'; there is {', '.join(taken)}")

    async def make(self, spec: str, options: Mapping[str, Any], key: str = "") -> World:
        """Make a world. A world that may block gets its own thread; the others share the host's event loop."""
        if spec not in self.specs:
            raise NotServed(f"'{spec}' is not served here; there is {', '.join(self.specs) or 'none'}")
        try:
            async with Contained(keeps_process=True):
                kind = self._kinds.get(spec) or await asyncio.to_thread(self.load, spec)
                given = options if self._private else self._choose_options(spec, kind, options, key)
                if getattr(kind, "blocks", True):
                    return await start_in_thread(lambda: kind(**given))
                return kind(**given)
        except NotServed:
            raise
        except Exception as error:
            raise NotServed(f"{spec} cannot be made: {type(error).__name__}: {error}") from error

    def load(self, spec: str) -> Any:
        module, _, name = spec.partition(":")
        kind = self._kinds[spec] = getattr(import_module(module), name)
        return kind

    def _choose_options(self, spec: str, kind: Any, options: Mapping[str, Any], key: str) -> dict[str, Any]:
        keeps, usual = dict(getattr(kind, "keeps", {})), dict(getattr(kind, "host_options", {}))
        given = self._options.get(spec, {})
        refused = sorted({*options} & {*keeps, *usual, *given})
        if refused:
            names = ", ".join(refused)
            raise NotServed(
                f"{spec}: {names}: set by the operator of the host (midcourse fleet host --option), not by a session"
            )
        folder = None if self._home is None else self._home / folder_of_run(key)
        files = {} if folder is None else {option: str((folder / name).absolute()) for option, name in keeps.items()}
        return {**usual, **files, **given, **options}
