"""Follow a file of JSON lines that others write."""

import json
from pathlib import Path
from typing import Any


class Tail:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._read_to = 0

    def new(self) -> list[dict[str, Any]]:
        """Whole lines that were not there last time."""
        if not self._file.exists() or self._file.stat().st_size <= self._read_to:
            return []
        with self._file.open("rb") as file:
            file.seek(self._read_to)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._read_to += len(whole) + len(newline)
        return [json.loads(line) for line in whole.splitlines()]
