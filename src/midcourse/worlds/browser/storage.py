"""Cookies and local storage in a file: a session begins where an earlier one was."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from midcourse.files import atomic_write, private_folder

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext


class Storage:
    """Without a path it is nowhere. Whoever has the file is logged in, so it is for its owner's eyes only."""

    def __init__(self, path: str) -> None:
        self._path = Path(path).absolute() if path else None

    def load(self) -> dict[str, Any]:
        """Options for a context of Playwright's."""
        if self._path is None or not self._path.exists():
            return {}
        return {"storage_state": self._path}

    async def save(self, context: "BrowserContext") -> None:
        if self._path is None:
            return
        text = json.dumps(await context.storage_state())
        private_folder(self._path.parent)
        atomic_write(self._path, text)
