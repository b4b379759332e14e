"""The browser world, which uses a real Chromium. `page/` observes pages and acts on them; `egress/` checks and holds what leaves."""

try:
    from midcourse.worlds.browser.world import Browser as Browser
except ModuleNotFoundError as missing:
    if (missing.name or "").startswith("midcourse"):
        raise
    needs = f"the browser needs pip install 'midcourse[browser]': {missing.name} is not installed"
    raise ModuleNotFoundError(needs, name=missing.name) from missing
