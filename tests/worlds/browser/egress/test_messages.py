"""What a page may send through a WebSocket by itself, and how a binary message is shown."""

import json
import struct

import pytest

from midcourse.domain.argument import Scalar
from midcourse.domain.plan import Target
from midcourse.domain.replace import replace
from midcourse.ports.world import Call
from midcourse.worlds.browser.egress import messages as module
from midcourse.worlds.browser.egress.background import Background
from midcourse.worlds.browser.egress.binary import read_binary
from midcourse.worlds.browser.egress.messages import Messages
from midcourse.worlds.browser.egress.request import BINARY, Request

HERE = "https://shop.example"
LIVE = "wss://shop.example/live"
HELLO = b'{"type":"hello","page":"/"}'
PAGE = Request(method="GET", url=f"{HERE}/", fields={"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"})


def message(
    body: object, *, number: int = 0, url: str = LIVE, origin: str = HERE, kind: str = "text/plain", site: str = ""
) -> Request:
    raw = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":")).encode()
    fields = {"origin": origin, "content-type": kind, **({"sec-fetch-site": site} if site else {})}
    return Request(method="WS", url=url, fields=fields, body=raw, number=number)


def call(skill: str, **arguments: Scalar) -> Call:
    target = Target(surface="", role="", label="")
    return Call(command=1, skill=skill, zone="z", target=target, arguments=tuple(arguments.items()))


@pytest.fixture
def background() -> Background:
    return Background()


@pytest.fixture
def messages(background: Background) -> Messages:
    found = Messages(background)
    found.begins_empty = True
    found.note_document(PAGE, acting=False)
    return found


# --- before the first act


def test_first_messages_leave_before_anybody_did_anything(messages: Messages):
    assert messages.begins_page(message(HELLO))
    assert messages.begins_page(message(b"\x08\x01", number=1, kind=BINARY, site="same-origin"))


@pytest.mark.parametrize(
    "held",
    [
        message(HELLO, url="wss://other.example/live"),
        message(HELLO, url="wss://shop.example:8443/live"),
        message(HELLO, url="ws://shop.example/live"),
        message(HELLO, origin="https://frame.example", url="wss://frame.example/live"),
        message(HELLO, origin=""),
        message(HELLO, site="cross-site"),
        message(b"x" * 4001),
        message({"op": "order", "item": 7}),
        message(b"\x0a\x05order", kind=BINARY),
        message({"type": "hello", "token": "lovelace-1843"}),
        message({"type": "hello", "token": "bG92ZWxhY2UtMTg0Mw=="}),
    ],
    ids=[
        "host",
        "port",
        "scheme",
        "frame",
        "no page",
        "site",
        "long",
        "effect",
        "binary effect",
        "secret",
        "encoded secret",
    ],
)
def test_other_first_messages_wait(messages: Messages, held: Request):
    messages.conceal(["lovelace-1843"])
    assert not messages.begins_page(held)


def test_few_messages_leave_before_the_first_act(messages: Messages):
    assert sum(messages.begins_page(message({"n": number}, number=number)) for number in range(100)) == 20


def test_nothing_leaves_if_pages_of_an_earlier_session_have_stored_something(messages: Messages):
    messages.begins_empty = False
    assert not messages.begins_page(message(HELLO))


@pytest.mark.parametrize("act", [call("click"), call("type", text="ada"), call("hover")], ids=lambda act: act.skill)
def test_nothing_new_leaves_after_an_act(messages: Messages, background: Background, act: Call):
    assert messages.begins_page(message(HELLO))
    background.note_call(act, f"{HERE}/")
    assert not messages.begins_page(message({"type": "hello", "page": "ada"}))
    assert not messages.begins_page(message(HELLO)), "a socket that the page opens again says that it wanted to"


def test_page_that_an_act_loads_again_begins_as_before(messages: Messages, background: Background):
    second, third = message({"n": 2}, number=1), message({"n": 3}, number=2)
    assert all(map(messages.begins_page, [message(HELLO), second, third]))
    background.note_call(call("click"), f"{HERE}/")
    messages.note_document(PAGE, acting=False)
    assert not messages.begins_page(message(HELLO)), "the page has loaded itself"
    messages.note_document(PAGE, acting=True)
    assert messages.begins_page(message(HELLO))
    assert not messages.begins_page(message({"n": 3}, number=1)), "another order"
    assert not messages.begins_page(third)
    assert not messages.begins_page(message(HELLO)), "another socket of the same page"
    left = 0
    for _ in range(20):
        messages.note_document(PAGE, acting=True)
        left += messages.begins_page(message(HELLO))
    assert left == 7


# --- keep-alives


@pytest.mark.parametrize(
    "body",
    [
        b"ping",
        b"2",
        b"3",
        {"type": "ping"},
        {"event": "heartbeat", "ref": "17"},
        [None, "5", "phoenix", "heartbeat", {}],
    ],
    ids=str,
)
def test_keep_alive_is_recognised(messages: Messages, body: object):
    assert messages.keeps_alive(message(body), acting=True)


@pytest.mark.parametrize(
    "body",
    [b"pinging", b"4", {"type": "ping", "op": "order"}, {"type": "ping", "who": "Ada Lovelace"}, {"shipping": "1"}],
    ids=str,
)
def test_what_says_more_is_no_keep_alive(messages: Messages, background: Background, body: object):
    background.note_call(call("type", text="Ada Lovelace"), HERE)
    assert not messages.keeps_alive(message(body), acting=True)


def test_what_is_repeated_while_nobody_does_anything_is_a_keep_alive(messages: Messages):
    again = message({"at": "dock"})
    assert not messages.keeps_alive(again, acting=False)
    assert not messages.keeps_alive(again, acting=True)
    assert messages.keeps_alive(again, acting=False)


# --- what is filled in


def fill(messages: Messages, background: Background, body: object, act: Call, *, kind: str = "text/plain") -> str:
    """Return what an answer to this message would cover, and let the message leave."""
    background.note_call(act, f"{HERE}/")
    sent = message(body, number=9, kind=kind)
    assert messages.passes_on(act, sent)
    covers = messages.describe_kind(act, [sent], f"{HERE}/")
    messages.note_left(sent)
    return covers


def test_one_kind_is_the_message_before_with_what_was_filled_in(messages: Messages, background: Background):
    state = {"name": "", "berth": "", "gift": False, "page": "7f3a"}
    ada = {**state, "name": "Ada"}
    first = fill(messages, background, ada, call("type", text="Ada"))
    assert "what is filled in on this page" in first
    assert fill(messages, background, {**ada, "berth": "B3"}, call("select", option="B3")) == first
    assert fill(messages, background, {**ada, "berth": "B3", "gift": True}, call("check")) == first


@pytest.mark.parametrize(
    "other",
    [
        {"name": "Grace", "berth": "", "page": "416d"},
        {"name": "Grace", "berth": "ecarG"},
        {"berth": "", "name": "Grace", "page": "7f3a"},
        {"name": "Grace", "berth": "", "page": "7f3a", "n": 4},
        b'{"name":"Grace","berth":"", "page":"7f3a"}',
        b'{"name":"Gr\\u0061ce","berth":"","page":"7f3a"}',
    ],
    ids=["another value", "one is gone", "order", "one more", "blanks", "escapes"],
)
def test_other_messages_are_not_of_the_kind(messages: Messages, background: Background, other: object):
    assert fill(messages, background, {"name": "Ada", "berth": "", "page": "7f3a"}, call("type", text="Ada"))
    assert not fill(messages, background, other, call("type", text="Grace"))


def test_secret_click_and_effect_are_no_drafts(messages: Messages):
    draft = message({"name": "Ada"})
    secret = replace(call("type", text="x"), secrets=(("text", "password"),))
    assert messages.passes_on(call("type", text="Ada"), draft)
    assert not messages.passes_on(call("click"), draft)
    assert not messages.passes_on(call("press", keys="Enter"), draft)
    assert not messages.passes_on(call("type", text="Ada\n"), draft)
    assert not messages.passes_on(secret, draft)
    assert not messages.passes_on(call("type", text="Ada"), message({"op": "/order"}))
    assert not messages.passes_on(call("type", text="Ada"), message(HELLO, origin="https://frame.example"))


# --- binary messages


def test_binary_message_shows_its_texts_and_numbers():
    widget = b"\x0a\x08$$ID-Boa\x32\x04Fram"
    body = b"\x0a" + bytes([len(widget)]) + widget + b"\x10\x08\x19" + struct.pack("<d", 12.5)
    assert read_binary(body) == (
        ("1.1", "$$ID-Boa"),
        ("1 $$ID-Boa.6", "Fram"),
        ("2", "8 (4 if signed)"),
        ("3", 12.5),
    )
    assert not message(body, kind=BINARY).commit.abridged
    assert message(b"\xff" + body, kind=BINARY).commit.abridged
    assert [value for _, value in read_binary(b"\xff\x00\x01Fram to berth B3\x00\x99")] == ["Fram to berth B3"]


def test_number_that_is_longer_than_needed_is_not_read_as_a_number():
    assert module.read_fields(b"\x08\x01") == [(1, 1)]
    assert module.read_fields(b"\x08\x81\x00") is None
    draft = message(b"\x08\x81\x00", kind=BINARY)
    assert not Messages(Background()).describe_kind(call("type", text="x"), [draft], HERE)
