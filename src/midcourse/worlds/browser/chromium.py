"""Finds, starts and ends a Chromium process."""

import asyncio
import logging
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from midcourse.errors import TaskInvalid
from midcourse.worlds.browser.egress.tls import Certificate
from midcourse.worlds.browser.environment import browser_environment, minimal_driver_environment

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
