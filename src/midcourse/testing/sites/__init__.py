"""Small web applications on loopback that misbehave on request and record what was really done.

    with serve(Shop(seed=7, drift=STORMY)) as address: ...

Each is signed in to with `USER` and `PASSWORD`. Faults are drawn from the seed: the same requests get the same faults.
`effects` records what was really done: count there, not in what an agent reports.
"""

from midcourse.testing.sites.drift import CALM, STORMY, Drift
from midcourse.testing.sites.server import Request, Response, serve
from midcourse.testing.sites.shop import Shop
from midcourse.testing.sites.site import PASSWORD, USER, Effect, Site
from midcourse.testing.sites.tickets import Tickets

__all__ = [
    "CALM",
    "PASSWORD",
    "STORMY",
    "USER",
    "Drift",
    "Effect",
    "Request",
    "Response",
    "Shop",
    "Site",
    "Tickets",
    "serve",
]
