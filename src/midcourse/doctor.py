"""Checks what works on this machine and what does not, and finds the command that fixes each problem."""

import asyncio
import os
import platform
import shutil
import stat
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal, TypeAlias

from midcourse.config.extras import EXTRAS, INSTALL_CHROMIUM, NO_CHROMIUM, install_command, missing_extras
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.settings import Settings
from midcourse.config.up_file import read_up
from midcourse.errors import MidcourseError
from midcourse.home.folder import DATABASE
from midcourse.home.stores import open_store

Health: TypeAlias = Literal["good", "absent", "bad"]
"""`absent`: it is not installed or running, and Midcourse needs it only for some features."""

ENOUGH = 500 * 2**20
"""The number of bytes that should be free for a browser's profile, pictures and a store."""
BY_KEY = ("anthropic", "cohere", "deepseek", "groq", "mistral", "openai", "openrouter")
"""Providers with a key in the variable PROVIDER_API_KEY."""
OF_TEMPORAL = "TEMPORAL_API_KEY"
"""A variable with a key that is not for a model."""
ELSEWHERE = "export MIDCOURSE_HOME=FOLDER"
PATIENCE = 60.0
"""Seconds that a server may take to answer."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    about: str
    health: Health
    says: str
    type_this: str = ""
    """The command that fixes it, or installs what is missing."""


async def check_setup(settings: Settings, *, model: str = "") -> tuple[Finding, ...]:
    """Run all checks. `model` is checked instead of the model in the settings. No request to it costs anything."""
    model = model or settings.model
    checks: tuple[tuple[str, Callable[[], Finding | Awaitable[Finding]]], ...] = (
        ("install", _check_installation),
        ("chromium", _check_chromium),
        ("desktop", _check_desktop),
        ("robot", _check_robot),
        ("keys", lambda: _check_keys(model, settings)),
        ("model", lambda: _check_model(model, settings)),
        ("disk", lambda: _check_disk(settings.home)),
        ("permissions", lambda: _check_permissions(settings.home)),
        ("fleet", lambda: _check_fleet(settings.home)),
    )
    return tuple([await _run_check(about, check) for about, check in checks])


async def _run_check(about: str, check: Callable[[], Finding | Awaitable[Finding]]) -> Finding:
    """Run one check; an exception is its finding and does not stop the others."""
    try:
        found = check()
        return found if isinstance(found, Finding) else await found
    except MidcourseError as problem:
        return Finding(about=about, health="bad", says=str(problem))
    except Exception as trouble:
        return Finding(about=about, health="bad", says=f"{type(trouble).__name__}: {trouble}")


def _check_installation() -> Finding:
    missing = missing_extras(EXTRAS)
    has = [extra for extra in EXTRAS if extra not in missing]
    says = f"midcourse {version('midcourse')}, Python {platform.python_version()}; extras: {', '.join(has) or 'none'}"
    if not missing:
        return Finding(about="install", health="good", says=says)
    return Finding(
        about="install", health="absent", says=f"{says}; not {', '.join(missing)}", type_this=install_command(missing)
    )


async def _check_chromium() -> Finding:
    """Start Chromium and show it a page through the gate that every request passes."""
    if missing := missing_extras(("browser",)):
        return Finding(about="chromium", health="absent", says="not looked for", type_this=install_command(missing))
    from midcourse.testing.sites import Tickets, serve
    from midcourse.worlds.browser import Browser
    from midcourse.worlds.browser.chromium import find_chromium

    path = await find_chromium()
    if path is None:
        return Finding(about="chromium", health="bad", says=NO_CHROMIUM, type_this=INSTALL_CHROMIUM)
    with serve(Tickets()) as address:
        browser = Browser(address)
        await browser.open()
        try:
            seen = await browser.observe()
        finally:
            await browser.close()
    if getattr(seen, "zones", ()):
        bare = "; without its sandbox, because you are root: use another account" if _is_root() else ""
        return Finding(about="chromium", health="good", says=f"{path} shows pages{bare}")
    return Finding(about="chromium", health="bad", says=f"{path} starts, and shows nothing")


def _check_desktop() -> Finding:
    """Check whether a desktop can be started. Its programs are packages of the system, not of an extra."""
    if missing := missing_extras(("desktop",)):
        return Finding(about="desktop", health="absent", says="not looked for", type_this=install_command(missing))
    from midcourse.worlds.desktop.display import find_missing_packages, format_apt_line

    packages = find_missing_packages()
    if packages:
        says = f"no {', '.join(packages)}; only the desktop world needs them"
        return Finding(about="desktop", health="absent", says=says, type_this=format_apt_line(packages))
    return Finding(about="desktop", health="good", says="a display of its own can be started")


def _check_robot() -> Finding:
    """Check whether the arm can be simulated and the cell rendered."""
    if missing := missing_extras(("robot",)):
        return Finding(about="robot", health="absent", says="needs an extra", type_this=install_command(missing))
    from midcourse.worlds.robot.camera import INSTALL_GL, NO_GL, find_gl

    simulates = f"MuJoCo {version('mujoco')} simulates the arm"
    if gl := find_gl():
        return Finding(about="robot", health="good", says=f"{simulates}, and {gl} pictures the cell")
    return Finding(about="robot", health="absent", says=f"{simulates}; {NO_GL}", type_this=INSTALL_GL)


def _check_keys(model: str, settings: Settings) -> Finding:
    set_keys = sorted(
        name for name, value in os.environ.items() if name.endswith("_API_KEY") and value and name != OF_TEMPORAL
    )
    if missing := _missing_key(model, settings):
        return Finding(about="keys", health="bad", says=f"{missing} is not set", type_this=f"export {missing}=...")
    if set_keys or model:
        return Finding(about="keys", health="good", says=f"set: {', '.join(set_keys) or 'none, and none is needed'}")
    return Finding(
        about="keys", health="absent", says="no provider's key is set", type_this="export OPENAI_API_KEY=..."
    )


async def _check_model(model: str, settings: Settings) -> Finding:
    if missing := missing_extras(("llm",)):
        return Finding(about="model", health="absent", says="models need an extra", type_this=install_command(missing))
    if not model:
        name = "export MIDCOURSE_MODEL=openai:gpt-5"
        return Finding(about="model", health="absent", says="none is named; --model names one", type_this=name)
    if missing := _missing_key(model, settings):
        return Finding(about="model", health="absent", says=f"{model} is not asked: {missing} is not set")
    from midcourse.llm.models import check_listed

    where = f" at {settings.model_base_url}" if settings.model_base_url else ""
    try:
        found = await asyncio.wait_for(check_listed(model, base_url=settings.model_base_url), PATIENCE)
    except MidcourseError:
        raise
    except Exception as trouble:
        says = f"{model}{where} cannot be reached: {trouble or type(trouble).__name__}"
        command = f"curl -i {settings.model_base_url}/models" if where else ""
        return Finding(about="model", health="bad", says=says, type_this=command)
    unlisted = [name for name, known in found if known is False]
    if unlisted:
        return Finding(about="model", health="bad", says=f"its server{where} does not have {', '.join(unlisted)}")
    unasked = any(known is None for _, known in found)
    return Finding(about="model", health="good", says=f"{model}{where}" + ("; not asked" if unasked else " answers"))


def _missing_key(model: str, settings: Settings) -> str:
    """The missing environment variable for the key of the first of these models; empty if it is set or unknown."""
    provider = model.partition(":")[0].partition("-")[0]
    variable = f"{provider.upper()}_API_KEY"
    served_here = bool(settings.model_base_url) and provider == "openai"
    return variable if provider in BY_KEY and not served_here and not os.environ.get(variable) else ""


def _check_disk(home: Path) -> Finding:
    existing = next(folder for folder in (home.absolute(), *home.absolute().parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    room = f"{free / 2**30:.1f} GB are free in {existing}"
    if free < ENOUGH:
        return Finding(about="disk", health="bad", says=room, type_this=ELSEWHERE)
    return Finding(about="disk", health="good", says=room)


def _check_permissions(home: Path) -> Finding:
    """Check whether runs can be stored, and whether other accounts can read a `.env` file with keys."""
    above = home.absolute().parent
    if home.exists() and not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        says = f"{home} is not writable"
        return Finding(about="permissions", health="bad", says=says, type_this=f"chmod u+rwx {home}")
    if not home.exists() and not os.access(above, os.W_OK):
        says = f"{home} is not there, and cannot be created in {above}"
        return Finding(about="permissions", health="bad", says=says, type_this=ELSEWHERE)
    if (home / DATABASE).exists():
        with open_store(home):  # raises if it is damaged, locked or read-only
            pass
    if _readable_by_others(Path(".env")):
        says = ".env, which may have keys, is readable by other accounts"
        return Finding(about="permissions", health="bad", says=says, type_this="chmod 600 .env")
    return Finding(about="permissions", health="good", says=f"runs are kept in {home}, for you only")


async def _check_fleet(home: Path) -> Finding:
    settings = FleetSettings.load(home)
    gone = [part.name for part in read_up(home).parts if not part.process.alive]
    if gone and not settings.is_somewhere:
        return Finding(
            about="fleet", health="bad", says=f"not running: {', '.join(gone)}", type_this="midcourse up --detach"
        )
    if not settings.is_somewhere:
        missing = missing_extras(("temporal", "up"))
        first = f"{install_command(missing)} && " if missing else ""
        command = f"{first}midcourse up --detach"
        return Finding(about="fleet", health="absent", says="none; runs on this machine need none", type_this=command)
    settings.check_complete(home)
    from midcourse.fleet.connection import connect_fleet

    async with connect_fleet(settings) as fleet:
        address = f"{fleet.temporal}, {fleet.security}"
    if gone:
        return Finding(
            about="fleet", health="bad", says=f"not running: {', '.join(gone)}", type_this="midcourse up --detach"
        )
    return Finding(about="fleet", health="good", says=f"database and Temporal ({address}) answer")


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _readable_by_others(path: Path) -> bool:
    return os.name != "nt" and path.is_file() and bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))
