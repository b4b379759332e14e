"""A process that owns a world's session and serves it over HTTP, so that the session outlives whoever works it.

python -m midcourse.worlds.host --world package.module:Class --options '{"seed": 1}' --ready ready.json
"""
