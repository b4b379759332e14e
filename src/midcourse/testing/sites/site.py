"""Base class of the sites: sessions, hidden fields with tokens, random faults, and an append-only record of what was really done.

A site accepts the same request twice: avoiding that is the agent's job.
"""

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from threading import Lock
from typing import ClassVar
from urllib.parse import quote

from midcourse.testing.sites.drift import CALM, Chance, Drift
from midcourse.testing.sites.server import Request, Response
from midcourse.testing.sites.view import NOTHING, POPUPS, Given, Popup, View, Words

TOKEN = "csrf_token"
NONCE = "form_nonce"
RENDERED = "rendered_at"
KEY = "idempotency_key"
"""The field that scripts of a page add to the JSON that they send."""
HIDDEN = frozenset((TOKEN, NONCE, RENDERED, KEY))
"""All hidden fields. They are checked and removed before an application gets the form."""
_FIRST_RENDERED = 1_790_000_000


class Tokens:
    """Issues the hidden fields of one site, and checks its CSRF tokens.

    Every page gets its own token, and each stays valid as long as its session: several tabs can be open.
    Tokens are derived from the seed, so the same requests get the same ones.
    """

    def __init__(self, seed: str) -> None:
        self._key = blake2b(seed.encode(), digest_size=32).digest()
        self._pages = 0

    def fields(self, session: str, *, volatile: bool) -> Given:
        """The hidden fields of the next page. `volatile` adds some that the server ignores."""
        self._pages += 1
        token = {TOKEN: self._sign(session, self._digest(f"page {self._pages}"))}
        if not volatile:
            return token
        rendered = str(_FIRST_RENDERED + 7 * self._pages)
        return {**token, NONCE: self._digest(f"nonce {self._pages}"), RENDERED: rendered}

    def is_valid(self, session: str, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self._sign(session, token[:16]).encode())

    def _sign(self, session: str, page: str) -> str:
        return page + self._digest(f"session {session}, {page}")

    def _digest(self, text: str) -> str:
        return blake2b(text.encode(errors="replace"), key=self._key, digest_size=8).hexdigest()


USER = "ada"
PASSWORD = "lovelace"
TRY_AGAIN = "Try again"
WORDS: Words = {
    "Sign in": ("Log in", "Continue"),
    "User name": ("User", "Login name"),
    "Password": ("Your password",),
}
"""Words that drift may replace."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """A permanent effect in the application."""

    name: str
    values: Mapping[str, str]


class Site:
    """A small web application for tests. `effects` records what was really done."""

    home: ClassVar[str] = "/"
    words: ClassVar[Words] = {}
    once: ClassVar[tuple[str, ...]] = ()
    """Effects that must not happen twice."""
    forgets: ClassVar[tuple[str, ...]] = ()
    """Fields that are empty when a form is shown again."""

    def __init__(self, *, seed: int = 0, drift: Drift = CALM, tokens: bool = True, volatile: bool = False) -> None:
        """`tokens`: what is sent needs a CSRF token of a page of the same session. Forms have it as a hidden field, and
        scripts send it in a header, with a fresh idempotency key in the body. `volatile`: forms have further hidden fields
        that change with every page."""
        self._chance = Chance(drift, f"{type(self).__name__} {seed}")
        self._tokens = Tokens(f"{type(self).__name__} {seed}") if tokens else None
        self._volatile = volatile
        self._effects: list[Effect] = []
        self._signed_in: set[str] = set()
        self._sessions = 0
        self._lock = Lock()
        self.strict = self._chance.due("strict")
        """Whether a field requires another format than usual."""

    @property
    def effects(self) -> tuple[Effect, ...]:
        return tuple(self._effects)

    # --- implemented by each application

    def page(self, path: str, view: View, given: Given, errors: Given) -> str | None:
        """The HTML of the page at this path, with its form filled in from `given`. None: unknown path."""
        raise NotImplementedError

    def form_of(self, path: str) -> str:
        """The page whose form is sent to this path."""
        raise NotImplementedError

    def problems(self, path: str, form: Given) -> Given:
        """Error messages for the values that were sent, by field."""
        return NOTHING

    def find_effect(self, path: str, form: Given) -> Effect | None:
        """The effect that sending this form would have, without carrying it out."""
        return None

    def carry_out(self, path: str, form: Given) -> str:
        """Carry out what was sent, and return the path of the page that shows it."""
        raise NotImplementedError

    def state(self, path: str) -> Mapping[str, str]:
        """The values for a script of the page that polls this path."""
        return NOTHING

    # --- called by the server

    def answer(self, request: Request) -> Response:
        with self._lock:
            before = len(self._effects)
            response = self._answer_if_token_valid(request)
            if _is_poll(request):
                return response
            return replace(response, seconds=self._chance.delay(stored=len(self._effects) > before))

    def _answer_if_token_valid(self, request: Request) -> Response:
        """Answer a request that has a valid token or needs none; others fail. An ended session is detected first."""
        signed_in = request.session in self._signed_in or request.path == "/login"
        token = request.token or request.form.get(TOKEN, "")
        if (
            self._tokens
            and request.method == "POST"
            and signed_in
            and not self._tokens.is_valid(request.session, token)
        ):
            return self._fail(request, 403)
        form = {name: value for name, value in request.form.items() if name not in HIDDEN}
        return self._answer(replace(request, form=form))

    def _answer(self, request: Request) -> Response:
        if request.path == "/login":
            return self._login(request)
        if request.session in self._signed_in and not _is_poll(request) and self._chance.due("expired"):
            self._signed_in.discard(request.session)
        if request.session not in self._signed_in:
            return self._redirect_to_login(request)
        if _is_poll(request):
            return _as_json(200, self.state(request.path))
        return self._show(request) if request.method == "GET" else self._receive(request)

    def _show(self, request: Request) -> Response:
        if self._chance.due("failing"):
            return self._error(500, request.path)
        body = self.page(request.path, self._view(request.session), request.query, NOTHING)
        return self._error(404, self.home) if body is None else Response(body=body)

    def _receive(self, request: Request) -> Response:
        if request.path == "/newsletter":
            self._effects.append(Effect(name="subscribed", values=dict(request.form)))
            return _as_json(200, {})
        if self._chance.due("refused"):
            return self._fail(request, 503)
        if errors := self.problems(request.path, request.form):
            return _as_json(422, errors) if request.scripted else self._show_form_again(request, 422, errors)
        if effect := self.find_effect(request.path, request.form):
            self._effects.append(effect)
        shown = self.carry_out(request.path, request.form)
        if effect and self._chance.due("unanswered"):
            return self._fail(request, 504)
        if effect and self._chance.due("silent"):
            return _as_json(200, {}) if request.scripted else self._show_form_again(request, 200, NOTHING)
        return _as_json(200, {"shown": shown}) if request.scripted else Response(status=303, location=shown)

    def _show_form_again(self, request: Request, status: int, errors: Given) -> Response:
        kept = {name: value for name, value in request.form.items() if name not in self.forgets}
        body = self.page(self.form_of(request.path), self._view(request.session), kept, errors)
        return Response(status=status, body=body or "")

    def _fail(self, request: Request, status: int) -> Response:
        return _as_json(status, {}) if request.scripted else self._error(status, self.form_of(request.path))

    def _error(self, status: int, back: str) -> Response:
        title = _ERRORS[status]
        view = View()
        return Response(status=status, body=view.page(title, view.alert(title + "."), view.link(TRY_AGAIN, back)))

    # --- sessions

    def _login(self, request: Request) -> Response:
        then = request.query.get("next") or request.form.get("next") or self.home
        if request.method == "GET":
            return Response(body=self._login_page(request, then, wrong=False))
        if (request.form.get("user"), request.form.get("password")) != (USER, PASSWORD):
            return Response(status=422, body=self._login_page(request, then, wrong=True))
        self._sessions += 1
        session = f"s{self._sessions}"
        self._signed_in.add(session)
        return Response(status=303, location=then, session=session)

    def _login_page(self, request: Request, then: str, *, wrong: bool) -> str:
        view = self._view(request.session)
        fields = [
            view.field("user", "User name", NOTHING),
            view.field("password", "Password", NOTHING, type="password"),
        ]
        why = "Wrong user name or password." if wrong else "Your session has ended." if "ended" in request.query else ""
        return view.page("Sign in", view.alert(why), view.form(f"/login?next={quote(then)}", fields, "Sign in"))

    def _redirect_to_login(self, request: Request) -> Response:
        if request.scripted:
            return _as_json(401, {})
        then = request.path if request.method == "GET" else self.form_of(request.path)
        ended = "&ended=1" if request.session else ""
        return Response(status=303, location=f"/login?next={quote(then)}{ended}")

    # --- the look of the next page

    def _view(self, session: str) -> View:
        hidden = self._tokens.fields(session, volatile=self._volatile) if self._tokens else NOTHING
        return View(
            hidden=hidden,
            token=hidden.get(TOKEN, ""),
            words={**WORDS, **self.words},
            wording=1 + int(self._chance.draw("wording") * 2) if self._chance.due("renamed") else 0,
            moved=self._chance.due("moved"),
            popup=self._popup(),
        )

    def _popup(self) -> Popup | None:
        kind = POPUPS[int(self._chance.draw("kind of popup") * len(POPUPS))]
        covers = self._chance.draw("shape of popup") < 0.5
        if self._chance.due("popup"):
            return replace(kind, shape="cover" if covers else "dialog")
        return replace(kind, on_input=True) if self._chance.due("interrupted") else None


_ERRORS = {
    403: "403 Forbidden",
    404: "404 Not Found",
    500: "500 Internal Server Error",
    503: "503 Service Unavailable",
    504: "504 Gateway Timeout",
}


def _is_poll(request: Request) -> bool:
    return request.method == "GET" and request.scripted


def _as_json(status: int, values: Mapping[str, str]) -> Response:
    return Response(status=status, body=json.dumps(values), type="application/json")
