"""Which share does this one fall into? A number that looks like chance and is the same every time it is asked for."""

import json
from hashlib import blake2b


def chance(*of: str | int | float) -> float:
    """At least 0 and below 1, from data alone: the core has no dice."""
    digest = blake2b(json.dumps(of).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64
