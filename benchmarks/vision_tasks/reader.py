"""The reader of the benchmark as a port: hands PNG bytes and their size to its process, and makes zones of the answer."""

import asyncio
import json
import re
import sys
from collections import Counter
from typing import Any

from midcourse.domain.budget import FREE
from midcourse.domain.observation import Zone
from midcourse.ports.reader import Picture, Sighting

READER = "benchmarks.vision_tasks.reader_process"
_LONGEST = 2**22
"""Bytes of an answer."""


class ProcessReader:
    """One process for all pictures, started with the first. It is told nothing but a picture and its size."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self.pictures = 0

    async def read(self, picture: Picture) -> Sighting:
        assert picture.size, "the world says what its picture shows"
        if self._process is None:
            pipe = asyncio.subprocess.PIPE
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", READER, stdin=pipe, stdout=pipe, limit=_LONGEST
            )
        assert self._process.stdin
        assert self._process.stdout
        width, height = picture.size
        self._process.stdin.write(f"{len(picture.png)} {width} {height}\n".encode() + picture.png)
        await self._process.stdin.drain()
        self.pictures += 1
        zones = build_zones(json.loads(await self._process.stdout.readline()))
        return Sighting(zones=zones, why="" if zones else "nothing was found", cost=FREE)

    async def end(self) -> None:
        if self._process is not None:
            assert self._process.stdin
            self._process.stdin.close()
            await self._process.wait()


def build_zones(found: list[dict[str, Any]]) -> tuple[Zone, ...]:
    times: Counter[str] = Counter()
    zones: list[Zone] = []
    for one in found:
        name = re.sub(r"[^a-z0-9]+", "-", f"{one['role']} {one['label']}".lower()).strip("-")
        times[name] += 1
        left, top, width, height = one["bounds"]
        zones.append(
            Zone(
                id=f"{name}-{times[name]}",
                role=one["role"],
                label=one["label"],
                bounds=(left, top, max(width, 1), max(height, 1)),
                state=tuple(one["state"].items()),
            )
        )
    return tuple(zones)
