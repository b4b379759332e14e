"""The real clock. Tests put another in its place."""

import asyncio
import time


class SystemClock:
    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
