"""A store that drops notifications, so that a worker learns of some messages to its runs only by its sweep."""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any


class DroppingStore:
    """Drops notifications of a store with probability `share`. Writes each one to `log`, and whether it was dropped."""

    def __init__(self, store: Any, share: float, seed: int, log: Path) -> None:
        self._store = store
        self._share = share
        self._chance = random.Random(f"{seed} {os.getpid()}")
        self._log = log

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def listen(self, on_message: Callable[[str], None]) -> None:
        def hear(run_id: str) -> None:
            dropped = self._chance.random() < self._share
            with self._log.open("a", encoding="utf-8") as out:
                out.write(json.dumps({"run": run_id, "dropped": dropped}) + "\n")
            if not dropped:
                on_message(run_id)

        await self._store.listen(hear)
