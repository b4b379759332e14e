"""One approval sends one request: where a server asks for it at another address by 307 or 308, that is asked about as well.

Finding: a redirect sent the approved body to another allowed origin, past the rules for it, or a dozen times to the same.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import pytest_asyncio

from midcourse import Agent, Draft, Expectation
from midcourse.domain.agreement import Agreement
from midcourse.domain.agreement import Rule as AskRule
from midcourse.domain.approval import CommitSet, Decision
from midcourse.domain.budget import Limits
from midcourse.domain.expectation import SurfaceMatches
from midcourse.domain.observation import HELD_FOR
from midcourse.domain.outcome import Outcome
from midcourse.domain.task import Task
from midcourse.planners import Playbook, Rule
from midcourse.ports.world import Call
from midcourse.testing import Approves, MemoryStore
from midcourse.testing.approvers import Answers
from midcourse.worlds.browser import Browser
from tests.worlds.browser.site import Answer, ReceivedRequest, Site
from tests.worlds.support import Hand, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

BODY = b"amount=1000"
FORM = "<form method=post action=/newsletter><input name=amount value=1000><button>Subscribe</button></form>"
FETCH = (
    "<button onclick=\"fetch('/newsletter', {method: 'POST', mode: 'no-cors', body: new URLSearchParams({amount: 1000})})"
    '">Subscribe</button>'
)
WAYS = {"submit": ("submit", FORM), "click on a form": ("click", FORM), "click on a script": ("click", FETCH)}
PLACES = ("another origin", "another path", "the same address")


def page(body: str, title: str = "Page") -> str:
    return f"<!doctype html><title>{title}</title>{body}"


@dataclass
class Ground:
    hand: Hand
    shop: Site
    bank: Site

    async def offer(self, body: str, place: str, status: int = 307) -> str:
        """Show a page that sends to `/newsletter`, which redirects. The address that it redirects to."""
        where = {
            "another origin": f"{self.bank.url}/transfer",
            "another path": f"{self.shop.url}/transfer",
            "the same address": f"{self.shop.url}/newsletter",
        }[place]
        redirects = 1

        def newsletter(asked: ReceivedRequest) -> Answer:
            nonlocal redirects
            redirects -= asked.method == "POST"
            return Answer(page("done", "Done")) if redirects < 0 else Answer(status=status, fields={"Location": where})

        self.shop.pages |= {"/page": page(body), "/newsletter": newsletter, "/transfer": page("done", "Done")}
        self.bank.pages["/transfer"] = Answer(page("done", "Done"))
        ok(await self.hand.do("navigate", url=f"{self.shop.url}/page"))
        self.shop.forget()
        self.bank.forget()
        return where

    async def allow(self, call: Call) -> tuple[CommitSet, Outcome]:
        """Read what it would send, and let it send that."""
        commit = await self.hand.world.commit_set(call)
        assert commit is not None
        self.hand.command += 1
        return commit, await self.hand.world.act(replace(call, command=self.hand.command, allowed=True))

    async def begin(self, how: str, place: str) -> tuple[Call, str]:
        """Up to what was approved has left and was redirected."""
        skill, body = WAYS[how]
        where = await self.offer(body, place)
        call = self.hand.call(skill, await self.hand.zone("Subscribe"))
        if skill == "click":
            await self.hand.world.act(call)
        commit, outcome = await self.allow(call)
        assert commit == CommitSet(address=f"POST {self.shop.url}/newsletter", values=(("amount", "1000"),))
        assert (outcome.status, outcome.reason) == ("unknown", "would_send")
        assert where in outcome.detail
        return call, where

    def posted(self) -> list[str]:
        sites = (self.shop, self.bank)
        return [f"{site.url}{asked.path}" for site in sites for asked in site.asked if asked.method == "POST"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ground() -> AsyncGenerator[Ground]:
    async with Site({"/": page("Shop")}).served() as shop, Site().served() as bank:
        browser = Browser(f"{shop.url}/", origins={shop.url: {}, bank.url: {}}, quiet_seconds=0.03)
        await browser.open()
        yield Ground(Hand(browser), shop, bank)
        await browser.close()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("how", WAYS)
async def test_one_approval_is_one_request(ground: Ground, how: str, place: str) -> None:
    call, _ = await ground.begin(how, place)
    repeated = await ground.hand.world.act(replace(call, command=call.command + 100))
    assert (repeated.status, repeated.reason) == ("no_effect", "would_send"), "without being allowed nothing goes"
    ok(await ground.hand.do("navigate", url=f"{ground.shop.url}/page"))
    assert ground.posted() == [f"{ground.shop.url}/newsletter"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("how", WAYS)
async def test_the_redirect_is_sent_once_it_was_shown_and_approved(ground: Ground, how: str, place: str) -> None:
    call, where = await ground.begin(how, place)
    (waiting,) = [zone for zone in (await ground.hand.see()).zones if zone.role == "request"]
    commit, outcome = await ground.allow(call)
    came_from = ("redirected from", f"POST {ground.shop.url}/newsletter")
    assert commit == CommitSet(address=f"POST {where}", values=(came_from, ("amount", "1000")))
    (name, _), *values = waiting.state
    assert (waiting.label, name, tuple(values)) == (commit.address, HELD_FOR, commit.values)
    ok(outcome)
    assert sorted(ground.posted()) == sorted([f"{ground.shop.url}/newsletter", where])
    site = ground.bank if place == "another origin" else ground.shop
    last = [asked for asked in site.asked if asked.method == "POST"][-1]
    assert (last.body, last.fields["content-type"].partition(";")[0]) == (BODY, "application/x-www-form-urlencoded")


async def test_a_redirect_to_an_origin_that_is_not_allowed_is_not_followed(ground: Ground) -> None:
    async with Site().served() as stranger:
        for skill, body in WAYS.values():
            await ground.offer(body, "another path")
            ground.shop.pages["/newsletter"] = Answer(status=308, fields={"Location": f"{stranger.url}/in"})
            call = ground.hand.call(skill, await ground.hand.zone("Subscribe"))
            if skill == "click":
                await ground.hand.world.act(call)
            _, outcome = await ground.allow(call)
            assert (outcome.status, outcome.reason) == ("unknown", "redirected")
        assert stranger.connections == 0


async def test_cookies_of_one_origin_do_not_go_to_another_with_a_parked_form(ground: Ground) -> None:
    ground.shop.pages["/cookie"] = Answer(page(""), fields={"Set-Cookie": "session=shop; Path=/"})
    ground.bank.pages["/cookie"] = Answer(page(""), fields={"Set-Cookie": "session=bank; Path=/"})
    ok(await ground.hand.do("navigate", url=f"{ground.shop.url}/cookie"))
    for place in ("another path", "another origin"):
        call, _ = await ground.begin("click on a form", place)
        await ground.allow(call)
    (arrived,) = [asked for asked in ground.bank.asked if asked.method == "POST"]
    assert not {"cookie", "referer"} & arrived.fields.keys()
    assert (arrived.fields["origin"], arrived.fields["sec-fetch-site"]) == ("null", "cross-site")


# --- whole runs


async def subscribed(ground: Ground, approver: Any, agreement: Agreement, **limits: Any) -> str:
    done = Expectation(checks=(SurfaceMatches(pattern="Done"),))
    subscribe = Draft(zone="button:Subscribe", skill="click", expect=done, says="Subscribe")
    planner = Playbook([Rule(on="Done", done=True), Rule(steps=(subscribe,))])
    world = Browser(f"{ground.shop.url}/page", origins={ground.shop.url: {}, ground.bank.url: {}}, quiet_seconds=0.03)
    task = Task(goal="Subscribe", agreement=agreement, limits=replace(Limits(max_calls=2), **limits))
    agent = Agent(world=world, planner=planner, approver=approver, store=MemoryStore())
    return (await agent.run(task)).final_reason


async def test_the_person_is_asked_twice_and_sees_where_it_comes_from(ground: Ground) -> None:
    where = await ground.offer(FORM, "another origin")
    person = Approves()
    assert await subscribed(ground, person, Agreement()) == "plan_complete"
    asked = [question.consequences[0].commit for question in person.questions]
    assert [commit.address for commit in asked] == [f"POST {ground.shop.url}/newsletter", f"POST {where}"]
    assert dict(asked[1].values)["redirected from"] == f"POST {ground.shop.url}/newsletter"
    assert ground.posted() == [f"{ground.shop.url}/newsletter", where]


async def test_a_rule_for_the_address_it_leads_to_is_asked_about_although_nobody_is_asked_otherwise(
    ground: Ground,
) -> None:
    where = await ground.offer(FORM, "another origin")
    person = Answers(Decision(verdict="rejected", by="testing"))
    rules = Agreement(rules=(AskRule(address="POST */transfer*", ask=True),))
    assert await subscribed(ground, person, rules, approvals="never") == "rejected"
    assert [question.consequences[0].commit.address for question in person.questions] == [f"POST {where}"]
    assert ground.posted() == [f"{ground.shop.url}/newsletter"]


async def test_a_server_that_redirects_to_itself_without_end_gets_it_once_where_nobody_is_asked(ground: Ground) -> None:
    await ground.offer(FORM, "the same address")
    ground.shop.pages["/newsletter"] = Answer(status=307, fields={"Location": "/newsletter"})
    await subscribed(ground, Answers(), Agreement(), approvals="never", max_step_retries=0)
    assert ground.posted() == [f"{ground.shop.url}/newsletter"]
