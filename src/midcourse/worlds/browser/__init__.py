"""A real Chromium as a world: what is seen, what can be done, and what may leave it."""

from midcourse.worlds.browser.world import Browser as Browser
