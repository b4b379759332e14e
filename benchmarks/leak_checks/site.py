"""A site that repeats every value it receives, in nine encodings, in every part of a page.

/say/3    fields for the secrets of the third station, sent by GET
/told/3   the values as labels, values, hints, errors, options, links, in a frame and in drawings, and buttons that use them further
/done     the last page
"""

import json
from collections.abc import Sequence
from html import escape

from benchmarks.leak_checks.kinds import ENCODINGS
from midcourse.testing.sites import Request, Response

ACTIONS = ("Ask", "Copy", "Save", "Send", "Fetch", "Open", "Leave")
"""The buttons of a page that has received values."""
SECRETS_PER_STATION = 5
"""Secrets per station."""
FINISHED = "Finished"
STYLE = "* { font: 12px/15px monospace; margin: 0; white-space: pre } input, select { width: 99% }"


def list_actions(station: int) -> tuple[str, ...]:
    """List the buttons to press at a station. Two stations cover all buttons; each press uses another encoding."""
    return tuple(action for number, action in enumerate(ACTIONS) if (number + station) % 2 == 0)


class Telltale:
    """The site, for a number of secrets, which it receives a few at a time."""

    def __init__(self, secrets: int) -> None:
        self._secrets = secrets
        self._last: tuple[str, ...] = ()
        self.received: set[str] = set()
        """All values that the site received as secrets."""

    def answer(self, request: Request) -> Response:
        match request.path.split("/")[1:]:
            case ["say", station]:
                return Response(body=_render_form(int(station), self._list_fields(int(station))))
            case ["told", station, *_]:
                self._last = tuple(values.replace("\r\n", "\n") for values in request.query.values())
                self.received |= {*self._last}
                return Response(body=_render_page(int(station), self._last, self._find_next(int(station))))
            case ["save", station]:
                return Response(status=422, body=_render_rejection(int(station), self._last))
            case ["fetched", *_]:
                return Response(status=422, body=json.dumps({"error": self._last}), type="application/json")
            case ["aside", *_]:
                return Response(body=f"<title>{_escape_all(self._last)}</title><p>An aside</p>")
            case ["done"]:
                return Response(body=f"<title>{FINISHED}</title><h1>{FINISHED}</h1>")
            case _:
                return Response(
                    status=404, body=f"<title>Nothing here</title><p>There is no {_escape_all(self._last)}</p>"
                )

    def _list_fields(self, station: int) -> list[str]:
        return [
            f"s{number:02d}"
            for number in range(station * SECRETS_PER_STATION, min(self._secrets, (station + 1) * SECRETS_PER_STATION))
        ]

    def _find_next(self, station: int) -> str:
        return f"/say/{station + 1}" if (station + 1) * SECRETS_PER_STATION < self._secrets else "/done"


def _render_form(station: int, names: Sequence[str]) -> str:
    fields = "".join(f"<label>{name} <textarea name={name}></textarea></label>" for name in names)
    return (
        f"<title>Say</title><style>{STYLE}</style><h1>Station {station}</h1><form action=/told/{station}>"
        f"{fields}<button>Tell</button></form>"
    )


def _encode_all(values: Sequence[str]) -> list[str]:
    return [encode(word) for word in values for encode in ENCODINGS.values()]


def _escape_all(values: Sequence[str]) -> str:
    return escape(" ".join(_encode_all(values)))


def _render_page(station: int, values: Sequence[str], after: str) -> str:
    shown = "".join(map(_render_elements, _encode_all(values)))
    framed = escape("".join(f"<p>{escape(form)}</p>" for form in _encode_all(values)))
    buttons = "".join(f"<button onclick='press{name}({station})'>{name}</button>" for name in ACTIONS)
    return (
        f"<title>{_escape_all(values)}</title><style>{STYLE}</style><h1>Station {station}</h1>{buttons}<a href='{after}'>Next</a>"
        f"<iframe srcdoc='<style>{STYLE}</style>{framed}' width=900 height=150></iframe>{shown}"
        f"<script>{_make_script(station, values)}</script>"
    )


def _render_elements(form: str) -> str:
    """Render one encoded value in every kind of element."""
    word = escape(form)
    return f"""<section><h2>{word}</h2><p>You said <b>{word}</b></p><p role=alert>{word}</p><p role=status>{word}</p>
<table><tr><td>{word}</td><td><input aria-label=cell></td></tr></table>
<label>{word} <input value="{word}"></label><input placeholder="{word}"><input aria-label="{word}" readonly>
<input aria-label=wrong aria-invalid=true aria-describedby=e value=x><span id=e>{word}</span>
<select aria-label=list><option>{word}</select><textarea aria-label=area>{word}</textarea>
<a href="/seen/{word}?word={word}#{word}">{word}</a><button title="{word}">{word}</button><input type=submit value="{word}">
<img alt="{word}" src="data:,{word}"><svg width=900 height=20><text y=15>{word}</text></svg>
<fieldset><legend>{word}</legend><input aria-label=grouped></fieldset><details><summary>{word}</summary>{word}</details>
<div contenteditable aria-label=note>{word}</div></section>"""


SCRIPT = """
const one = (n) => word.every[(9 * n + n + word.turn) % word.every.length];
for (const form of word.every) { console.log(form); console.error(new Error(form)); }
history.replaceState(null, '', location.pathname + '/' + word.every.map(encodeURIComponent).join('/') + location.search + '#' + one(0));
const post = (address, fields) => {
  const form = document.createElement('form');
  form.method = 'post'; form.action = address;
  for (const [name, value] of fields) form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
  document.body.append(form); form.submit();
};
const answered = () => document.body.insertAdjacentHTML('beforeend', '<p>Answered</p>');
function pressAsk() { confirm(word.every.join(' ')); }
function pressCopy() { Object.assign(document.createElement('a'), { href: 'data:text/plain,x', download: one(1).slice(0, 60) }).click(); }
function pressSave(n) { post('/save/' + n, word.every.map((form, i) => [i % 2 ? form : 'field', form])); }
function pressSend() { fetch('/fetched/' + encodeURIComponent(one(2)), { method: 'POST', body: JSON.stringify({ [one(3)]: word.every }) }); }
function pressFetch() { fetch('/seen/' + encodeURIComponent(one(3)), { method: 'POST', body: one(4) }).then(answered); }
function pressOpen() { open('/aside?word=' + encodeURIComponent(one(5))); }
function pressLeave() { location = 'http://elsewhere.invalid/' + encodeURIComponent(one(6)); }
Promise.reject(new Error(word.every[0]));
"""
"""What the buttons do, each with one form of one secret, or with all."""


def _make_script(station: int, values: Sequence[str]) -> str:
    data = json.dumps({"every": _encode_all(values), "turn": station}).replace("</", "<\\/")
    return f"const word = {data};{SCRIPT}"


def _render_rejection(station: int, values: Sequence[str]) -> str:
    wrong = "".join(f"<p class=error>{escape(form)}</p>" for form in _encode_all(values))
    title = f"<title>Rejected: {_escape_all(values)}</title><style>{STYLE}</style>"
    return f"{title}<h1>Station {station}</h1><p>Rejected</p>{wrong}"
