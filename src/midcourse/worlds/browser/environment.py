"""The environment variables of Chromium and of Playwright's driver: an allow-list, so that they contain no keys or secrets.

An attacker who breaks out of a page into one of these processes reads its environment first.
"""

import os
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from pathlib import Path

# fmt: off
ALLOWED = frozenset((
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP", "DISPLAY",
    "WAYLAND_DISPLAY", "XAUTHORITY", "LD_LIBRARY_PATH", "CHROME_DEVEL_SANDBOX", "PLAYWRIGHT_BROWSERS_PATH",
    "PLAYWRIGHT_NODEJS_PATH", "NODE_COMPILE_CACHE", "FONTCONFIG_FILE", "FONTCONFIG_PATH", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT",
    "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMFILES", "PROGRAMDATA",
))
# fmt: on
_ALLOWED_BEGINNINGS = ("LC_", "XDG_")
_PROGRAMS = Path(__file__).parent / "programs"
"""The folder of replacements for the programs with which Chromium opens links such as `mailto:`, bypassing the proxy.

It is part of the package instead of being written for each browser, so that a killed process leaves no folder behind.
"""
_TRANSPORTS = ("playwright._impl._transport", "playwright._impl.transport")
"""The modules in which Playwright starts its driver, depending on its version."""

_minimal: ContextVar[bool] = ContextVar("minimal", default=False)


def minimal_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment variables that a browser needs."""
    return {
        name: value
        for name, value in environment.items()
        if name.upper() in ALLOWED or name.upper().startswith(_ALLOWED_BEGINNINGS)
    }


def browser_environment() -> dict[str, str | float | bool]:
    """Return Chromium's environment. On Linux its PATH begins with programs that do nothing, to replace xdg-open and xdg-email.

    Raise `ConnectionError` if these are not executable, because Chromium would then find the real ones.
    """
    environment: dict[str, str | float | bool] = {**minimal_environment()}
    if sys.platform == "linux":
        for program in ("xdg-email", "xdg-open"):
            if not os.access(_PROGRAMS / program, os.X_OK):
                raise ConnectionError(f"{_PROGRAMS / program} is not executable; install Midcourse again")
        environment["PATH"] = f"{_PROGRAMS}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return environment


@contextmanager
def minimal_driver_environment() -> Generator[None]:
    """Give the minimal environment to a driver that this task starts while the context is open. Other drivers keep the usual one.

    Raise `ConnectionError` if this version of Playwright cannot do so.
    """
    if not _patch_driver_environment():
        raise ConnectionError(
            "this version of Playwright cannot be started with a minimal environment; use another one"
        )
    token = _minimal.set(True)
    try:
        yield
    finally:
        _minimal.reset(token)


@cache
def _patch_driver_environment() -> bool:
    """Patch Playwright, which has no option for the environment of its driver, only for that of the browser. Return whether that worked."""
    for name in _TRANSPORTS:
        try:
            transport = import_module(name)
        except ModuleNotFoundError:
            continue
        if (usual := getattr(transport, "get_driver_env", None)) is not None:
            setattr(transport, "get_driver_env", _wrap(usual))  # noqa: B010
            return True
    return False


def _wrap(usual: Callable[[], dict[str, str]]) -> Callable[[], dict[str, str]]:
    def environment() -> dict[str, str]:
        found = usual()
        if not _minimal.get():
            return found
        own = {name: value for name, value in found.items() if name.startswith("PW_") and name not in os.environ}
        return {**minimal_environment(found), **own}

    return environment
