"""Worlds: the base class for custom ones, a real browser, a real desktop, a robot, and worlds in another process."""

from midcourse.lazy import lazy_imports

with lazy_imports(globals()):
    from midcourse.domain.plan import Target as Target
    from midcourse.errors import NotSent as NotSent
    from midcourse.ports.world import Call as Call
    from midcourse.ports.world import World as World
    from midcourse.ports.world import WorldAway as WorldAway
    from midcourse.worlds.base import BaseWorld as BaseWorld
    from midcourse.worlds.base import Outcome as Outcome
    from midcourse.worlds.base import Scene as Scene
    from midcourse.worlds.base import Unseen as Unseen
    from midcourse.worlds.base import Zone as Zone
    from midcourse.worlds.base import failed as failed
    from midcourse.worlds.base import no_effect as no_effect
    from midcourse.worlds.base import not_sent as not_sent
    from midcourse.worlds.base import probe as probe
    from midcourse.worlds.base import skill as skill
    from midcourse.worlds.base import unreachable as unreachable
    from midcourse.worlds.browser import Browser as Browser
    from midcourse.worlds.browser.egress.policy import read_origins as read_origins
    from midcourse.worlds.desktop import Desktop as Desktop
    from midcourse.worlds.functions import Functions as Functions
    from midcourse.worlds.mcp import Mcp as Mcp
    from midcourse.worlds.remote import RemoteWorld as RemoteWorld
    from midcourse.worlds.robot import Robot as Robot
