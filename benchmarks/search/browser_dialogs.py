"""Searches for a dialog in real pages, judged by the words on the screen.

settings    the settings of the drift suite (`midcourse.testing.sites`): dialogs that open dialogs. By seed its controls are renamed,
            moved and covered by pop-ups, four times as often as in the suite. No session expires, and no page fails: no detour
            leads out of that
wagtail     Wagtail's own editor as it comes from PyPI (`wagtail/`): menus, choosers, dropdowns, on two of its lists

The session is signed in before the run begins. Whether the dialog was reached is read from the page in the end, outside the run;
what was sent is what the application received.
"""

import asyncio
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from benchmarks.harness.replay_check import check_replay
from benchmarks.search.episodes import ARMS, SETTINGS, Arm, Episode, measured
from benchmarks.search.searcher import RandomTries, Replanner, Searcher
from benchmarks.web_apps.preferences import PREFERENCES
from benchmarks.web_apps.preferences_site import Preferences
from benchmarks.web_apps.site import DRIFT
from benchmarks.web_apps.wagtail.application import EDITOR, Application
from benchmarks.web_apps.wagtail.application import PASSWORD as EDITORS_PASSWORD
from benchmarks.web_apps.wagtail.proxy import Proxy, in_front_of
from benchmarks.web_apps.wagtail.story import WAGTAIL, running
from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.detour import Goal
from midcourse.domain.expectation import Check, Expectation, SurfaceMatches, ZoneAppears
from midcourse.domain.task import Task
from midcourse.policy.detour.closeness import MAX_UNCHECKED_CLOSENESS, words_of
from midcourse.ports.closeness import Closeness, JudgingContext, WordOverlap
from midcourse.testing import MemoryStore, Rejects
from midcourse.testing.sites import PASSWORD, serve
from midcourse.testing.sites.site import USER
from midcourse.worlds.browser import Browser

GENEROUS_LIMITS = {"look_timeout_seconds": 120.0, "act_timeout_seconds": 120.0}
"""A machine that has other things to do as well makes a page slow, and no way longer."""
AT_ONCE = {"replan_interval_seconds": 0.0}
"""The clock is a real one here, and a planner without a model needs no rest between two plans."""
TROUBLE = replace(DRIFT, expired=0.0, failing=0.0).times(4)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Somewhere to get to. `shown` is asked of the page itself, in its own language."""

    says: str
    check: Check
    shown: str

    @property
    def goal(self) -> Goal:
        return Goal(says=self.says, expect=Expectation(checks=(self.check,), says=self.says))


@dataclass(frozen=True, kw_only=True)
class Visit:
    """What one run is given, and what the application has received during it."""

    url: str
    origin: Mapping[str, object]
    user: tuple[str, str]
    password: tuple[str, str]
    place: Place
    received: Callable[[], int]


Visits = Callable[[int], AbstractContextManager[Visit]]
"""By seed."""


# --- the settings of the drift suite

DIALOGS = (
    Place(
        says="'Advanced' of the notifications is open, with the quiet hours",
        check=ZoneAppears(role="dialog", label="Advanced"),
        shown="document.getElementById('advanced').open",
    ),
    Place(
        says="'Invite a member' is open, among the members",
        check=ZoneAppears(role="dialog", label="Invite a member"),
        shown="document.getElementById('invite').open",
    ),
)


@contextmanager
def settings() -> Generator[Visits]:
    @contextmanager
    def visit(seed: int) -> Generator[Visit]:
        site = Preferences(seed=seed, drift=TROUBLE)
        with serve(site) as url:
            yield Visit(
                url=url,
                origin=PREFERENCES.origin,
                user=("#user", USER),
                password=("#password", PASSWORD),
                place=DIALOGS[seed % len(DIALOGS)],
                received=lambda: len(site.effects),
            )

    yield visit


# --- Wagtail

LISTS = (2, 3)
"""The pages whose lists runs begin at."""
_CHOOSER = "[...document.querySelectorAll('.modal-content')].filter(one => one.getClientRects().length)"
PLACES = (
    Place(
        says="the dialog 'Choose a page' of a new child page is open",
        check=ZoneAppears(role="dialog", label="Choose a page*"),
        shown=f"{_CHOOSER}.length > 0",
    ),
    Place(
        says="'Reports of 2025' can be chosen, where a new child page has to choose a page it explores",
        check=ZoneAppears(role="link", label="Reports of 2025"),
        shown=f"{_CHOOSER}.some(one => one.textContent.includes('Reports of 2025'))",
    ),
    Place(
        says="the report 'Page types usage' is open",
        check=SurfaceMatches(pattern="Page types usage*"),
        shown="document.title.startsWith('Page types usage')",
    ),
    Place(
        says="the 'Collections' among the settings are open",
        check=SurfaceMatches(pattern="Collections*"),
        shown="document.title.startsWith('Collections')",
    ),
    Place(
        says="the form to 'Copy' a page is open, one of its actions",
        check=SurfaceMatches(pattern="Copy *"),
        shown="document.title.startsWith('Copy ')",
    ),
    Place(
        says="'Publish' is to be seen, among the actions of a new child page",
        check=ZoneAppears(role="button", label="Publish"),
        shown="[...document.querySelectorAll('[name=action-publish]')].some(one => one.getClientRects().length)",
    ),
)


@contextmanager
def wagtail() -> Generator[Visits]:
    """One for all runs: what was changed in it would show in the first of them."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Application(Path(folder))) as application,
        in_front_of(proxy := Proxy(application.address)) as url,
    ):

        @contextmanager
        def visit(seed: int) -> Generator[Visit]:
            before = len(proxy.changing)
            yield Visit(
                url=f"{url}/admin/pages/{LISTS[seed // len(PLACES) % len(LISTS)]}/",
                origin=WAGTAIL.origin,
                user=("[name=username]", EDITOR),
                password=("[name=password]", EDITORS_PASSWORD),
                place=PLACES[seed % len(PLACES)],
                received=lambda: sum(map(_changes_something, proxy.changing[before:])),
            )

        yield visit


def _changes_something(request: str) -> bool:
    safe = WAGTAIL.origin["safe"]
    assert isinstance(safe, list)
    return not any(fnmatch(request, str(pattern)) for pattern in safe)


APPLICATIONS = {"settings": settings, "wagtail": wagtail}


# --- a run


class Witnessed(Browser):
    """Signed in before it is handed over, and asked in the end what the page really shows."""

    shown = False

    def __init__(self, visit: Visit) -> None:
        place = urlsplit(visit.url)
        super().__init__(visit.url, origins={f"{place.scheme}://{place.netloc}": visit.origin})
        self._visit = visit

    async def open(self) -> str:
        said, page = await super().open(), self._tab.page
        for field, text in (self._visit.user, self._visit.password):
            await page.fill(field, text)
        await page.press(self._visit.password[0], "Enter")
        await page.wait_for_url(lambda url: "/login" not in url, timeout=1000 * GENEROUS_LIMITS["look_timeout_seconds"])
        return said

    async def close(self) -> None:
        if self._session is not None:
            self.shown = bool(await self._tab.page.evaluate(f"() => Boolean({self._visit.place.shown})"))
        await super().close()


class NoisyWords:
    """The share of the goal's words that are on the screen, mixed with noise: 1 is nothing else. The same state, the same word."""

    def __init__(self, noise: float, seed: int) -> None:
        self._noise = noise
        self._seed = seed

    async def judge(self, context: JudgingContext) -> Closeness:
        words = (await WordOverlap().judge(context)).value or 0.0
        error = Random(f"{self._seed} {context.observation.fingerprint}").uniform(0.0, MAX_UNCHECKED_CLOSENESS)
        return Closeness(value=(1.0 - self._noise) * words + self._noise * error)


def begins_alike(label: str, goal: str) -> float:
    """The share of the goal's words that the label has, by their first five letters: 'Members…' has to do with a member."""
    wanted = {word[:5] for word in words_of(goal)}
    return len(wanted & {word[:5] for word in words_of(label)}) / len(wanted) if wanted else 0.0


def run_in_browser(application: str, arm: str, noise: float, first: int, count: int) -> list[Episode]:
    with APPLICATIONS[application]() as visits:
        return [asyncio.run(_run(visits, ARMS[arm], noise, seed)) for seed in range(first, first + count)]


async def _run(visits: Visits, arm: Arm, noise: float, seed: int) -> Episode:
    with visits(seed) as visit:
        goal, world, store = visit.place.goal, Witnessed(visit), MemoryStore()
        searcher = Searcher(related=lambda label, _: begins_alike(label, goal.says), options=arm.options)
        limits = Settings.load(task={**SETTINGS, **GENEROUS_LIMITS, **AT_ONCE})
        agent = Agent(
            world=world,
            planner=Replanner(searcher, goal, aims_first=arm.detours),
            detour_planner=(RandomTries(seed) if arm.random else searcher) if arm.detours else None,
            closeness_judge=NoisyWords(noise, seed),
            approver=Rejects("Nobody asked for that."),
            settings=limits,
            store=store,
        )
        live = agent.start(Task(goal=goal.says, done_when=goal.expect, limits=limits.limits()), run_id="run")
        turns = [turn async for turn in live]
        result = await live.result()
        return measured(
            turns,
            reached=world.shown,
            claimed=result.success,
            distance=0,
            sent=visit.received(),
            redone=await check_replay(store),
            alike=lambda _one, _other: True,
        )
