"""Which request only says that its page is open, and how it is written: each condition alone makes it one that is held."""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from midcourse.domain.plan import Target
from midcourse.http1 import RequestHead
from midcourse.ports.world import Call
from midcourse.worlds.browser.egress import keep_alive as module
from midcourse.worlds.browser.egress.background import Background
from midcourse.worlds.browser.egress.keep_alive import KeepAlives
from midcourse.worlds.browser.egress.request import Request

SITE = "https://news.example"
EDITOR = f"{SITE}/admin/pages/10/edit/"
PING = "/admin/editing-sessions/ping/core/page/10/1/"
TOKEN = "hXj20MyMYMnXvhPqZiFhinM577xHNQv8"
FORM = """<form method="post" data-src="ADDRESS" data-action="release"><input type="checkbox" name="is_editing" value="1" hidden />
<input type="hidden" name="revision_id" value="17" /><input type="hidden" name="seen" value="2026-11-19T23:30:00+00:00" /></form>"""
CONFIG = f'<script type="application/json">{{"CSRF_TOKEN": "{TOKEN}", "CSRF_HEADER_NAME": "x-csrftoken"}}</script>'
PAGE = f"""<!doctype html>{CONFIG}{FORM.replace("ADDRESS", PING)}<form method=post><input type=hidden name=csrfmiddlewaretoken value="{TOKEN[::-1]}"><input name=title>
<button>Publish</button></form>"""
HIDDEN = (("revision_id", "17"), ("seen", "2026-11-19T23:30:00+00:00"))
TICKED = (("is_editing", "1"), *HIDDEN)
FIELDS = {
    "Host": "news.example",
    "Origin": SITE,
    "Cookie": "sessionid=9f86d081884c7d65",
    "Referer": EDITOR,
    "User-Agent": "Chromium",
    "Sec-Fetch-Site": "same-origin",
    "Sec-Fetch-Mode": "cors",
    "Accept": "*/*",
    "x-requested-with": "XMLHttpRequest",
    "x-csrftoken": TOKEN,
}


def call(skill: str, **arguments: str) -> Call:
    target = Target(surface="", role="", label="")
    return Call(command=1, skill=skill, zone="z", target=target, arguments=tuple(arguments.items()))


def posted(
    values: Sequence[tuple[str, str]] = HIDDEN,
    *,
    path: str = PING,
    mark: str = "----WebKitFormBoundaryAbCdEfGh12345678",
    method: str = "POST",
    kind: str = "",
    body: bytes | None = None,
    without: Sequence[str] = (),
    **more: str,
) -> Request:
    if body is None:
        parts = (
            f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in values
        )
        body = f"{''.join(parts)}--{mark}--\r\n".encode()
    fields = FIELDS | {"Content-Type": kind or f"multipart/form-data; boundary={mark}"}
    fields |= {name.replace("_", "-"): value for name, value in more.items()}
    head = RequestHead(
        method=method, target=path, fields=tuple((name, value) for name, value in fields.items() if name not in without)
    )
    return Request(method=method, url=f"{SITE}{path}", fields=head.named, head=head, body=body)


class Pages:
    """The pages of one browser, after the user has signed in as 'editor' and typed a door code."""

    def __init__(self, *entered: str) -> None:
        self.background = Background()
        self.keep_alives = KeepAlives(self.background)
        for text in ("editor", "4711", *entered):
            self.background.note_call(call("type", text=text), EDITOR)

    def load(self, html: str = PAGE, *, url: str = EDITOR, packed: bool = False, **fields: str) -> None:
        own = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document", "user-agent": "Chromium", **fields}
        response = self.keep_alives.note_document(Request(method="GET", url=url, fields=own))
        body = gzip.compress(html.encode()) if packed else html.encode()
        if response is not None:
            response.append(
                b"HTTP/1.1 200 OK\r\n" + (b"Content-Encoding: gzip\r\n" if packed else b"") + b"\r\n" + body
            )

    def send(self, request: Request, *, acting: bool = False) -> Request | None:
        return self.keep_alives.admit(request, acting=acting)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that goes on by ten seconds with each look at it."""
    now = [0.0]

    def tick() -> float:
        now[0] += 10.0
        return now[0]

    monkeypatch.setattr(module.time, "monotonic", tick)
    return now


@pytest.mark.parametrize("packed", [False, True])
def test_form_of_the_document_leaves_with_its_box_and_without(*, packed: bool) -> None:
    pages = Pages()
    pages.load(packed=packed)
    for values in (HIDDEN, HIDDEN, TICKED, TICKED):
        left = pages.send(posted(values))
        assert left is not None
        assert left.commit.values == values
        assert left.fields["x-csrftoken"] == TOKEN
        assert left.fields["x-requested-with"] == "XMLHttpRequest"


@pytest.mark.parametrize(
    "path",
    ["/session/keepalive", "/keep-alive", "/stay_alive/", "/users/7/heartbeat", "/ping/7", "/ping/core/page/7/9/"],
)
def test_addresses_that_say_so(path: str) -> None:
    pages = Pages()
    pages.load(PAGE.replace(PING, path))
    assert pages.send(posted(path=path))


# --- hostile shapes: nothing that was entered, and no choice but the box


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A page that dresses up as a keep-alive, and what it sends."""

    request: Request = field(default_factory=posted)
    page: str = PAGE
    url: str = EDITOR


def put(*, address: str = PING, more: str = "", page: str = "") -> str:
    return f"{CONFIG}<form method=post x='{address}'><input type=hidden name=revision_id value=17>{more}</form>{page}"


ONE = (("revision_id", "17"),)
SHAPES = {
    "a value of the page's choice": Shape(request=posted((("revision_id", "4711"), HIDDEN[1]))),
    "another value, encoded": Shape(request=posted((("revision_id", "NDcxMQ=="), HIDDEN[1]))),
    "a field more": Shape(request=posted((*HIDDEN, ("note", "x")))),
    "a field less": Shape(request=posted(ONE)),
    "the fields in another order": Shape(request=posted(HIDDEN[::-1])),
    "the box twice": Shape(request=posted((TICKED[0], *TICKED))),
    "another word for the box": Shape(request=posted((("is_editing", "yes"), *HIDDEN))),
    "two boxes": Shape(
        request=posted((("b1", "on"), *ONE)),
        page=put().replace(
            "<input", "<input type=checkbox name=b1 hidden><input type=checkbox name=b2 hidden><input", 1
        ),
    ),
    "one of many addresses": Shape(
        request=posted(ONE, path="/7/ping"), page=put(address="/7/ping", page=put(address="/8/ping"))
    ),
    "an address that the server did not say": Shape(request=posted(path="/4711/ping")),
    "a query that the server said": Shape(
        request=posted(ONE, path="/7/ping?door=4711"), page=put(address="/7/ping?door=4711")
    ),
    "a query": Shape(request=posted(path=f"{PING}?door=4711")),
    "one of many tokens": Shape(page=f'<meta name="csrf-token" content="{TOKEN[::-1]}">{PAGE}'),
    "a token of the page's choice": Shape(request=posted(x_csrftoken="4711" * 8)),
    "a header field of its own": Shape(request=posted(x_request_id="34373131")),
    "a usual header field with an unusual value": Shape(request=posted(Accept="text/4711")),
    "another browser": Shape(request=posted(User_Agent="4711")),
    "what was typed, put into the document by the server": Shape(
        request=posted((("revision_id", "4711"),)), page=put().replace("17", "4711")
    ),
    "words": Shape(request=posted((("revision_id", "Dear Mr"),)), page=put().replace("=17", "='Dear Mr'")),
    "JSON": Shape(request=posted(kind="application/json", body=b'{"revision_id": "17"}'), page=put()),
    "a file": Shape(
        request=posted(
            body=b'--X\r\nContent-Disposition: form-data; name="revision_id"; filename="17"\r\nContent-Type: a/b\r\n\r\n17\r\n--X--\r\n',
            kind="multipart/form-data; boundary=X",
        ),
        page=put(),
    ),
    "a form that a user fills in": Shape(request=posted(ONE), page=put(more="<input name=door>")),
    "a form that a user submits": Shape(request=posted(ONE), page=put(more="<button>Ping Marta</button>")),
    "an effect by its address": Shape(
        request=posted(ONE, path="/orders/confirm/7/ping"), page=put(address="/orders/confirm/7/ping")
    ),
    "an effect behind the word": Shape(
        request=posted(ONE, path="/ping/hosts/7/close"), page=put(address="/ping/hosts/7/close")
    ),
    "many words behind the word": Shape(
        request=posted(ONE, path="/ping/all/hosts/off/7"), page=put(address="/ping/all/hosts/off/7")
    ),
    "an address that another origin said": Shape(
        request=posted(ONE, path="/7/ping"), page=put(address=f"{SITE}/7/ping"), url="https://evil.example/"
    ),
    "an effect by a hidden field": Shape(
        request=posted((("action", "delete"),)), page=put().replace("revision_id", "action").replace("17", "delete")
    ),
    "another method by a hidden field": Shape(
        request=posted((("http_method", "put"),)), page=put().replace("revision_id", "http_method").replace("17", "put")
    ),
    "another method by a header field": Shape(request=posted(X_HTTP_Method_Override="DELETE")),
    "another method": Shape(request=posted(method="PUT")),
    "a beacon": Shape(request=posted(Sec_Fetch_Mode="no-cors")),
    "a form that navigates": Shape(request=posted(Sec_Fetch_Mode="navigate")),
    "a page of another origin": Shape(request=posted(Origin="https://evil.example", Sec_Fetch_Site="cross-site")),
    "a redirect": Shape(request=replace(posted(), redirected_from="POST https://news.example/x")),
}


@pytest.mark.parametrize("name", SHAPES)
def test_hostile_shape_does_not_leave(name: str) -> None:
    shape, pages = SHAPES[name], Pages()
    pages.load(shape.page, url=shape.url)
    assert pages.send(shape.request) is None


@pytest.mark.parametrize("name", ["two boxes", "one of many addresses", "a form that a user submits"])
def test_hostile_shape_without_its_trick_leaves(name: str) -> None:
    path = SHAPES[name].request.url.removeprefix(SITE)
    pages = Pages()
    pages.load(put(address=path))
    assert pages.send(posted(ONE, path=path))


WRITTEN = {
    "its boundary": posted(mark="----WebKitFormBoundary4711471147114711"),
    "the case of a header field's value": posted(Accept="*/*", x_requested_with="xmlHTTPrequesT"),
    "the referrer": posted(Referer=f"{SITE}/4711"),
    "the priority": posted(Priority="u=4, 711"),
    "the mode": posted(Sec_Fetch_Mode="same-origin"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_page_says_nothing_by_how_it_writes_a_keep_alive(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.secrets, "token_hex", lambda size: "0" * 2 * size)
    pages = Pages()
    pages.load()
    usual, other = pages.send(posted()), pages.send(WRITTEN[name])
    assert usual is not None
    assert other is not None
    assert (other.head, other.body) == (usual.head, usual.body)
    assert "4711" not in f"{other.head} {other.body!r}"


SIGNALS = {
    "a box that goes off again": [posted(TICKED), posted()],
    "another usual header field": [posted(), posted(Cache_Control="no-cache")],
    "a usual header field less": [posted(), posted(without=("x-requested-with",))],
    "no token": [posted(), posted(without=("x-csrftoken",))],
    "no cookie": [posted(), posted(without=("Cookie",))],
    "a form of another kind": [
        posted(),
        posted(kind="application/x-www-form-urlencoded", body=b"revision_id=17&seen=2026-11-19T23%3A30%3A00%2B00%3A00"),
    ],
}


@pytest.mark.parametrize("name", SIGNALS)
def test_only_the_first_keep_alive_chooses(name: str) -> None:
    pages, (first, second) = Pages(), SIGNALS[name]
    pages.load()
    assert pages.send(first)
    assert pages.send(second) is None


def test_form_may_be_of_either_kind() -> None:
    pages = Pages()
    pages.load()
    left = pages.send(SIGNALS["a form of another kind"][1])
    assert left is not None
    assert left.body == b"revision_id=17&seen=2026-11-19T23%3A30%3A00%2B00%3A00"


def test_page_does_not_choose_between_documents() -> None:
    pages = Pages()
    pages.load(put(address="/1/ping"))
    pages.load(put(address="/2/ping"))
    one, two = (posted(ONE, path=path) for path in ("/1/ping", "/2/ping"))
    assert [bool(pages.send(each)) for each in (two, two, one, two, one)] == [True, True, True, False, True]


def test_latest_document_with_an_address_decides() -> None:
    pages = Pages()
    pages.load()
    assert pages.send(posted())
    pages.load()
    pages.keep_alives.begin_act()
    assert pages.send(posted(), acting=True) is None


def test_frame_is_no_document_of_a_tab() -> None:
    pages = Pages()
    pages.load(**{"sec-fetch-dest": "iframe"})
    assert pages.send(posted()) is None


def test_act_causes_no_keep_alive() -> None:
    """What leaves first because of a click, as by a button 'Ping Marta', is held. What the new page of a click begins with is not."""
    pages = Pages()
    pages.load()
    pages.keep_alives.begin_act()
    assert pages.send(posted(), acting=True) is None
    pages.load()
    assert pages.send(posted(), acting=True)
    pages.keep_alives.begin_act()
    assert pages.send(posted(), acting=True), "it has left by itself before"


def test_few_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = Pages()
    pages.load()
    assert sum(pages.send(posted()) is not None for _ in range(300)) == 200
    pages = Pages()
    pages.load()
    seconds = iter([10.0, 12.0, 14.9, 15.0, 19.0])
    monkeypatch.setattr(module.time, "monotonic", lambda: next(seconds))
    assert [bool(pages.send(posted())) for _ in range(5)] == [True, False, False, True, False]
