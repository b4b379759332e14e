"""The commit set of a form equals what the form then sends, for each encoding, in a real Chromium."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from midcourse.domain.approval import CommitSet, FieldWords
from midcourse.worlds.browser import Browser
from midcourse.worlds.browser.egress.request import describe_file
from tests.worlds.browser.site import Answer, Site
from tests.worlds.browser.visitor import page_of
from tests.worlds.support import Hand, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

FORMS = {
    "every kind of field": (
        "<form method=post action=/sent>"
        "<input name=text value='tea &amp; milk + é'><textarea name=note>one\ntwo</textarea>"
        "<input type=hidden name=token value=7><input type=checkbox name=gift checked><input type=checkbox name=no>"
        "<input type=radio name=size value=s><input type=radio name=size value=m checked>"
        "<select name=colour multiple><option selected>red<option selected>blue<option>green</select>"
        "<input name=off disabled value=x><input value=nameless><button name=do value=buy>Go</button>"
        "<button name=do value=other>Other</button></form>"
    ),
    "another address by its button": "<form action=/wrong><button formaction=/sent?x=1 formmethod=post name=a value=b>Go</button></form>",
    "a field outside of it": "<form id=f method=post action=/sent></form><input form=f name=far value=1><button form=f>Go</button>",
    "fields named like properties": (
        "<form method=post action=/sent><input name=action value=/evil><input name=method value=get>"
        "<input name=elements value=1><input name=submit value=2><input name=getAttribute value=3><button>Go</button></form>"
    ),
    "a GET": "<form action='/sent?old=1#x'><input name=q value='a b'><button>Go</button></form>",
    "a GET of nothing": "<form action=/sent><button>Go</button></form>",
    "plain text": "<form method=post action=/sent enctype=text/plain><input name=a value='1 2'><input name=b value=3><button>Go</button></form>",
    "nothing at all": "<form method=post action=/sent><button>Go</button></form>",
    "multipart": (
        "<form method=post action=/sent enctype=multipart/form-data><input name=a value='1\"é'><input type=file name=none>"
        "<textarea name=t>x\ny</textarea><button>Go</button></form>"
    ),
    "multipart of nothing": "<form method=post action=/sent enctype=multipart/form-data><button>Go</button></form>",
    "a listener that adds to it": (
        "<form method=post action=/sent><input name=a value=1><button>Go</button></form><script>"
        "document.forms[0].addEventListener('formdata', e => e.formData.append('added', '2'))</script>"
    ),
    "another base": "<base href=/deep/><form method=post action=../sent><input name=a value=1><button>Go</button></form>",
}


@pytest.fixture(scope="module")
def site() -> Site:
    return Site({"/": "<title>Start</title>", "/sent": "<title>Sent</title>"})


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hand(site: Site) -> AsyncGenerator[Hand]:
    async with site.served():
        browser = Browser(f"{site.url}/", origins={site.url: {"safe": ["POST /draft", "WS /live"]}}, quiet_seconds=0.03)
        await browser.open()
        yield Hand(browser)
        await browser.close()


async def show(hand: Hand, site: Site, body: str) -> None:
    site.pages["/form"] = Answer(f"<!doctype html><title>Form</title>{body}")
    ok(await hand.do("navigate", url=f"{site.url}/form"))
    site.forget()


@pytest.mark.parametrize("kind", FORMS)
async def test_commit_set_of_a_form_equals_the_request(hand: Hand, site: Site, kind: str) -> None:
    await show(hand, site, FORMS[kind])
    call = hand.call("submit", await hand.zone("Go"))
    read = await hand.world.commit_set(call)
    assert read is not None
    ok(await hand.world.act(replace(call, allowed=True)))
    assert await hand.title() == "Sent"
    assert [asked.method for asked in site.asked if asked.path.startswith("/sent")] == [read.address.partition(" ")[0]]


async def test_commit_set_has_hidden_fields_and_the_button(hand: Hand, site: Site) -> None:
    await show(hand, site, FORMS["every kind of field"])
    assert await hand.world.commit_set(hand.call("submit", await hand.zone("Go"))) == CommitSet(
        address=f"POST {site.url}/sent",
        values=(
            ("text", "tea & milk + é"),
            ("note", "one\ntwo"),
            ("token", "7"),
            ("gift", "on"),
            ("size", "m"),
            ("colour", "red"),
            ("colour", "blue"),
            ("do", "buy"),
        ),
    )


async def test_a_field_submits_its_form_as_enter_in_it_would(hand: Hand, site: Site) -> None:
    await show(
        hand,
        site,
        "<form method=post action=/sent><input aria-label=Item name=item value=1><button name=b value=1>Go</button></form>",
    )
    call = hand.call("submit", await hand.zone("Item"))
    read = await hand.world.commit_set(call)
    assert read == CommitSet(address=f"POST {site.url}/sent", values=(("item", "1"), ("b", "1")))
    ok(await hand.world.act(replace(call, allowed=True)))
    assert site.effects() == ["POST /sent"]


async def test_commit_set_has_the_content_of_a_file(hand: Hand, site: Site, tmp_path: Path) -> None:
    (tmp_path / "bill.txt").write_bytes(b"\x00\xff bill")
    form = "<form method=post action=/sent enctype=multipart/form-data><input type=file aria-label=Bill name=bill><button>Go</button></form>"
    await show(hand, site, form)
    ok(await hand.on("Bill", "upload", path=str(tmp_path / "bill.txt")))
    call = hand.call("submit", await hand.zone("Go"))
    read = await hand.world.commit_set(call)
    assert read is not None
    assert read.values == (("bill", describe_file("bill.txt", "text/plain", b"\x00\xff bill")),)
    ok(await hand.world.act(replace(call, allowed=True)))
    assert b"\x00\xff bill" in site.asked[0].body


@pytest.mark.parametrize("body", ["<button>Go</button>", "<form method=dialog><button>Go</button></form>"])
async def test_form_that_sends_nothing_has_no_commit_set(hand: Hand, site: Site, body: str) -> None:
    await show(hand, site, body)
    assert await hand.world.commit_set(hand.call("submit", await hand.zone("Go"))) is None


async def test_a_form_that_its_page_does_not_let_go_is_known_to_have_sent_nothing(hand: Hand, site: Site) -> None:
    await show(hand, site, "<form method=post action=/sent><input name=item required><button>Go</button></form>")
    call = hand.call("submit", await hand.zone("Go"))
    assert await hand.world.commit_set(call) is not None
    outcome = await hand.world.act(replace(call, allowed=True))
    assert (outcome.status, outcome.reason, outcome.evidence) == ("no_effect", "not_sent", "rule")
    assert site.effects() == []


@pytest.mark.parametrize("how", ["fetch('/sent?item=1')", "fetch('/draft', {method: 'POST'})"])
async def test_safe_request_leaves_the_outcome_open(hand: Hand, site: Site, how: str) -> None:
    """So the outcome does not claim that nothing left: a probe has to find out."""
    await show(
        hand, site, f'<form onsubmit="event.preventDefault(); {how}"><input name=item><button>Go</button></form>'
    )
    call = hand.call("submit", await hand.zone("Go"))
    assert await hand.world.commit_set(call) is not None
    outcome = await hand.world.act(replace(call, allowed=True))
    assert (outcome.status, outcome.evidence) == ("ok", "")
    assert len(site.asked) == 1


async def test_sent_socket_message_leaves_the_outcome_open(hand: Hand, site: Site) -> None:
    opened = "<script>const live = new WebSocket(location.origin.replace('http', 'ws') + '/live')</script>"
    form = "<form onsubmit=\"event.preventDefault(); live.send('item=1')\"><input name=item><button>Go</button></form>"
    await show(hand, site, opened + form)
    call = hand.call("submit", await hand.zone("Go"))
    assert await hand.world.commit_set(call) is not None
    outcome = await hand.world.act(replace(call, allowed=True))
    assert (outcome.status, outcome.evidence, site.effects()) == ("ok", "", ["WS /live"])


CHANGES = {
    "a hidden field": "document.forms[0].token.value = '1000'",
    "an added field": "document.forms[0].insertAdjacentHTML('beforeend', '<input name=more value=1>')",
    "a field that is gone": "document.forms[0].token.remove()",
    "its address": "document.forms[0].action = '/elsewhere'",
    "its method": "document.forms[0].method = 'get'",
    "its kind": "document.forms[0].enctype = 'text/plain'",
    "its button's value": "document.querySelector('button').value = 'everything'",
    "at the last moment": "document.forms[0].addEventListener('submit', () => { document.forms[0].token.value = '1000' })",
    "in the data": "document.forms[0].addEventListener('formdata', e => e.formData.set('token', '1000'))",
    "with more than its values": "document.forms[0].addEventListener('submit', e => { e.preventDefault();"
    "fetch('/sent', {method: 'POST', headers: {'Content-Type': 'multipart/form-data; boundary=x'}, body: ["
    "'--x', 'Content-Disposition: form-data; name=\"token\"', '', '7', '--x', 'Content-Disposition: form-data; name=\"do\"',"
    "'', '', '--x--', 'and this'].join('\\r\\n')}) })",
    "sent by a script": "document.forms[0].addEventListener('submit', e => { e.preventDefault();"
    "fetch('/sent', {method: 'POST', body: new URLSearchParams({token: '1000'})}) })",
}


@pytest.mark.parametrize("change", CHANGES)
async def test_form_that_changed_after_reading_is_held_with_the_difference(hand: Hand, site: Site, change: str) -> None:
    await show(
        hand,
        site,
        "<form method=post action=/sent><input type=hidden name=token value=7><button name=do>Go</button></form>",
    )
    call = hand.call("submit", await hand.zone("Go"))
    read = await hand.world.commit_set(call)
    await page_of(hand).evaluate(f"() => {{ {CHANGES[change]} }}")
    outcome = await hand.world.act(replace(call, allowed=True))
    assert (outcome.status, outcome.reason) == ("no_effect", "would_send")
    assert [asked for asked in site.asked if asked.path != "/favicon.ico"] == []
    held = await hand.world.commit_set(call)
    assert held is not None
    assert held != read
    assert site.effects() == []


async def test_what_the_page_says_of_its_fields_is_read_with_what_they_send(hand: Hand, site: Site) -> None:
    await show(
        hand,
        site,
        "<form method=post action=/sent><input type=hidden name=sku value=A-7><select name=p aria-label=Priority>"
        "<option value=1>Low<option value=3>High</select><label for=n>Note *:</label><input id=n name=note value=hums>"
        "<fieldset><legend>Extras</legend><label><input type=checkbox name=extra value=17 checked>Gift wrap</label></fieldset>"
        "<button>Go</button></form>",
    )
    ok(await hand.do("select", await hand.zone("Priority"), option="High"))
    commit = await hand.world.commit_set(hand.call("submit", await hand.zone("Go")))
    assert commit is not None
    assert commit.words == (
        FieldWords(name="sku", value="A-7", how="served"),
        FieldWords(name="p", value="3", label="Priority", shows="High", how="entered"),
        FieldWords(name="note", value="hums", label="Note"),
        FieldWords(name="extra", value="17", label="Extras", shows="Gift wrap"),
    )
