"""Proposed policies. From a session: stricter rules as they are, looser ones as comments. From a run: all but its last request is safe."""

import asyncio
import tomllib
from typing import Any

import pytest

from midcourse.worlds.browser.egress.background import generalize_path
from midcourse.worlds.browser.egress.outbox import OutgoingRequest, State
from midcourse.worlds.browser.egress.policy import read_origins
from midcourse.worlds.browser.egress.request import Request
from midcourse.worlds.browser.learn import PolicyLearner, learn_policy, open_attended, propose_policy
from tests.worlds.browser.site import Answer, Site

SHOP = "https://shop.example"
PAGE = {"sec-fetch-mode": "navigate"}


def uncommented(proposal: str) -> str:
    """The proposal with its comments turned into rules."""
    said = [line.removeprefix("# ") for line in proposal.splitlines()]
    return "\n".join(line for line in said if line.startswith(("[", "safe", "unsafe", "navigate", "request", "status")))


def seen(*requests: tuple[str, str, dict[str, str]]) -> PolicyLearner:
    learned = PolicyLearner()
    for method, path, fields in requests:
        request = Request(method=method, url=SHOP + path, fields=fields)
        if method == "GET":
            learned.on_passed(request)
        else:
            learned.on_sent(OutgoingRequest(request=request, state=State.SENT))
    return learned


def test_stricter_rules_are_active_and_looser_ones_are_comments() -> None:
    learned = seen(
        ("GET", "/orders/17", PAGE),
        ("GET", "/logout?next=/", PAGE),
        ("GET", "/style.css", {}),
        *[("POST", f"/draft/{n}", {}) for n in range(3)],
        ("POST", "/orders", PAGE),
        ("WS", "/live", {}),
    )
    as_it_is, agreed = tomllib.loads(learned.propose()), tomllib.loads(uncommented(learned.propose()))
    assert as_it_is == {SHOP: {"unsafe": ["GET /logout*"]}}
    assert agreed[SHOP]["safe"] == ["POST /draft/*"]
    assert agreed[SHOP]["navigate"] == ["/logout*", "/orders/*"]
    assert "Needs approval each time: POST /orders, WS /live" in learned.propose()
    read_origins(agreed, SHOP)


def test_rejected_request_is_proposed_as_evidence() -> None:
    learned = seen(("POST", "/orders", PAGE))
    sent = OutgoingRequest(request=Request(method="POST", url=f"{SHOP}/orders"), state=State.SENT)
    sent.response.append(b"HTTP/1.1 422 No\r\nContent-Length: 0\r\n\r\n")
    learned.on_sent(sent)
    agreed: dict[str, Any] = tomllib.loads(uncommented(learned.propose()))
    assert agreed[SHOP]["evidence"] == [{"request": "POST /orders", "status": 422}]
    assert read_origins(agreed, SHOP).find_disproof("POST", f"{SHOP}/orders", 422, "")


def test_refused_origins_are_proposed() -> None:
    learned = PolicyLearner()
    for what in (
        "GET https://cdn.example/x.js",
        "CONNECT fonts.example:443",
        "GET https://cdn.example/y.js",
        "nonsense",
    ):
        learned.on_refused(what)
    assert tomllib.loads(learned.propose()) == {}
    assert list(tomllib.loads(uncommented(learned.propose()))) == ["https://cdn.example", "https://fonts.example"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/", "/"),
        ("/orders", "/orders"),
        ("/orders/17", "/orders/*"),
        ("/orders/17/lines/3?full=1", "/orders/*/lines/*"),
        ("/files/3f2504e0-4f89-11d3-9a0c-0305e82c3301", "/files/*"),
        ("/search?q=tea", "/search*"),
        ("/v2/orders", "/v2/orders"),
    ],
)
def test_varying_parts_of_a_path_become_wildcards(path: str, said: str) -> None:
    assert generalize_path(path) == said


@pytest.mark.slow
async def test_session_of_a_person_is_watched_and_not_held() -> None:
    site = Site({"/": "<title>Shop</title>", "/orders": Answer("no", status=422), "/cancel": "gone"})
    other = Site({"/pixel": "x"})
    with learn_policy() as learned:
        async with (
            site.served(),
            other.served("localhost"),
            open_attended(f"{site.url}/", headed=False) as session,
        ):
            page = session.tab.page
            await page.evaluate("fetch('/orders', {method: 'POST', body: 'a'}).then(r => r.text())")
            await page.evaluate(f"fetch('{other.url}/pixel', {{mode: 'no-cors'}}).then(() => 0).catch(() => 0)")
            await page.goto(f"{site.url}/cancel?order=3")
            leaving = asyncio.create_task(session.wait_until_closed())
            await page.close()
            await leaving
    proposal = learned.propose()
    assert tomllib.loads(proposal)[site.url] == {"unsafe": ["GET /cancel*"]}
    assert "POST /orders was answered with 422" in proposal
    assert site.effects() == ["POST /orders"]
    assert other.connections == 0, "only public addresses, and the start"
    assert other.url in proposal


# --- from a finished run


def test_requests_before_the_last_one_are_safe() -> None:
    requests = [f"POST {SHOP}{path}" for path in ("/tickets/new/1", "/tickets/new/2", "/tickets")]
    assert tomllib.loads(propose_policy(requests)) == {SHOP: {"safe": ["POST /tickets/new/*"]}}


def test_request_that_names_an_effect_is_not_safe() -> None:
    requests = [f"POST {SHOP}/basket", f"POST {SHOP}/orders/7/pay", f"POST {SHOP}/newsletter"]
    proposal = propose_policy(requests)
    assert tomllib.loads(proposal) == {SHOP: {"safe": ["POST /basket"]}}
    assert "POST /newsletter, POST /orders/*/pay" in proposal


def test_a_request_that_is_sent_last_and_before_is_not_safe() -> None:
    assert tomllib.loads(propose_policy([f"POST {SHOP}/form", f"POST {SHOP}/form"])) == {SHOP: {}}


def test_each_origin_has_its_own_rules() -> None:
    other = "https://cards.example"
    proposal = tomllib.loads(propose_policy([f"POST {SHOP}/basket", f"POST {other}/cards"]))
    assert proposal == {SHOP: {"safe": ["POST /basket"]}, other: {}}


def test_run_without_questions_needs_no_policy() -> None:
    assert tomllib.loads(propose_policy([])) == {}
