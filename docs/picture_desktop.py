"""Draws docs/img/look-desktop.png: mousepad asks whether to replace a file, as a planner sees it, with the zones drawn over it.

python docs/picture_desktop.py
"""

import asyncio
import tempfile
from pathlib import Path

from midcourse.domain.observation import Observation
from midcourse.planners.playbook import ZonePattern
from midcourse.testing.conformance import a_call
from midcourse.worlds import Desktop

PICTURE = Path(__file__).parent / "img" / "look-desktop.png"


async def see(desktop: Desktop) -> Observation:
    seen = await desktop.observe()
    assert isinstance(seen, Observation), seen
    return seen


async def do(desktop: Desktop, skill: str, zone: str = "", **arguments: str) -> None:
    """One act. A reversible one is announced first, and done when it is asked for again."""
    found = ZonePattern.parse(zone).zone_in(await see(desktop)) if zone else None
    call = a_call(skill, found, tuple(arguments.items()))
    if (await desktop.act(call)).reason == "would_change":
        await desktop.act(call)


async def draw(home: Path) -> bytes:
    desktop = Desktop("mousepad", home=str(home), width=900, height=500)
    await desktop.open()
    try:
        await do(desktop, "type", "textbox:text", text="Plan as far as you can see.")
        await do(desktop, "press_keys", keys="Control+S")
        await do(desktop, "type", "textbox:Name", text="note.txt")
        await do(desktop, "click", "button:Save")
        return await desktop.picture(await see(desktop))
    finally:
        await desktop.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "ada"
        home.mkdir()
        (home / "note.txt").write_text("What was here before.")
        PICTURE.write_bytes(asyncio.run(draw(home)))
    print(PICTURE)


if __name__ == "__main__":
    main()
