"""The states of an outgoing request: as they are drawn, and from none of them a request leaves unasked or twice."""

import re
from dataclasses import replace

import pytest

from midcourse.http1 import RequestHead
from midcourse.worlds.browser import egress
from midcourse.worlds.browser.egress.outbox import MAX_PARKED, TRANSITIONS, Outbox, OutgoingRequest, State
from midcourse.worlds.browser.egress.policy import read_origins
from midcourse.worlds.browser.egress.request import Request

SHOP = "http://127.0.0.1:8000"
POST = Request(method="POST", url=f"{SHOP}/orders", body=b"item=1")
FORM = replace(
    POST,
    fields={"sec-fetch-mode": "navigate", "origin": SHOP},
    head=RequestHead(method="POST", target=f"{SHOP}/orders", fields=(("Sec-Fetch-Mode", "navigate"), ("Origin", SHOP))),
)
FINAL = [state for state in State if state not in TRANSITIONS]


@pytest.fixture
def outbox() -> Outbox:
    return Outbox(read_origins(None, SHOP))


def claim(parked: OutgoingRequest) -> Request:
    """Return the navigation by which the session claims a parked request."""
    fields = {"sec-fetch-mode": "navigate", "referer": parked.claim}
    return Request(
        method="GET", url=parked.request.url, fields=fields, head=RequestHead(method="GET", target="/", fields=())
    )


def read_drawing() -> dict[str, set[str]]:
    """Read which states follow each one: an arrow begins at a branch, below the fork that stands behind the state it leads from."""
    lines = (egress.__doc__ or "").splitlines()
    found: dict[str, set[str]] = {}
    for row, line in enumerate(lines):
        for arrow in re.finditer(r"([┬├└])──> (\w+)", line):
            fork = next(
                above for above in reversed(lines[: row + 1]) if above[arrow.start() : arrow.start() + 1] == "┬"
            )
            (before,) = re.findall(r"(\w+) ─+$", fork[: arrow.start()])
            found.setdefault(before, set()).add(arrow[2])
    return found


def test_drawing_shows_exactly_the_states_and_transitions():
    drawn = read_drawing()
    first = drawn.pop("read")
    assert first == {"sent", "held", "parked", "dropped", "discarded"}
    assert drawn == {state.value: {to.value for to in after} for state, after in TRANSITIONS.items()}
    assert {state.value for state in State} == {*first, *drawn, *(to for after in drawn.values() for to in after)}


@pytest.mark.parametrize("state", FINAL, ids=lambda state: state.value)
def test_nothing_leaves_a_final_state(state: State, outbox: Outbox):
    kept = outbox.admit(POST)
    kept.state = state
    outbox.release([kept])
    outbox.drop([kept])
    outbox.end_act()
    assert (kept.state, outbox.sent, outbox.waiting, outbox.take_dropped()) == (state, [], (), ())
    for to in State:
        with pytest.raises(RuntimeError, match=f"is {state.value} cannot become"):
            kept.move(to)


def test_a_released_request_is_sent_once(outbox: Outbox):
    held = outbox.admit(POST)
    assert (held.state, outbox.sent) == (State.HELD, [])
    for _ in range(2):
        outbox.release([held])
    outbox.drop([held])
    assert (held.state, outbox.sent, outbox.take_dropped()) == (State.SENT, [held], ())


def test_a_request_that_the_page_gave_up_is_not_sent(outbox: Outbox):
    held = outbox.admit(POST)
    held.give_up()
    outbox.release([held])
    assert (held.state, outbox.sent, outbox.waiting) == (State.GONE, [], ())


def test_a_parked_request_leaves_with_the_navigation_that_claims_it_and_only_once(outbox: Outbox):
    parked = outbox.admit(FORM)
    assert not outbox.sent
    assert outbox.is_free(claim(parked)), "it is not released yet, so this is any GET"
    outbox.release([parked])
    assert (parked.state, outbox.sent) == (State.CLAIMABLE, [])
    assert not outbox.is_free(claim(parked))
    assert outbox.admit(claim(parked)) is parked
    assert (parked.state, parked.request.body, parked.replaces_get, outbox.sent) == (
        State.SENT,
        b"item=1",
        True,
        [parked],
    )
    assert outbox.is_free(claim(parked)), "it claims nothing any more"


def test_a_released_request_that_is_not_claimed_is_dropped_with_the_act(outbox: Outbox):
    parked = outbox.admit(FORM)
    outbox.release([parked])
    outbox.end_act()
    assert (parked.state, outbox.sent) == (State.DROPPED, [])
    assert outbox.is_free(claim(parked))


def test_what_is_expected_leaves_once_and_nothing_else_with_it(outbox: Outbox):
    with outbox.expect(POST.commit):
        others = [outbox.admit(replace(POST, body=b"item=2")), outbox.admit(POST), outbox.admit(POST)]
    assert [each.state for each in others] == [State.HELD, State.SENT, State.HELD]
    assert outbox.sent == [others[1]]


def test_the_same_navigation_is_parked_once_and_not_without_end(outbox: Outbox):
    assert outbox.admit(FORM) is outbox.admit(FORM)
    others = [outbox.admit(replace(FORM, body=str(n).encode())) for n in range(MAX_PARKED)]
    assert [each.state for each in others] == [State.PARKED] * (MAX_PARKED - 1) + [State.DROPPED]
    dropped = f"{others[-1].request.commit.address} was not sent, because {MAX_PARKED} others waited"
    assert outbox.take_dropped() == (dropped,), "as everything that is dropped, it is reported"


def test_a_redirect_is_recognised_when_its_head_has_arrived_in_pieces(outbox: Outbox):
    outbox.attended = True
    sent = outbox.admit(POST)
    outbox.record_response(sent, b"HTTP/1.1 308 Permanent Redirect\r\nLocation: /ne")
    assert sent.state is State.SENT
    outbox.record_response(sent, b"w\r\nContent-Length: 0\r\n\r\n")
    assert sent.state is State.REDIRECTED
    outbox.attended = False
    assert outbox.admit(replace(POST, url=f"{SHOP}/new")).request.redirected_from == f"POST {SHOP}/orders"


def test_a_redirect_of_a_claimed_request_is_parked_or_refused(outbox: Outbox):
    for target, waits in (("/new", True), ("http://127.0.0.1:9/", False)):
        parked = outbox.admit(FORM)
        outbox.release([parked])
        outbox.admit(claim(parked))
        outbox.record_response(parked, f"HTTP/1.1 307 So\r\nLocation: {target}\r\n\r\n".encode())
        assert parked.state is State.REDIRECTED
        assert [each.request.url for each in outbox.waiting] == ([f"{SHOP}/new"] if waits else [])
        assert outbox.has_refused_navigation != waits
        outbox.drop(outbox.waiting)


def test_a_redirect_of_a_claimed_request_is_reported_if_too_many_others_wait(outbox: Outbox):
    parked = outbox.admit(FORM)
    outbox.release([parked])
    outbox.admit(claim(parked))
    for n in range(MAX_PARKED):
        outbox.admit(replace(FORM, body=str(n).encode()))
    outbox.record_response(parked, b"HTTP/1.1 307 So\r\nLocation: /new\r\n\r\n")
    assert not outbox.holds("POST", f"{SHOP}/new")
    assert outbox.take_dropped() == (f"POST {SHOP}/new was not sent, because {MAX_PARKED} others waited",)
