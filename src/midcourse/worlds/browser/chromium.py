"""The Chromium process of one session: how it is found, started and ended."""

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from midcourse.errors import TaskInvalid
from midcourse.worlds.browser.certificate import Certificate

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Playwright

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
"""What Playwright disables, what forms look like to Chromium's makers, and the popups of an address bar that nobody types into, for
which every context starts a process: of several such lists the last one counts."""
FLAGS = (
    "--no-sandbox",
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
_PROGRAMS = ("xdg-email", "xdg-open")
"""With which Chromium opens what is no page, such as a mail with all that a page put into its link. No gate sees that."""
_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")


class Chromium:
    """Started by Playwright's driver, which ends it as soon as this process is gone, however that came about."""

    def __init__(self, *, executable: str = "", headed: bool = False) -> None:
        self._executable = executable
        self._headed = headed
        self.certificate = Certificate()
        """By which it knows the gate of every session in it."""
        self._programs: Path | None = None
        self._driver: Playwright | None = None
        self._browser: Browser | None = None

    async def start(self, *, proxy: str, flags: Sequence[str], **context: Any) -> "BrowserContext":
        """A browser, and a fresh context in it with these options of Playwright's.

        Raises `TaskInvalid` without Playwright, `ConnectionError` if no browser starts.
        """
        try:
            from playwright.async_api import Error, async_playwright
        except ModuleNotFoundError as missing:
            raise TaskInvalid('the browser world needs Playwright: pip install "midcourse[browser]"') from missing
        self._driver = await async_playwright().start()
        self._programs = Path(tempfile.mkdtemp(prefix="midcourse-programs-"))
        try:
            self._browser = await self._driver.chromium.launch(
                executable_path=self._executable or _installed(),
                headless=not self._headed,
                args=[*FLAGS, *flags],
                proxy={"server": proxy, "bypass": "<-loopback>"},
                env=_environment(self._programs),
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
            return await self._browser.new_context(**context)
        except Error as error:
            await self.close()
            raise ConnectionError(f"no browser could be started: {error.message}") from error

    async def close(self) -> None:
        """Twice is no error."""
        browser, self._browser = self._browser, None
        driver, self._driver = self._driver, None
        if browser is not None:
            from playwright.async_api import Error

            with suppress(Error):  # gone already
                await browser.close()
        if driver is not None:
            await driver.stop()
        if self._programs is not None:
            shutil.rmtree(self._programs, ignore_errors=True)


def _installed() -> str | None:
    """The system's own, or None for what `playwright install` brought."""
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


def _environment(programs: Path) -> dict[str, str | float | bool] | None:
    """In which it finds programs that do nothing in place of those that it would start. Elsewhere than on Linux it looks for none."""
    nothing = shutil.which("false")
    if sys.platform != "linux" or nothing is None:
        return None
    for name in _PROGRAMS:
        (programs / name).symlink_to(nothing)
    return {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
