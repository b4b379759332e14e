"""Duplicate detection in Chromium: real forms with fresh hidden values, and requests that a script builds."""

import asyncio
import json
import secrets
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from benchmarks.approvals.token_site import serve
from midcourse import Agent, Draft, Expectation, Settings
from midcourse.domain.expectation import SurfaceMatches
from midcourse.domain.result import Result
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import Approves
from midcourse.worlds.browser import Browser

pytestmark = pytest.mark.slow

HEAD = "<!doctype html><title>Checkout</title>"
FORM = """<form method=post action=/orders>
<input type=hidden name=ref value={fresh}><input type=hidden name=csrf value={fresh}>
<input type=hidden name=sku value={sku}><button>Place order</button></form>"""
SCRIPT = """<p>{sku}</p><button onclick="fetch('/orders', {{method: 'POST', body: JSON.stringify(
{{sku: '{sku}', clientKey: crypto.randomUUID(), at: Date.now()}})}}).then(() => location.reload())">Place order</button>"""


class Shop:
    """Stores every order and shows the form again, as if the order had failed."""

    def __init__(self, body: str) -> None:
        self._body = body
        self.orders: list[str] = []
        self.url = ""

    def page(self, path: str) -> str:
        sku = parse_qs(urlsplit(path).query).get("sku", ["lamp"])[0]
        return HEAD + self._body.format(fresh=secrets.token_hex(3), sku=sku)

    def store(self, body: str) -> None:
        read = json.loads(body) if body.startswith("{") else {name: one[0] for name, one in parse_qs(body).items()}
        self.orders.append(read["sku"])


class Clicks:
    """Orders each of these once from a page of its own, and then the last one again and again."""

    def __init__(self, shop: Shop, skus: tuple[str, ...]) -> None:
        self._bodys = [f"{shop.url}/?sku={sku}" for sku in skus]
        self._turn = 0

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self._turn += 1
        button = next(zone.id for zone in context.observation.zones if zone.label == "Place order")
        never = Expectation(checks=(SurfaceMatches(pattern="Thank you*"),))
        click = Draft(zone=button, skill="click", says="Place the order", expect=never)
        if self._turn % 2 and self._bodys:
            return PlanDraft(
                steps=(Draft(zone="__global__", skill="navigate", arguments=(("url", self._bodys.pop(0)),)),),
                final=False,
            )
        return PlanDraft(steps=(click,), final=False)


def order(shop: Shop, person: Approves, skus: tuple[str, ...], home: Path) -> Result:
    settings = Settings.load(overrides={"home": str(home), "max_calls": "40", "max_replans": "40"})
    world = Browser(shop.url, quiet_seconds=0.03, origins={shop.url: {"navigate": ["/*"]}})
    return asyncio.run(Agent(world=world, planner=Clicks(shop, skus), approver=person, settings=settings).run("Order"))


@pytest.mark.parametrize("page", [FORM, SCRIPT], ids=["form", "script"])
def test_each_thing_is_ordered_once_and_the_last_one_not_again(page: str, tmp_path: Path) -> None:
    """The hidden `sku` is constant and tells orders apart; `ref`, whose name says nothing, changes with each load."""
    person = Approves(doubt="happened")
    with serve(Shop(page)) as shop:
        result = order(shop, person, ("lamp", "chair", "desk"), tmp_path)
    assert shop.orders == ["lamp", "chair", "desk"]
    repeats = [question for question in person.questions if question.about == "repeat"]
    assert len(repeats) == 2, "asked only when the last one was to be sent again"
    assert result.final_reason == "replan_no_change"


@pytest.mark.parametrize("status", [400, 403, 422])
def test_an_order_that_is_stored_and_refused_is_not_sent_again(status: int, tmp_path: Path) -> None:
    """The shop says that it did not accept the order. No person is asked whether it did, and the same is not sent again."""
    person = Approves(doubt="stop")
    with serve(Shop(FORM), refusal=status) as shop:
        order(shop, person, ("lamp", "chair", "lamp"), tmp_path)
    assert shop.orders == ["lamp", "chair"]
    assert [question.about for question in person.questions] == ["approve", "approve"]
