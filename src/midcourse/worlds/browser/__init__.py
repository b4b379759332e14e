"""A real Chromium as a world: what is seen, what can be done, and what may leave it."""
