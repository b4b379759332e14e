"""Finds, starts, shares and ends Chromium processes.

Several sessions can share a process. Each has a context, which uses that session's proxy. Contexts share nothing that a page can
read: each has its own renderers, cookies, storage, caches, proxy and proxy password. The browser itself gets a proxy that does
not exist, so traffic outside of any context reaches nothing.

The environment variables of Chromium and of Playwright's driver are an allow-list, so that they contain no keys or secrets: an
attacker who breaks out of a page into one of these processes reads its environment first.
"""

import asyncio
import logging
import os
import shutil
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

from midcourse.errors import TaskInvalid
from midcourse.worlds.browser.egress.proxy import FLAGS as PROXY_FLAGS
from midcourse.worlds.browser.egress.tls import Certificate

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Playwright

log = logging.getLogger(__name__)

Sandbox: TypeAlias = Literal["on", "off"]

_OFF = (
    "AimEnabled",
    "AutofillServerCommunication",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
    "Translate",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
)
"""Features of Chromium to disable.

These are all that Playwright disables (Chromium uses only the last such list), sending the layout of forms to Google, and the
popups of the address bar, for which every context would start a process.
"""
FLAGS = (
    "--site-per-process",  # as in a window: a frame of another site shares no process with its page
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--gaia-url=http://127.0.0.1:9",
    "--gcm-checkin-url=http://127.0.0.1:9",
    f"--disable-features={','.join(_OFF)}",
)
_NO_SANDBOX = (
    "Chromium finds no usable sandbox. Install the package chromium-sandbox, or allow unprivileged user namespaces; "
    'sandbox = "off" runs without one. '
)
_NO_CHROMIUM = (
    "no browser could be started: there is no Chromium. Type `apt install chromium` or `playwright install chromium`; "
    "or pass the path of another one as executable="
)
_NO_BYPASS = "<-loopback>"
"""A proxy rule without which Chromium would bypass the proxy for addresses of this machine."""
_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
_HEADLESS_NAMES: tuple[str, ...] = (
    "/usr/lib/chromium/chromium-headless-shell",
    "chromium-headless-shell",
    "chrome-headless-shell",
)
"""The browser without windows, which starts in a third of the time. The path is that of the binary, because Debian's command is a shell script
that would keep running beside it."""
NOWHERE = "http://none.midcourse.invalid:9"
"""The proxy of the browser itself, which does not exist. Chromium neither resolves this name nor asks a name server for it: see `egress.proxy.FLAGS`."""
MOST_SERVED = 10
"""How often each place in a Chromium is used before the process is replaced, to limit leaks."""
_CLOSES_WITHIN = 10.0
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


class Chromium:
    """A Chromium process. Playwright's driver starts it, and ends it when this process ends, even by kill -9."""

    def __init__(self, *, executable: str = "", headed: bool = False, sandbox: Sandbox = "on") -> None:
        self._executable = executable
        self._headed = headed
        self._sandbox: Sandbox = sandbox
        self.certificate = Certificate()
        """The certificate by which this Chromium trusts the proxy of every session."""
        self._driver: Playwright | None = None
        self._browser: Browser | None = None

    async def start(self, *, proxy: str, flags: Sequence[str], **context: Any) -> "BrowserContext":
        """Start the browser and open a fresh context in it with these Playwright options.

        Raise `TaskInvalid` if Playwright is not installed, `ConnectionError` if no browser starts.
        """
        browser = await self._launch(proxy, flags)
        try:
            return await new_context(browser, **context)
        except ConnectionError:
            await self.close()
            raise

    async def _launch(self, proxy: str, flags: Sequence[str]) -> "Browser":
        try:
            from playwright.async_api import Error, async_playwright
        except ModuleNotFoundError as missing:
            raise TaskInvalid('the browser world needs Playwright: pip install "midcourse[browser]"') from missing
        environment, sandboxed = browser_environment(), _can_sandbox(self._sandbox)
        with minimal_driver_environment():
            self._driver = await async_playwright().start()
        try:
            self._browser = await self._driver.chromium.launch(
                executable_path=self._executable or system_chromium(headed=self._headed),
                headless=not self._headed,
                args=[*FLAGS, *flags],
                chromium_sandbox=sandboxed,
                proxy={"server": proxy, "bypass": _NO_BYPASS},
                env=environment,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        except Error as error:
            await self.close()
            if "Executable doesn't exist" in error.message or "executable doesn't exist" in error.message:
                raise ConnectionError(_NO_CHROMIUM) from error
            hint = _NO_SANDBOX if "No usable sandbox" in error.message else ""
            raise ConnectionError(f"no browser could be started: {hint}{error.message}") from error
        return self._browser

    async def close(self) -> None:
        """End the process. It is safe to call this twice."""
        browser, self._browser = self._browser, None
        driver, self._driver = self._driver, None
        if browser is not None:
            from playwright.async_api import Error

            with suppress(Error):  # it has ended already
                await browser.close()
        if driver is not None:
            await driver.stop()


async def new_context(browser: "Browser", *, proxy: str = "", **context: Any) -> "BrowserContext":
    """Open a context with these Playwright options. If it gets a `proxy`, that replaces the browser's. Raise `ConnectionError` on failure."""
    from playwright.async_api import Error

    own: Any = {"proxy": {"server": proxy, "bypass": _NO_BYPASS}} if proxy else {}
    try:
        return await browser.new_context(**own, **context)
    except Error as error:
        raise ConnectionError(f"no browser could be started: {error.message}") from error


def system_chromium(*, headed: bool = False) -> str | None:
    """Return the path of the system's Chromium, or None if Playwright's is to be used."""
    names = _NAMES if headed else (*_HEADLESS_NAMES, *_NAMES)
    return next((found for name in names if (found := shutil.which(name))), None)


async def find_chromium() -> str | None:
    """Return the path of the Chromium that would be started, the system's or Playwright's, or None if neither is installed."""
    if found := system_chromium():
        return found
    from playwright.async_api import async_playwright

    with minimal_driver_environment():
        async with async_playwright() as driver:
            path = driver.chromium.executable_path
    return path if await asyncio.to_thread(os.path.exists, path) else None


def _can_sandbox(sandbox: Sandbox) -> bool:
    if sandbox == "off":
        _warn_unsandboxed("sandbox = off")
        return False
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        _warn_unsandboxed("not available for root: run this as another user")
        return False
    return True


@cache
def _warn_unsandboxed(why: str) -> None:
    """Log a warning, only once in a process for each reason."""
    log.warning(
        "Chromium runs without its sandbox (%s); a page that exploits a bug in it gets the rights of this account", why
    )


# --- shared by several sessions

_Launch: TypeAlias = tuple[str, bool, Sandbox]


class SharedChromium(Chromium):
    """A Chromium that is started by its first session and ended with its last."""

    def __init__(self, most: int, *, executable: str = "", headed: bool = False, sandbox: Sandbox = "on") -> None:
        super().__init__(executable=executable, headed=headed, sandbox=sandbox)
        self._most = most
        self.taken = 0
        """The number of sessions that use this Chromium now."""
        self._served = 0
        self._retired = False
        self._starting = asyncio.Lock()

    @property
    def is_over(self) -> bool:
        """Whether this Chromium takes no more sessions."""
        ended = self._browser is not None and not self._browser.is_connected()
        return ended or self._retired or self._served >= MOST_SERVED * self._most

    @property
    def flags(self) -> tuple[str, ...]:
        return (*PROXY_FLAGS, self.certificate.flag)

    def take(self) -> None:
        self.taken += 1
        self._served += 1

    async def add_context(self, proxy: str, **context: Any) -> "BrowserContext":
        """Open a context behind this proxy, and start the browser if it is not running. Raise `ConnectionError` if that fails."""
        async with self._starting:
            if self._browser is None:
                await self._launch(NOWHERE, self.flags)
        if self._browser is None:
            raise ConnectionError("the browser ended as it was started")
        return await new_context(self._browser, proxy=proxy, **context)

    async def give_back(self) -> None:
        """Give back one place, and end the process with its last session."""
        self.taken -= 1
        if not self.taken:
            self._retired = True  # no session may begin in it while it ends
            await self.close()

    def retire(self) -> None:
        """Lend no more places in this Chromium, because it does not answer."""
        self._retired = True


class Borrowed(Chromium):
    """A place in a shared Chromium for one session. `close` closes only the context of that session."""

    def __init__(self, shared: SharedChromium) -> None:
        self._shared: SharedChromium | None = shared
        self._context: BrowserContext | None = None
        self.certificate = shared.certificate
        shared.take()

    async def start(self, *, proxy: str, flags: Sequence[str], **context: Any) -> "BrowserContext":
        shared = self._shared
        assert shared is not None, "this place was given back"
        assert tuple(flags) == shared.flags, "flags that this Chromium was not started with"
        try:
            self._context = await shared.add_context(proxy, **context)
        except BaseException:
            await self.close()
            raise
        return self._context

    async def close(self) -> None:
        from playwright.async_api import Error

        shared, self._shared = self._shared, None
        context, self._context = self._context, None
        if shared is None:
            return
        try:
            if context is not None:
                async with asyncio.timeout(_CLOSES_WITHIN):
                    with suppress(Error):  # it has ended already
                        await context.close()
        except TimeoutError:
            shared.retire()
        finally:
            await shared.give_back()


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_Launch, list[SharedChromium]]] = WeakKeyDictionary()
"""The shared processes of each event loop, because Playwright's objects belong to one event loop."""


def lend_chromium(most: int, *, executable: str, headed: bool, sandbox: Sandbox) -> Borrowed:
    """Lend a place in a Chromium that was, or will be, started with these options for at most `most` sessions."""
    launch = executable, headed, sandbox
    several = _by_loop.setdefault(asyncio.get_running_loop(), {}).setdefault(launch, [])
    several[:] = [chromium for chromium in several if not chromium.is_over]
    fullest = max(
        (chromium for chromium in several if chromium.taken < most), key=lambda chromium: chromium.taken, default=None
    )
    if fullest is None:
        fullest = SharedChromium(most, executable=executable, headed=headed, sandbox=sandbox)
        several.append(fullest)
    return Borrowed(fullest)


# --- environment variables


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
        usual: Callable[[], dict[str, str]] | None = getattr(transport, "get_driver_env", None)
        if usual is not None:

            def build_environment(usual: Callable[[], dict[str, str]] = usual) -> dict[str, str]:
                found = usual()
                if not _minimal.get():
                    return found
                own = {
                    name: value for name, value in found.items() if name.startswith("PW_") and name not in os.environ
                }
                return {**minimal_environment(found), **own}

            setattr(transport, "get_driver_env", build_environment)  # noqa: B010
            return True
    return False
