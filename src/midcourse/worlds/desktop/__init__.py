"""A real desktop: programs with windows, seen through AT-SPI and operated by accessibility actions, mouse and keyboard."""

from midcourse.worlds.desktop.world import Desktop

__all__ = ["Desktop"]
