"""A task in a real browser, in an application that we ship and that keeps its address from run to run."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from benchmarks.reuse_tasks.case import Counted, Stage
from benchmarks.reuse_tasks.clerks import Informed
from benchmarks.web_apps.person import RecordApprover
from benchmarks.web_apps.site import SiteApplication, Trial
from midcourse.domain.argument import Pairs
from midcourse.domain.expectation import Expectation
from midcourse.domain.task import Task
from midcourse.ports.clock import SystemClock
from midcourse.testing.sites import CALM, STORMY, USER, Effect, Request, Response, Site, serve
from midcourse.worlds.browser.world import Browser

Given = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Page:
    name: str
    site: type[Site]
    clerk: type[Informed]
    goal: str
    done_when: Callable[[Given], Expectation]
    inputs: tuple[Pairs, Pairs]
    effects: Callable[[Given], tuple[Effect, ...]]
    safe: tuple[str, ...] = ()
    rejects: tuple[str, ...] = ()
    refers: bool = True

    def task(self, inputs: Pairs) -> Task:
        done_when = self.done_when(_texts(inputs))
        goal = f"As {USER}: {self.goal}"
        return Task(goal=goal, world="browser", inputs=inputs, done_when=done_when, secrets=("password",))

    def only_ours(self, inputs: Pairs) -> Pairs:
        return inputs

    def wanted(self, inputs: Pairs) -> list[Mapping[str, object]]:
        return [dict(effect.values) for effect in self.effects(_texts(inputs))]

    def application(self, inputs: Pairs) -> SiteApplication:
        return SiteApplication(
            name=self.name,
            site=self.site,
            clerk=self.clerk,
            task=self.task(inputs),
            wanted=self.effects(_texts(inputs)),
            safe=self.safe,
            rejects=self.rejects,
        )

    @contextmanager
    def start(self) -> "Generator[Desk]":
        desk = Desk(self)
        with serve(desk) as url:
            desk.url = url
            yield desk


class Desk:
    """One application after the other at the same address."""

    def __init__(self, page: Page) -> None:
        self.url = ""
        self._page = page
        self._site = page.site()
        self._before = 0

    def answer(self, request: Request) -> Response:
        return self._site.answer(request)

    def stage(self, inputs: Pairs, *, seed: int | None = None, fresh: bool = True) -> Stage:
        if fresh:
            self._site = self._page.site(seed=seed or 0, drift=CALM if seed is None else STORMY)
        self._before = len(self._site.effects)
        application = self._page.application(inputs)
        place = urlsplit(self.url)
        return Stage(
            world=Browser(self.url, origins={f"{place.scheme}://{place.netloc}": application.origin}),
            planner=Counted(self._page.clerk(), refers=self._page.refers),
            approver=RecordApprover(Trial(application=application, site=self._site, url=self.url)),
            clock=SystemClock(),
            secrets=application.secrets,
        )

    def records(self) -> list[Mapping[str, object]]:
        return [dict(effect.values) for effect in self._site.effects[self._before :]]


def _texts(inputs: Pairs) -> Given:
    return {name: str(value) for name, value in inputs}
