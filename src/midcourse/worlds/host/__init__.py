"""A process that owns the sessions of worlds and serves them over HTTP, so that a session outlives the worker that uses it.

`midcourse fleet host` is a permanent host for many runs. `python -m midcourse.worlds.host` is a host for a single world, started by
`RemoteWorld` if it gets no host.
"""

from midcourse.worlds.host.lifecycle import HostConfig, serve_host
from midcourse.worlds.host.registry import WorldRegistry
from midcourse.worlds.host.wire import read_host_file

__all__ = ["HostConfig", "WorldRegistry", "read_host_file", "serve_host"]
