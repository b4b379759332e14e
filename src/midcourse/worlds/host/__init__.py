"""A process that owns the sessions of worlds and serves them over HTTP, so that a session outlives whoever works it.

`midcourse host` is a standing one for many runs. `python -m midcourse.worlds.host` is one for a single world, started by
`RemoteWorld` where it is told of no other.
"""

from midcourse.worlds.host.lifecycle import Terms, hosting
from midcourse.worlds.host.registry import Menu
from midcourse.worlds.host.start import host_in

__all__ = ["Menu", "Terms", "host_in", "hosting"]
