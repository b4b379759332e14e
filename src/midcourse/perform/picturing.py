"""Pictures of observations: fetched from the world, stored with the run, and read again for models.

A picture that cannot be fetched, stored or read does not fail a run: the observation is then used without it.
"""

import asyncio
import logging

from midcourse.containment import Contained
from midcourse.errors import TaskInvalid
from midcourse.perform.ports import Deadline, Ports
from midcourse.pictures import read_picture, to_png
from midcourse.ports.abilities import offers
from midcourse.ports.blobs import Blob
from midcourse.ports.world import Pictured

log = logging.getLogger(__name__)


async def store_picture(ports: Ports, digest: str, time: Deadline) -> Blob | None:
    """Fetch the screenshot that the world's latest observation names, and store it with the run.

    None: it is not available, it is not a picture, or it could not be stored in time.
    """
    if ports.blobs is None or not offers(ports.world, Pictured):
        return None
    try:
        async with Contained(time.left()):
            data = await ports.world.read_screenshot(digest)
            picture = read_picture(data) if data is not None else None
            if picture is None or picture.digest != digest:
                return None
            await ports.blobs.put(ports.run_id, picture)
    except Exception as error:  # a world of the user may raise anything
        log.warning("a screenshot of run %s was not stored: %s: %s", ports.run_id, type(error).__name__, error)
        return None
    return picture


async def read_stored(ports: Ports, digest: str) -> Blob | None:
    """A screenshot of this run."""
    try:
        return await ports.blobs.read(ports.run_id, digest) if ports.blobs else None
    except OSError as error:
        log.warning("a screenshot of run %s was not read: %s", ports.run_id, error)
        return None


async def as_png(picture: Blob | None) -> bytes:
    """The picture as PNG; empty if there is none."""
    if picture is None or not picture.media_type.startswith("image/"):
        return b""
    try:
        return await asyncio.to_thread(to_png, picture)
    except (OSError, TaskInvalid) as error:  # Pillow raises OSError for data that it cannot read
        log.warning("a picture cannot be shown to a model: %s", error)
        return b""
