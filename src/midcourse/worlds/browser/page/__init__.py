"""Observes pages and acts on them: tabs, frames, capture of zones, mouse and keyboard, forms, screenshots. Scripts: `js/`."""
