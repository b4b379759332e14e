"""A site that repeats every value it receives, in nine encodings, in every part of a page.

/say/3    fields for the secrets of the third station. What is typed leaves by GET
/told/3   the values, as labels, values, hints, errors, options, links, in a frame and in drawings, and buttons that do more with it
/done     the end
"""

import json
from collections.abc import Sequence
from html import escape

from benchmarks.leak_checks.kinds import ENCODINGS
from midcourse.testing.sites import Request, Response

ACTIONS = ("Ask", "Copy", "Save", "Send", "Fetch", "Open", "Leave")
"""The buttons of a page that has received values."""
WORDS = 5
"""For each station."""
FINISHED = "Finished"
STYLE = "* { font: 12px/15px monospace; margin: 0; white-space: pre } input, select { width: 99% }"


def due(station: int) -> tuple[str, ...]:
    """What is pressed there: after two stations, everything was. Each time it is done with another encoding."""
    return tuple(action for number, action in enumerate(ACTIONS) if (number + station) % 2 == 0)


class Telltale:
    """For so many secrets, which it receives a few at a time."""

    def __init__(self, secrets: int) -> None:
        self._secrets = secrets
        self._last: tuple[str, ...] = ()
        self.told: set[str] = set()
        """Everything that ever reached it as a secret."""

    def answer(self, request: Request) -> Response:
        match request.path.split("/")[1:]:
            case ["say", station]:
                return Response(body=_asking(int(station), self._names(int(station))))
            case ["told", station, *_]:
                self._last = tuple(said.replace("\r\n", "\n") for said in request.query.values())
                self.told |= {*self._last}
                return Response(body=_page(int(station), self._last, self._after(int(station))))
            case ["save", station]:
                return Response(status=422, body=_rejecting(int(station), self._last))
            case ["fetched", *_]:
                return Response(status=422, body=json.dumps({"error": self._last}), type="application/json")
            case ["aside", *_]:
                return Response(body=f"<title>{_all(self._last)}</title><p>An aside</p>")
            case ["done"]:
                return Response(body=f"<title>{FINISHED}</title><h1>{FINISHED}</h1>")
            case _:
                return Response(status=404, body=f"<title>Nothing here</title><p>There is no {_all(self._last)}</p>")

    def _names(self, station: int) -> list[str]:
        return [f"s{number:02d}" for number in range(station * WORDS, min(self._secrets, (station + 1) * WORDS))]

    def _after(self, station: int) -> str:
        return f"/say/{station + 1}" if (station + 1) * WORDS < self._secrets else "/done"


def _asking(station: int, names: Sequence[str]) -> str:
    fields = "".join(f"<label>{name} <textarea name={name}></textarea></label>" for name in names)
    return (
        f"<title>Say</title><style>{STYLE}</style><h1>Station {station}</h1><form action=/told/{station}>"
        f"{fields}<button>Tell</button></form>"
    )


def _forms(said: Sequence[str]) -> list[str]:
    return [encode(word) for word in said for encode in ENCODINGS.values()]


def _all(said: Sequence[str]) -> str:
    return escape(" ".join(_forms(said)))


def _page(station: int, said: Sequence[str], after: str) -> str:
    shown = "".join(map(_shown, _forms(said)))
    framed = escape("".join(f"<p>{escape(form)}</p>" for form in _forms(said)))
    buttons = "".join(f"<button onclick='press{name}({station})'>{name}</button>" for name in ACTIONS)
    return (
        f"<title>{_all(said)}</title><style>{STYLE}</style><h1>Station {station}</h1>{buttons}<a href='{after}'>Next</a>"
        f"<iframe srcdoc='<style>{STYLE}</style>{framed}' width=900 height=150></iframe>{shown}"
        f"<script>{_script(station, said)}</script>"
    )


def _shown(form: str) -> str:
    """One form of it, in every kind of element."""
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


def _script(station: int, said: Sequence[str]) -> str:
    data = json.dumps({"every": _forms(said), "turn": station}).replace("</", "<\\/")
    return f"const word = {data};{SCRIPT}"


def _rejecting(station: int, said: Sequence[str]) -> str:
    wrong = "".join(f"<p class=error>{escape(form)}</p>" for form in _forms(said))
    title = f"<title>Rejected: {_all(said)}</title><style>{STYLE}</style>"
    return f"{title}<h1>Station {station}</h1><p>Rejected</p>{wrong}"
