"""Follows a file of JSON lines that other processes write."""

import json
from pathlib import Path
from typing import Any


class Tail:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._read_to = 0

    def read_new_lines(self) -> list[dict[str, Any]]:
        """Return the complete lines that were added since the last call."""
        if not self._file.exists() or self._file.stat().st_size <= self._read_to:
            return []
        with self._file.open("rb") as file:
            file.seek(self._read_to)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._read_to += len(whole) + len(newline)
        return [json.loads(line) for line in whole.splitlines()]
