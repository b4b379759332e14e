"""Wagtail in the table of `drift.py`: log in, create an article through its dialogs, publish it, once.

    python -m benchmarks.drift --also benchmarks.web_apps.wagtail.story:WAGTAIL

The application is as it comes from PyPI. What goes wrong is done to its answers by a proxy in front of it (`proxy.py`), drawn from the
seed; what was done is read from its database.
"""

import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from benchmarks.web_apps.application import Truth
from benchmarks.web_apps.wagtail.application import PASSWORD, Application
from benchmarks.web_apps.wagtail.clerk import PARENT, RELATED, SUMMARY, TITLE, WagtailClerk
from benchmarks.web_apps.wagtail.proxy import Fault, Proxy, Request, in_front_of
from midcourse.domain.approval import CommitSet
from midcourse.domain.expectation import Expectation, SurfaceMatches, ZoneAppears
from midcourse.domain.task import Task

LIST = "/admin/pages/2/"
PUBLIC = "/news/"


@dataclass(frozen=True)
class WagtailStory:
    name: str = "wagtail"

    @property
    def task(self) -> Task:
        return Task(
            goal=f"Publish an article '{TITLE}' under {PARENT}, related to '{RELATED}'",
            inputs=(("title", TITLE), ("summary", SUMMARY), ("related", RELATED)),
            secrets=("password",),
            done_when=Expectation(
                checks=(SurfaceMatches(pattern=f"Exploring: {PARENT}*"), ZoneAppears(role="link", label=TITLE))
            ),
        )

    @property
    def secrets(self) -> Mapping[str, str]:
        return {"password": PASSWORD}

    @property
    def origin(self) -> Mapping[str, object]:
        return {
            "private": True,
            "navigate": [LIST],
            "secrets": ["password"],
            "safe": ["POST /admin/login/", "POST /admin/editing-sessions/*", "POST /admin/pages/*/preview/*"],
        }

    @contextmanager
    def start(self, seed: int, *, calm: bool = False) -> "Generator[Started]":
        with (
            tempfile.TemporaryDirectory() as folder,
            running(Application(Path(folder))) as application,
            in_front_of(Proxy(application.address, () if calm else trouble(seed))) as url,
        ):
            yield Started(url=url + LIST, site=url, application=application)


@dataclass(frozen=True, kw_only=True)
class Started:
    url: str
    site: str
    application: Application

    @property
    def planner(self) -> WagtailClerk:
        return WagtailClerk(self.url, self.site + PUBLIC)

    def truth(self) -> Truth:
        found = self.application.truth(TITLE)
        again = max(found.published - 1, 0) + max(found.pages - 1, 0)
        return Truth(done=found.live == 1, twice=again, unasked=found.others)

    def asked_for(self, sent: CommitSet) -> bool:
        return publishes(sent) and dict(sent.values).get("title") == TITLE

    def has(self, sent: CommitSet) -> bool:
        return publishes(sent) and self.application.truth(TITLE).live > 0


def publishes(sent: CommitSet) -> bool:
    method, _, url = sent.address.partition(" ")
    return method == "POST" and urlsplit(url).path.startswith("/admin/pages/") and "action-publish" in dict(sent.values)


# --- trouble


def trouble(seed: int) -> tuple[Fault, ...]:
    """Two or three of these in most runs, and a publication in two that is not confirmed."""
    chance = Random(seed)
    drawn = (
        (0.5, Fault(kind="overlay", at=is_page, nth=chance.randint(1, 5))),
        (0.5, Fault(kind="delay", at=is_page, nth=chance.randint(1, 6), seconds=chance.uniform(1, 3))),
        (0.3, Fault(kind="expired", at=is_page, nth=chance.randint(2, 6))),
        (0.2, Fault(kind="expired", at=is_publication)),
        (0.5, Fault(kind="lost", at=is_publication)),
        (0.3, Fault(kind="delay", at=is_publication, seconds=chance.uniform(1, 3))),
    )
    return tuple(fault for rate, fault in drawn if chance.random() < rate)


def is_page(request: Request) -> bool:
    """A page that is shown, not a part of one."""
    return request.method == "GET" and request.path.startswith("/admin/") and "text/html" in request.get("accept")


def is_publication(request: Request) -> bool:
    return request.method == "POST" and b"action-publish" in request.body


# --- at work


@contextmanager
def running(application: Application) -> Generator[Application]:
    application.start()
    try:
        yield application
    finally:
        application.stop()


WAGTAIL = WagtailStory()
