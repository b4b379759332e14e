"""The outcome of an act, by what left the browser and how servers responded."""

from dataclasses import replace

import pytest

from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import Target
from midcourse.ports.world import Call
from midcourse.worlds.base import not_sent
from midcourse.worlds.browser.egress.guard import SEND, Guard
from midcourse.worlds.browser.egress.outbox import OutgoingRequest, State, join_commits
from midcourse.worlds.browser.egress.policy import read_origins
from midcourse.worlds.browser.egress.request import Request
from midcourse.worlds.browser.egress.tls import Certificate

SHOP = "http://127.0.0.1:8000"
POLICY = {SHOP: {"evidence": [{"request": "POST /orders", "status": [401, 422]}]}}
DONE = Outcome()
CLICK = Call(command=1, skill="click", zone="e1", target=Target(surface="", role="button", label="Order"), allowed=True)


def judge_responses(*statuses: int, outcome: Outcome = DONE) -> Outcome:
    guard = Guard(read_origins(POLICY, SHOP))
    for status in statuses:
        sent = OutgoingRequest(request=Request(method="POST", url=f"{SHOP}/orders"), state=State.SENT)
        sent.response.append(f"HTTP/1.1 {status} So\r\n\r\n".encode())
        guard.outbox.sent.append(sent)
    return guard.judge(CLICK, outcome, sends=True)


@pytest.mark.parametrize(
    ("statuses", "reason"), [((422,), "rejected"), ((401,), "signed_out"), ((401, 422), "rejected")]
)
def test_evidence_rule_distinguishes_rejected_from_not_signed_in(statuses: tuple[int, ...], reason: str):
    outcome = judge_responses(*statuses)
    assert (outcome.status, outcome.reason, outcome.evidence) == ("no_effect", reason, "rule")


def test_one_response_without_evidence_leaves_the_outcome_open():
    assert (judge_responses(422, 200).status, judge_responses(422, 200).evidence) == ("ok", "")


def test_a_refused_call_is_in_doubt_if_the_page_sent_its_request_meanwhile():
    refused = not_sent("target_not_visible", "there is no zone 'e1' on the screen now")
    assert judge_responses(200, outcome=refused).status == "unknown"
    assert judge_responses(422, outcome=refused).status == "no_effect", "the answer proves it"
    nothing_left = judge_responses(outcome=refused)
    assert (nothing_left.status, nothing_left.evidence, nothing_left.claimed) == ("no_effect", "rule", False)


@pytest.mark.parametrize("released", [True, False])
def test_only_a_request_that_was_not_sent_is_said_not_to_have_been_sent(released: bool):
    guard, click = Guard(read_origins(POLICY, SHOP)), replace(CLICK, allowed=False)
    guard.begin_act(click)
    (held,) = [guard.outbox.admit(Request(method="POST", url=f"{SHOP}/orders"))]
    assert guard.judge(click, DONE, sends=False).reason == "would_send"
    if released:
        guard.outbox.release(guard.begin_act(replace(CLICK, skill=SEND, zone=held.zone_id)))
        guard.judge(replace(CLICK, skill=SEND, zone=held.zone_id), DONE, sends=True)
    else:
        held.give_up()
    assert guard.has_lost(CLICK) is not released
    again = guard.answer_repeat(CLICK)
    assert (again is None) is released, "what was sent is not said not to have been sent"


@pytest.mark.parametrize(
    ("lost", "allowed", "left"), [("given up", True, 1), ("dropped", True, 0), ("given up", False, 0)]
)
def test_form_is_left_only_if_it_was_approved_and_its_page_gave_up_the_rest(lost: str, allowed: bool, left: int):
    guard, click = Guard(read_origins(POLICY, SHOP)), replace(CLICK, allowed=False)
    guard.begin_act(click)
    fields = {"sec-fetch-mode": "navigate"}
    guard.outbox.admit(Request(method="POST", url=f"{SHOP}/orders", fields=fields))
    draft = guard.outbox.admit(Request(method="POST", url=f"{SHOP}/draft"))
    guard.judge(click, DONE, sends=False)
    guard.bind(click, join_commits(guard.find_held(click)))
    assert guard.find_rest(replace(click, allowed=True)) == (), "nothing is lost yet"
    draft.give_up() if lost == "given up" else guard.outbox.drop([draft])
    assert len(guard.find_rest(replace(click, allowed=allowed))) == left


def test_sessions_of_one_chromium_share_the_certificate_of_the_proxy():
    certificate = Certificate()
    proxies = [Guard(read_origins(POLICY, SHOP), certificate=certificate).proxy for _ in range(2)]
    assert all(proxy.certificate is certificate and certificate.flag in proxy.flags for proxy in proxies)
