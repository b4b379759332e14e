"""How a call stands to what waits, without a browser: its own, somebody else's, gone."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Scalar
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import Target
from midcourse.errors import TaskInvalid
from midcourse.ports.world import Call
from midcourse.worlds.browser.fence import Fence
from midcourse.worlds.browser.origins import read_origins
from midcourse.worlds.browser.requests import Request

SHOP = "https://shop.example"
ORDER = Request(method="POST", url=f"{SHOP}/orders", fields={"sec-fetch-mode": "navigate"}, body=b"n=1")


def call(skill: str = "click", zone: str = "e1", **arguments: Scalar) -> Call:
    target = Target(surface="", role="button", label="Go")
    return Call(command=1, skill=skill, zone=zone, target=target, arguments=tuple(arguments.items()))


@pytest.fixture
def fence() -> Fence:
    return Fence(read_origins(None, SHOP))


def acted(fence: Fence, one: Call, *requests: Request, sends: bool = False) -> Outcome:
    """An act during which the page wants to send these."""
    fence.begin(one)
    with fence.expecting(one):
        for request in requests:
            if fence.outbox.at_once(request) is None:
                fence.outbox.park(request)
    return fence.judged(one, Outcome(), sends=sends)


def test_what_an_act_set_off_waits_for_that_call_only(fence: Fence) -> None:
    assert acted(fence, call(), ORDER).reason == "would_send"
    assert [held.request for held in fence.waiting_for(call())] == [ORDER]
    assert fence.waiting_for(call(zone="e2")) == ()
    assert fence.waiting_for(call(times=2)) == ()


def test_it_is_let_go_only_if_the_same_call_is_allowed(fence: Fence) -> None:
    acted(fence, call(), ORDER)
    assert fence.repeats(replace(call(), allowed=True)) is None
    repeated = fence.repeats(call())
    assert repeated is not None
    assert repeated.reason == "would_send"
    assert [held.request for held in fence.begin(replace(call(), allowed=True))] == [ORDER]


def test_another_call_drops_it(fence: Fence) -> None:
    acted(fence, call(), ORDER)
    assert fence.begin(replace(call(zone="e2"), allowed=True)) == ()
    assert fence.outbox.waiting == ()
    assert fence.begin(replace(call(), allowed=True)) == ()


def test_what_is_gone_is_lost_and_not_taken_for_nothing(fence: Fence) -> None:
    assert not fence.lost(call())
    acted(fence, call(), ORDER)
    assert not fence.lost(call())
    fence.outbox.drop(fence.outbox.waiting)
    assert fence.lost(call())
    assert not fence.lost(call(zone="e2"))


def test_a_form_sends_what_was_read_for_this_very_call_and_only_if_it_is_allowed(fence: Fence) -> None:
    submit = call("submit")
    fence.agree(submit, ORDER.commit)
    assert acted(fence, submit, ORDER, sends=True).reason == "would_send"
    fence.agree(submit, ORDER.commit)
    assert acted(fence, replace(call("submit", "e2"), allowed=True), ORDER, sends=True).reason == "would_send"
    fence.agree(submit, ORDER.commit)
    other = replace(ORDER, body=b"n=2")
    assert acted(fence, replace(submit, allowed=True), other, sends=True).reason == "would_send"
    fence.outbox.drop(fence.outbox.waiting)
    fence.agree(submit, ORDER.commit)
    assert acted(fence, replace(submit, allowed=True), ORDER, sends=True).status == "ok"
    assert [sent.request for sent in fence.outbox.sent] == [ORDER]


def test_what_was_agreed_to_without_an_address_binds_no_request(fence: Fence) -> None:
    going = call("navigate", "", url=f"{SHOP}/orders")
    fence.agree(going, CommitSet(values=going.arguments))
    page = Request(method="GET", url=f"{SHOP}/orders", fields={"sec-fetch-mode": "navigate"})
    fence.begin(replace(going, allowed=True))
    with fence.expecting(replace(going, allowed=True)):
        assert fence.outbox.is_free(page)


async def test_no_second_one_goes_with_it(fence: Fence) -> None:
    submit = replace(call("submit"), allowed=True)
    fence.agree(submit, ORDER.commit)
    assert acted(fence, submit, ORDER, ORDER, sends=True).status == "ok"
    assert len(fence.outbox.sent) == 1
    waits = asyncio.create_task(fence.outbox.leave(replace(ORDER, fields={})))
    await asyncio.sleep(0)
    assert not waits.done()
    waits.cancel()


def test_certificates_that_are_none_are_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "bad.pem").write_text("nonsense")
    for file in ("gone.pem", "bad.pem"):
        with pytest.raises(TaskInvalid, match="is no file with certificates in PEM"):
            Fence(read_origins(None, SHOP), authorities=str(tmp_path / file))
