"""A process that owns the sessions of worlds and serves them over HTTP, so that a session outlives whoever works it.

`midcourse host` is a standing one for many runs. `python -m midcourse.worlds.host` is one for a single world, started by
`RemoteWorld` where it is told of no other.
"""
