"""Addresses that earlier screens of a run listed as links: a plan may name them later without a person, if they hold nothing entered."""

from base64 import b64encode
from dataclasses import replace

import pytest

from midcourse.domain.argument import Argument, Reference
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.domain.skill import Catalogue, Parameter
from midcourse.domain.task import Task
from midcourse.ports.planner import PlanDraft
from midcourse.testing import Approves, Scripted
from midcourse.worlds.base import BaseWorld, Scene, Zone, skill
from tests.scenarios.stage import Stage

LISTED = {
    "http://shop/list": ("http://shop/article?id=25", "http://shop/article?id=24", "http://else/article?id=24"),
    "http://else/": ("http://shop/article?id=66",),
}


class Library(BaseWorld):
    """A list that links its articles, articles that link nothing, and another site with a link into this one."""

    def __init__(self) -> None:
        super().__init__()
        self.at = "http://shop/list"
        self.entered = ""
        self.went: list[str] = []

    def look(self) -> Scene:
        found = (f"http://shop/found?by={form}" for form in (self.entered, self.entered.upper(), encode(self.entered)))
        links = [*LISTED.get(self.at, ()), *(found if self.at == "http://shop/list" and self.entered else ())]
        zones = [
            Zone(id=f"e{place}", role="link", label=f"Article {place}", state={"href": url})
            for place, url in enumerate(links)
        ]
        origin = "/".join(self.at.split("/")[:3])
        search = Zone(id="search", role="textbox", label="Search")
        return Scene(self.at, search, *zones, address=self.at, origin=origin)

    @skill(transition=True)
    def click(self, zone: Zone) -> None:
        self.at = str(zone.get("href"))

    @skill(transition=True)
    def type(self, zone: Zone, text: str) -> None:
        self.entered = text

    @skill(effect="read", transition=True)
    def find(self, text: str) -> None:
        pass

    @skill(transition=True)
    def navigate(self, url: str) -> None:
        self.at = url
        self.went.append(url)

    def catalogue(self) -> Catalogue:
        known = super().catalogue()
        url = Parameter(name="url", destination=True)
        skills = tuple(replace(one, parameters=(url,)) if one.name == "navigate" else one for one in known.skills)
        return replace(known, skills=skills)


def encode(text: str) -> str:
    return b64encode(text.encode()).decode()


OPEN = Draft(zone="e0", skill="click")


def navigate(url: str) -> Draft:
    return Draft(zone=GLOBAL, skill="navigate", arguments=(("url", url),))


def enter(text: Argument) -> Draft:
    return Draft(zone="search", skill="type", arguments=(("text", text),))


async def asked_for(*plans: Draft) -> list[str]:
    """The addresses that a person was asked about in a run that makes these plans, each of one step."""
    person, world = Approves(), Library()
    task = Task(goal="Compare the articles 24 and 25", inputs=(("author", "Hopper"),))
    drafts = (PlanDraft(steps=(each,), final=False) for each in plans)
    planner = Scripted(*drafts, PlanDraft(verdict="done"))
    await Stage(world=world, planner=planner, approver=person, task=task).play()
    assert world.went == [str(dict(each.arguments)["url"]) for each in plans if each.skill == "navigate"]
    return [str(dict(question.consequences[0].arguments)["url"]) for question in person.questions]


async def test_an_address_that_an_earlier_screen_listed_as_a_link_needs_no_person() -> None:
    url = "http://shop/article?id=24"
    assert await asked_for(OPEN, navigate(url)) == []
    assert await asked_for(OPEN, navigate("http://shop/news"), navigate(url)) == []


@pytest.mark.parametrize(
    "url", ["http://shop/article?id=26", "http://shop/article?id=24&by=24", "http://else/article?id=24"]
)
async def test_an_address_that_no_screen_of_this_origin_listed_asks(url: str) -> None:
    assert await asked_for(OPEN, navigate(url)) == [url]


async def test_an_address_that_a_screen_of_another_origin_listed_asks() -> None:
    there, url = "http://else/", "http://shop/article?id=66"
    assert await asked_for(navigate(there), navigate("http://shop/list"), navigate(url)) == [
        there,
        "http://shop/list",
        url,
    ]


@pytest.mark.parametrize("text", ["hopper", Reference(source="input", name="author")])
async def test_a_link_that_holds_what_the_run_entered_asks(text: Argument) -> None:
    entered = "hopper" if text == "hopper" else "Hopper"
    for form in (entered, entered.upper(), encode(entered)):
        url = f"http://shop/found?by={form}"
        assert await asked_for(enter(text), OPEN, navigate(url)) == [url]


async def test_what_was_only_looked_for_or_navigated_to_was_not_entered() -> None:
    url = "http://shop/article?id=24"
    find = Draft(zone=GLOBAL, skill="find", arguments=(("text", "article"),))
    assert await asked_for(find, OPEN, navigate(url), navigate("http://shop/news"), navigate(url)) == []
