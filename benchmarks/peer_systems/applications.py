"""The applications behind their proxy, each with the goal of a run and a check of its own log or database afterwards."""

import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.first_run import ARTICLE_GOAL
from benchmarks.llm.decisions import ARTICLE, BUY, CONCERT, CREATE, LISTED, PLACE, PUBLISH
from benchmarks.llm.pretix_decisions import CUSTOMER, SHOP
from benchmarks.llm.sites import GOALS_WITH_PASSWORD, Site, serve, truth
from benchmarks.peer_systems.cells import Cell
from benchmarks.peer_systems.faults import FaultyProxy
from benchmarks.web_apps.pretix import application as pretix
from benchmarks.web_apps.wagtail.application import PASSWORD, Application
from benchmarks.web_apps.wagtail.proxy import Request, in_front_of
from benchmarks.web_apps.wagtail.story import LIST, is_publication, running
from midcourse.testing.sites.server import COOKIE

EFFECTS = {"tickets": "/tickets", "shop": "/orders"}
"""Path to which the form that stores the ticket or order is sent."""


@dataclass(frozen=True, kw_only=True)
class Stored:
    right: bool
    """The application stored what the goal asks for, and nothing else."""
    repeated: int


@dataclass(frozen=True, kw_only=True)
class StartedApplication:
    url: str
    goal: str
    listed: tuple[str, str]
    """Address of the page that lists what was stored, and the text to look for there."""
    proxy: FaultyProxy
    stored: Callable[[], Stored]


@contextmanager
def start_application(cell: Cell, on_killed: Callable[[], None]) -> Generator[StartedApplication]:
    start = {"wagtail": _start_wagtail, "pretix": _start_pretix}.get(cell.app, _start_site)
    with start(cell, on_killed) as started:
        yield started


@contextmanager
def _start_site(cell: Cell, on_killed: Callable[[], None]) -> Generator[StartedApplication]:
    site = Site("shop" if cell.app == "shop" else "tickets", seed=cell.seed)

    def is_effect(request: Request) -> bool:
        return request.method == "POST" and request.path == EFFECTS[cell.app]

    def stored() -> Stored:
        found = truth(site)
        return Stored(right=found.right and not found.wrong, repeated=found.repeated)

    with serve(site) as upstream:
        address = urlsplit(upstream)
        proxy = FaultyProxy(
            upstream=(address.hostname or "", address.port or 0),
            fault=cell.fault,
            seed=cell.seed,
            session=COOKIE,
            is_effect=is_effect,
            on_killed=on_killed,
        )
        with in_front_of(proxy) as url:
            yield StartedApplication(
                url=f"{url}/",
                goal=GOALS_WITH_PASSWORD[site.app],
                listed=LISTED[PLACE if cell.app == "shop" else CREATE],
                proxy=proxy,
                stored=stored,
            )


@contextmanager
def _start_wagtail(cell: Cell, on_killed: Callable[[], None]) -> Generator[StartedApplication]:
    with tempfile.TemporaryDirectory() as folder, running(Application(Path(folder))) as application:

        def stored() -> Stored:
            found = application.truth(ARTICLE["title"])
            repeated = max(found.published - 1, 0) + max(found.pages - 1, 0)
            return Stored(right=found.live >= 1 and not found.others, repeated=repeated)

        proxy = FaultyProxy(
            upstream=application.address,
            fault=cell.fault,
            seed=cell.seed,
            session="sessionid",
            is_effect=is_publication,
            on_killed=on_killed,
        )
        goal = ARTICLE_GOAL.replace("'editor'.", f"'editor' with password '{PASSWORD}'.")
        with in_front_of(proxy) as url:
            yield StartedApplication(url=url + LIST, goal=goal, listed=LISTED[PUBLISH], proxy=proxy, stored=stored)


@contextmanager
def _start_pretix(cell: Cell, on_killed: Callable[[], None]) -> Generator[StartedApplication]:
    with tempfile.TemporaryDirectory() as folder:
        application = pretix.Application(Path(folder))

        def is_order(request: Request) -> bool:
            return request.method == "POST" and request.path.startswith(f"{SHOP}checkout/confirm/")

        def stored() -> Stored:
            found = application.truth()
            return Stored(right=found.orders >= 1 and not found.others, repeated=max(found.orders - 1, 0))

        proxy = FaultyProxy(
            upstream=application.address,
            fault=cell.fault,
            seed=cell.seed,
            session="pretix_session",
            is_effect=is_order,
            on_killed=on_killed,
        )
        goal = (
            f"Sign in as customer '{CUSTOMER}' with password '{pretix.PASSWORD}'. Order one '{pretix.TICKET}' for "
            f"'{CONCERT}', to be paid by bank transfer, exactly once."
        )
        with in_front_of(proxy) as url, application.run(url):
            yield StartedApplication(url=url + SHOP, goal=goal, listed=LISTED[BUY], proxy=proxy, stored=stored)
