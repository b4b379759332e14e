"""The camera of the cell: a rendered picture, and where each object is in it."""

import struct
import sys
import zlib
from ctypes.util import find_library
from importlib import import_module
from itertools import product
from os import environ
from typing import Any, TypeAlias

import numpy as np

from midcourse.worlds.robot.cell import HEIGHT, WIDTH, Cell, Pose, mujoco
from midcourse.worlds.robot.layout import HALF

Box: TypeAlias = tuple[int, int, int, int]
NO_GL = "no pictures can be taken of the cell: neither libEGL nor libOSMesa is installed"
INSTALL_GL = "apt install libegl1 libgl1"
LIBRARIES = {"egl": "EGL", "osmesa": "OSMesa"}


def find_gl() -> str | None:
    """Return the OpenGL library to render with, without a display: MUJOCO_GL if it is set, else an installed one, or None."""
    if wanted := environ.get("MUJOCO_GL", "").strip().lower():
        return wanted
    if sys.platform != "linux":
        return "cgl" if sys.platform == "darwin" else "glfw"
    return next((name for name, library in LIBRARIES.items() if find_library(library)), None)


class Camera:
    """Renders in the thread of the cell. Without a library for it, `picture` returns nothing and `missing` says why."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        self._context: Any = None
        self._renderer: Any = None
        self._scene: Any = None
        self.missing = ""

    def picture(self) -> bytes:
        """A PNG of the cell; empty if nothing can render it."""
        if not self._prepare():
            return b""
        self._context.make_current()
        model, data, view = self._cell.model, self._cell.data, mujoco.MjvCamera()
        view.type, view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, model.camera("camera").id
        everything = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(model, data, mujoco.MjvOption(), None, view, everything, self._scene)
        whole, pixels = mujoco.MjrRect(0, 0, WIDTH, HEIGHT), np.zeros((HEIGHT, WIDTH, 3), dtype=np.uint8)
        mujoco.mjr_render(whole, self._scene, self._renderer)
        mujoco.mjr_readPixels(pixels, None, whole, self._renderer)
        return _encode_png(np.flipud(pixels).tobytes())

    def bounds(self, pose: Pose) -> Box | None:
        """Left, top, width and height of an object in the picture, in pixels; None if it is outside."""
        corners = np.array(list(product((-HALF, HALF), repeat=3))) + np.array([pose.x, pose.y, pose.z])
        view = self._cell.data.camera("camera")
        seen = (corners - np.array(view.xpos)) @ np.array(view.xmat).reshape(3, 3)
        if (seen[:, 2] >= 0).any():
            return None
        scale = HEIGHT / 2 / np.tan(np.radians(self._cell.model.camera("camera").fovy[0]) / 2)
        across, down = WIDTH / 2 - scale * seen[:, 0] / seen[:, 2], HEIGHT / 2 + scale * seen[:, 1] / seen[:, 2]
        left, top, right, bottom = (round(float(edge)) for edge in (across.min(), down.min(), across.max(), down.max()))
        inside = left < WIDTH and top < HEIGHT and right > 0 and bottom > 0
        return (left, top, right - left, bottom - top) if inside else None

    def close(self) -> None:
        """Free the context, in the thread that made it."""
        if self._renderer is not None:
            self._context.make_current()
            self._renderer.free()
            self._context.free()
        self._context = self._renderer = self._scene = None

    def _prepare(self) -> bool:
        if self._renderer is not None or self.missing:
            return not self.missing
        gl = find_gl()
        if gl is None:
            self.missing = f"{NO_GL}. Type: {INSTALL_GL}"
            return False
        try:
            self._context = import_module(f"mujoco.{gl}").GLContext(WIDTH, HEIGHT)
            self._context.make_current()
            self._renderer = mujoco.MjrContext(self._cell.model, mujoco.mjtFontScale.mjFONTSCALE_150.value)
        except Exception as trouble:  # drivers and PyOpenGL raise all sorts of errors here
            self.missing = f"the cell cannot be pictured: {gl} does not work here: {trouble or type(trouble).__name__}"
            return False
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._renderer)
        self._scene = mujoco.MjvScene(self._cell.model, maxgeom=500)
        return True


def _encode_png(pixels: bytes) -> bytes:
    """Encode an RGB picture of the camera's size as PNG."""
    row = WIDTH * 3
    lines = b"".join(b"\0" + pixels[start : start + row] for start in range(0, len(pixels), row))
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
