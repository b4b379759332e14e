"""No program of a desktop outlives it: not after `close`, and not after its process was killed with -9."""

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from midcourse.worlds.desktop import Desktop
from midcourse.worlds.desktop.display import MARK

pytestmark = pytest.mark.slow

OWNER = """
import asyncio, json, sys
from midcourse.worlds.desktop import Desktop

async def main():
    world = Desktop("mousepad", home=sys.argv[1])
    await world.open()
    print(json.dumps({"folder": str(world._running._display.folder)}), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def processes_of(folder: str) -> list[str]:
    found: list[str] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(MARK) == folder and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.name())
    return found


async def test_all_programs_end_with_the_desktop(home: Path) -> None:
    world = Desktop("mousepad", home=str(home))
    await world.open()
    folder = str(world._running._display.folder)
    try:
        assert {"Xvfb", "openbox", "mousepad"} <= set(processes_of(folder))
    finally:
        await world.close()
    assert processes_of(folder) == []
    assert not os.path.exists(folder)


async def test_all_programs_end_when_the_process_of_the_desktop_is_killed(home: Path) -> None:
    owner = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", OWNER, str(home)), stdout=asyncio.subprocess.PIPE
    )
    assert owner.stdout
    folder = str(json.loads(await owner.stdout.readline())["folder"])
    assert "mousepad" in processes_of(folder)
    owner.send_signal(signal.SIGKILL)
    await owner.wait()
    async with asyncio.timeout(60):
        while processes_of(folder) or os.path.exists(folder):
            await asyncio.sleep(0.05)
