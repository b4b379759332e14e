"""Puts the built console into what is released, and refuses to release without it."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MISSING = "the console is not built, so that this package would have none: run `just console` first"


class ConsoleHook(BuildHookInterface[Any]):
    """A source archive, from which releases are made, needs the console; a checkout can be installed without Node."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if (Path(self.root) / "src" / "midcourse" / "server" / "dist" / "index.html").is_file():
            return
        if self.target_name == "sdist":
            raise RuntimeError(MISSING)
        if version != "editable":
            self.app.display_warning(MISSING)
