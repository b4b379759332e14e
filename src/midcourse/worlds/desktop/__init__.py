"""The desktop world: real programs with windows, observed through AT-SPI and operated by accessibility actions, mouse and keyboard."""

from midcourse.worlds.desktop.world import Desktop

__all__ = ["Desktop"]
