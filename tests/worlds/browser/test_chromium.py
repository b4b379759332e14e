"""Error messages without a browser or without Playwright."""

import sys

import pytest

from midcourse.errors import TaskInvalid
from midcourse.worlds.browser import Browser


async def test_without_playwright_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "playwright.async_api", None)
    with pytest.raises(TaskInvalid, match=r'pip install "midcourse\[browser\]"'):
        await Browser("http://127.0.0.1:1/").open()


@pytest.mark.slow
async def test_without_a_browser_the_error_says_so():
    with pytest.raises(ConnectionError, match="no browser could be started"):
        await Browser("http://127.0.0.1:1/", executable="/no/such/chromium").open()


async def test_a_browser_can_be_closed_before_it_was_opened():
    await Browser("http://127.0.0.1:1/").close()
