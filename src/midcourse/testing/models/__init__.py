"""Scripted model behind a real server: OpenAI's chat completions on loopback, with the answers of a script.

    with ModelServer([{"verdict": "done"}, Fails(429, retry_after=1)]) as server: ...

Any client of that protocol can be pointed at `server.url`. What it was asked is in `server.requests`.
"""

from midcourse.testing.models.script import (
    Answer,
    Blurts,
    Calls,
    ChatRequest,
    Cut,
    Fails,
    Late,
    Limited,
    Refuses,
    Says,
    Script,
    Slow,
    Usage,
)
from midcourse.testing.models.server import ModelServer

__all__ = [
    "Answer",
    "Blurts",
    "Calls",
    "ChatRequest",
    "Cut",
    "Fails",
    "Late",
    "Limited",
    "ModelServer",
    "Refuses",
    "Says",
    "Script",
    "Slow",
    "Usage",
]
