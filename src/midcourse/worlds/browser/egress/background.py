"""What pages send by themselves: which held requests are not those of the act under way, and which may leave without a question.

A page can hide what caused a request, so its cause frees nothing. It only decides whether an act is held: a request of the page's
own waits, is shown as a zone, and is dropped by the next act, as if the page were offline. A plan that needs it can `send` it,
which asks. So a mistake costs an effect that can still be sent, and nothing leaves unasked.

Only the renewal of a session leaves without a question, since some applications show nothing before its answer, and keep-alives
(`keep_alive.py`). Nothing that the run entered has a place in them.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import cast
from urllib.parse import parse_qsl, urlsplit

from midcourse.domain.argument import Pairs, Scalar
from midcourse.policy.generated import QUERY, is_volatile_name, looks_random
from midcourse.policy.unsent import generalize_path
from midcourse.ports.world import Call
from midcourse.redact import SHORTEST_ENCODED, Redactor
from midcourse.worlds.browser.egress.address import read_origin, read_place
from midcourse.worlds.browser.egress.request import Request
from midcourse.worlds.browser.egress.response import RecordedResponse
from midcourse.worlds.browser.page.forms import is_now

EFFECTS = re.compile(
    r"(?i)[=/_.-](accept|activate|approve|book|buy|cancel|charge|confirm|delete|destroy|order|pay|place|post|publish|purchase|"
    r"remove|send|sign-?up|submit|transfer|unsubscribe)(s|ing)?(?![a-z])"
)
"""Matches addresses that suggest an effect by their names. They need approval wherever in a run they are sent."""
_REPORTS = re.compile(
    r"(?i)(?<![a-z])(?:analytics|telemetry|heart-?beat|keep-?alive|ping|beacon|rum|track(?:ing)?|page-?views?|collect|impressions?|"
    r"presence|csp-?report)(?![a-z])"
)
"""Matches addresses at which pages report that a visitor is there, and where."""
_RENEWS = re.compile(
    r"(?i)/(?:refresh|renew|extend)(?:[_-]?(?:token|session))?/?|.*/(?:token|session|auth)s?[/_-](?:refresh|renew|extend)/?"
)
"""Matches the last parts of a path at which a session is renewed."""
_TOKEN_ENDPOINT = re.compile(r"(?i).*/oauth2?/(?:v\d+/)?token/?")
_MODES = frozenset({"", "cookie", "json", "session", "refresh_token", "true", "false"})
"""The values, besides its own tokens, with which a page may renew its session once something was entered."""
_ENTER = {"type": "text", "append": "text", "select": "option", "accept": "text", "upload": "path"}
"""The skills that enter a value into a page, and the argument that holds it."""
_ENTER_UNSEEN = frozenset({"press", "press_keys", "drag", "upload"})
"""The skills after which a page may hold anything: keys come one by one, and the content of a file is not known here."""
_PLAIN_KEYS = re.compile(r"(?i)(?:shift\+)?(?:enter|tab|escape)")
_TELL_NOTHING = frozenset({"go_back", "switch_tab", "close_tab"})
"""The skills that tell a page nothing. Every other act does, if only which of its buttons was chosen."""
_ONE_WORD = re.compile(r"(?:Bearer )?[\x21-\x7e]{0,4096}")
_COUNTER = re.compile(r"0|[1-9]\d{0,8}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?(?:Z|[+-]\d\d:\d\d)")
_MOMENT_SECONDS = (-15.0, 2.0)
"""How far a moment may be from the time at which its request is held."""
_MOST_COUNTERS = 200
_COUNTED_EACH = 2
_COUNTS = "a number that stays or counts up by one"
WRITTEN_BY_BROWSER = re.compile(
    r"accept-encoding|connection|content-length|cookie|dnt|host|origin|priority|proxy-.*|referer|sec-.*|user-agent"
)
"""Header fields that a script cannot set, or only as it does for every GET: referrer and cookies."""
_USUAL_FIELDS = {
    "accept": ("*/*", "application/json", "application/json, text/plain, */*"),
    "accept-language": ("en-us,en;q=0.9", "en-us", "en"),
    "cache-control": ("no-cache", "no-store", "max-age=0"),
    "content-type": (
        "application/json",
        "application/json;charset=utf-8",
        "application/x-www-form-urlencoded;charset=utf-8",
        "text/plain;charset=utf-8",
    ),
    "pragma": ("no-cache",),
    "x-requested-with": ("xmlhttprequest",),
}
_MOST_SEARCHED = 200_000
"""A request with more characters than this counts as one that carries what was entered."""
_LONGEST_KIND = 1000
_MOST_RENEWALS = 50
_SHORTEST_TOKEN, _LONGEST_RENEWAL = 16, 8000


_LONGEST_SOUGHT = 200
"""Characters of a text that was entered by which it is found. Where all of it is, they are, too; patterns of a page of text take seconds."""


def _build_finder(entered: Iterable[str]) -> Redactor:
    return Redactor(("entered", text) for text in dict.fromkeys(each[:_LONGEST_SOUGHT] for each in entered))


class Background:
    """What one browser knows of its pages' own requests: what was entered, and what they send while no act is under way."""

    def __init__(self) -> None:
        self._entered: dict[str, set[str]] = {}
        """The texts that were entered, with the places of the pages. The empty one: anything may have been."""
        self._acted = False
        """Whether any page has been told something, if only by a click."""
        self._secret: set[str] = set()
        self._redactor = Redactor(())
        self._idle: Counter[str] = Counter()
        """How often a request of each kind was held while no act was under way."""
        self._renewed: dict[str, Request] = {}
        """The first renewal at each address, from before anything was entered."""
        self._answers: dict[str, RecordedResponse] = {}
        """The latest response to a renewal or a sign-in, by origin. The page gets its next tokens from there."""
        self._renewals = 0
        self._counters: dict[tuple[str, str], tuple[int, int]] = {}
        """The first and the latest number in the requests to an address, by the name of the value."""

    # --- what is entered

    @property
    def is_untouched(self) -> bool:
        """Whether no page can know anything but what servers told it."""
        return not self._acted and not self._entered

    def note_call(self, call: Call, url: str) -> None:
        """Note what this call tells the page at this address."""
        if call.skill in _TELL_NOTHING:
            return
        self._acted = True
        arguments = dict(call.arguments)
        value = arguments.get(_ENTER.get(call.skill, ""))
        if isinstance(value, str) and value:
            self._entered.setdefault(value, set()).add(read_place(url))
            if call.secrets:
                self._secret.add(value)
        if call.skill == "navigate":
            for _, part in parse_qsl(urlsplit(str(arguments.get("url", ""))).query):
                if len(part) >= SHORTEST_ENCODED:  # a shorter one is a part of many words
                    self._entered.setdefault(part, set())
        if call.skill in _ENTER_UNSEEN and not _PLAIN_KEYS.fullmatch(str(arguments.get("keys", ""))):
            self.note_person()
        self._redactor = _build_finder(self._entered)

    def has_entered_only(self, texts: Collection[str]) -> bool:
        """Whether nothing but these texts has been entered into any page."""
        return self._entered.keys() <= set(texts)

    def note_person(self) -> None:
        """Note that a person used the browser, who may have entered anything."""
        self._entered.setdefault("", set())

    def carries_entered(self, request: Request) -> bool:
        """Whether a request contains a text that was entered, in any of the forms that `redact` knows, or the beginning of one."""
        values = [str(value) for _, value in list_values(request) if value is not None]
        text = "\n".join((request.url, request.body[:_MOST_SEARCHED].decode(errors="replace"), *values))
        if len(text) > _MOST_SEARCHED or self._redactor(text) != text:
            return True
        known = [entered.casefold() for entered in self._entered if entered]
        return any(
            value.casefold() in known
            or (len(value) >= SHORTEST_ENCODED and any(text.startswith(value.casefold()) for text in known))
            for value in values
        )

    def holds_entered(self, value: str) -> bool:
        """Whether a value is a text that was entered, or contains one that is long enough not to be there by chance."""
        finder = _build_finder(text for text in self._entered if len(text) >= SHORTEST_ENCODED)
        return (value != "" and value in self._entered) or finder(value) != value

    def passes_on(self, call: Call, requests: Sequence[Request]) -> bool:
        """Whether this act only enters a text, which a script of its page passes on by itself: for suggestions, or as a draft."""
        text = dict(call.arguments).get("text")
        entered = call.skill == "type" and isinstance(text, str) and "\n" not in text and not call.secrets
        return entered and all(
            is_by_script(each) and not EFFECTS.search(urlsplit(each.url)._replace(scheme="", netloc="").geturl())
            for each in requests
        )

    def note_numbers(self, request: Request) -> dict[str, str]:
        """Return the values that tell nothing, by name: the time, and a number that stays or is one more than in the last request.

        Called once for each request when it is held, since a moment is soon over.
        """
        where = f"{request.method} {request.url.partition('?')[0]}"
        values = list_values(request)
        times = Counter(name for name, _ in values)
        found: dict[str, str] = {}
        for name, value in values:
            text = "" if isinstance(value, bool) else str(value)
            if times[name] > 1:
                continue
            if _is_this_moment(text):
                found[name] = "the time"
            elif _COUNTER.fullmatch(text) and ((where, name) in self._counters or len(self._counters) < _MOST_COUNTERS):
                # A page that is loaded again begins again. The first number is 0 or 1; any other is shown as it is.
                number = int(text)
                first, last = self._counters.get((where, name), (number, number))
                if first <= 1 and number in (first, last, last + 1):
                    found[name] = _COUNTS
                self._counters[where, name] = (first, number)
        # With each of them a page could tell one of three things.
        counted = [name for name, what in found.items() if what == _COUNTS]
        return found if len(counted) <= _COUNTED_EACH else {}

    def describe_kind(self, request: Request, url: str, numbers: Mapping[str, str]) -> str:
        """Describe the requests that one answer may cover: the same address and values, except what `note_numbers` has found and what
        was typed on the page at this address. Return an empty string if there is nothing to cover.
        """
        typed = self.find_typed(url)
        if self._secret.intersection(str(value) for _, value in list_values(request)) or request.commit.abridged:
            return ""
        said: list[str] = []
        for name, value in sorted(list_values(request), key=lambda pair: pair[0]):
            text = str(value)
            if text and any(entered.startswith(text) for entered in typed):
                said.append(f"{name} = what is typed")
            elif self._redactor(text) != text:
                return ""
            elif name in numbers:
                said.append(f"{name} = {numbers[name]}")
            else:
                said.append(f"{name} = {json.dumps(value, ensure_ascii=False)}")
        bare = request.commit.address.partition("?")[0]
        words = f"what the page sends by itself while a text is typed: {bare} with {', '.join(said)}"
        return words if len(words) <= _LONGEST_KIND and "what is typed" in words else ""

    def find_typed(self, url: str) -> frozenset[str]:
        """Return the texts, without secrets, that were entered into pages at this place."""
        place = read_place(url)
        return frozenset(text for text, places in self._entered.items() if place in places) - self._secret

    # --- whose a request is

    def note_idle(self, request: Request) -> None:
        """Note a request that was held while no act was under way."""
        self._idle[kind_of(request)] += 1

    def is_own(self, request: Request) -> bool:
        """Whether the page would have sent this without the act under way.

        It is a beacon, whose response no page reads; or it carries nothing that was entered, names no effect, and either reports by
        its name or was sent before while no act was under way.
        """
        if request.is_navigation or request.redirected_from:
            return False
        if _is_beacon(request):
            return True
        if EFFECTS.search(urlsplit(request.url)._replace(scheme="", netloc="").geturl()) or self.carries_entered(
            request
        ):
            return False
        parts = urlsplit(request.url)
        return bool(_REPORTS.search(f"{parts.path}?{parts.query}")) or kind_of(request) in self._idle

    def is_empty(self, request: Request) -> bool:
        """Whether a script of the page waits for the answer to a POST without a body, with no word of an effect and nothing that was entered.

        It can store nothing but that it was sent, so no save of the page waits for it.
        """
        bare = is_of_page(request) and not request.body and not _is_beacon(request)
        named = EFFECTS.search(urlsplit(request.url)._replace(scheme="", netloc="").geturl())
        return bare and named is None and not self.carries_entered(request)

    # --- the renewal of a session

    def renews_session(self, request: Request) -> bool:
        """Whether a request only renews the session that the page has, with nothing that the run could have entered.

        Before the first act, a page knows what servers told it, and could pass that on in the address of a GET as well. Even so
        each value is one word: a token, not a text that the page shows. After that each value and each header field must be a usual
        one, be sent as before, or be the token that its server gave last; the page has no choice in any of them.
        """
        parts = urlsplit(request.url)
        values = request.commit.values
        path = parts.path if _RENEWS.fullmatch(parts.path) else parts.path[parts.path.rfind("/", 0, -1) :]
        named = bool(_RENEWS.fullmatch(path)) or (
            bool(_TOKEN_ENDPOINT.fullmatch(parts.path)) and ("grant_type", "refresh_token") in values
        )
        if not named or parts.query or not is_of_page(request) or self._renewals >= _MOST_RENEWALS:
            return False
        if len(values) > 4 or len(request.body) > _LONGEST_RENEWAL:
            return False
        if self.is_untouched:
            tokens = {name: field for name, field in request.fields.items() if _ONE_WORD.fullmatch(field)}
            return self.has_usual_fields(request, tokens) and all(
                _ONE_WORD.fullmatch(str(value)) for _, value in values
            )
        return self._has_no_choice(request, values)

    def _has_no_choice(self, request: Request, values: Pairs) -> bool:
        first = self._renewed.get(request.url)
        before = dict(first.commit.values) if first else {}
        tokens = self._find_tokens(read_origin(request.url))
        for name, value in values:
            is_usual = value is None or isinstance(value, bool) or str(value) in _MODES
            if not is_usual and value != before.get(name) and (value is None or value != tokens.get(name)):
                return False
        bearers = [f"Bearer {tokens[name]}" for name in ("access_token", "token") if name in tokens]
        known = {**(first.fields if first else {}), **({"authorization": bearers[0]} if bearers else {})}
        head = "\n".join(request.fields.values())
        return self.has_usual_fields(request, known) and self._redactor(head) == head

    def has_usual_fields(self, request: Request, known: Mapping[str, str] | None = None) -> bool:
        """Whether each header field that a script can set has a usual value, or this `known` one."""
        return all(
            WRITTEN_BY_BROWSER.fullmatch(name)
            or (known or {}).get(name) == field
            or spell_usually(field) in _USUAL_FIELDS.get(name, ())
            for name, field in request.fields.items()
        )

    def _find_tokens(self, origin: str) -> dict[str, str]:
        """Return the tokens in the latest response, by name. A name that occurs twice would leave the page a choice."""
        answer = self._answers.get(origin)
        try:
            found: object = json.loads(answer.text) if answer else None
        except ValueError:
            return {}
        pairs = list(_list_texts(found))
        times = Counter(name for name, _ in pairs)
        return {name: text for name, text in pairs if times[name] == 1 and len(text) >= _SHORTEST_TOKEN}

    def note_renewal(self, request: Request, response: RecordedResponse) -> None:
        self._renewals += 1
        if self.is_untouched:
            self._renewed.setdefault(request.url, request)
        self.note_session(request, response)

    def note_session(self, request: Request, response: RecordedResponse) -> None:
        """Note the response to a renewal or a sign-in."""
        self._answers[read_origin(request.url)] = response


# --- kinds of requests


def kind_of(request: Request) -> str:
    """Return what requests of one kind have in common: the address and all values, without ids, counters, moments and places."""
    parts = urlsplit(request.url)
    values = sorted(
        f"{name}={'*' if is_volatile(name, value) else json.dumps(value)}" for name, value in list_values(request)
    )
    method = request.method_override or request.method
    return f"{method} {read_origin(request.url)}{generalize_path(parts.path)} {' '.join(values)}"


def spell_usually(field: str) -> str:
    """Return a header field in the spelling in which usual ones are listed."""
    return field.lower().replace("; ", ";")


def is_volatile(name: str, value: Scalar) -> bool:
    """Whether a value differs from one request of a kind to the next: a number, a moment, a token, the address of a page."""
    if value is None or isinstance(value, bool):
        return False
    text = str(value).strip()
    if not isinstance(value, str) or text.isdecimal() or re.match(r"\d{4}-\d\d-\d\d", text):
        return True
    return is_now(text) or looks_random(text) or is_volatile_name(name) or text.startswith(("/", "http:", "https:"))


def list_values(request: Request) -> list[tuple[str, Scalar]]:
    """Return all values of a request, those of its query too."""
    query = (
        parse_qsl(urlsplit(request.url).query, keep_blank_values=True)
        if request.commit.address.endswith(request.url)
        else []
    )
    return [*((QUERY + name, value) for name, value in query), *request.commit.values]


def _is_this_moment(text: str) -> bool:
    """Whether a text is the present time in milliseconds, in seconds, or as scripts write it, without any digit of the page's choice."""
    if text.isdecimal() and len(text) in (10, 13):
        moment = int(text) / (1000 if len(text) == 13 else 1)
    elif _MOMENT.fullmatch(text):
        try:
            moment = datetime.fromisoformat(text).timestamp()
        except (ValueError, OverflowError):
            return False
    else:
        return False
    earliest, latest = _MOMENT_SECONDS
    return earliest <= moment - time.time() <= latest


def _is_beacon(request: Request) -> bool:
    """Whether it is a beacon or a ping: its page is not shown the response."""
    fields = request.fields
    is_blind = fields.get("sec-fetch-mode") == "no-cors" and fields.get("sec-fetch-dest") == "empty"
    # A script may send what a form would without reading the response. Reports are not written like forms.
    is_blind = is_blind and not fields.get("content-type", "").startswith(("application/x-www-form", "multipart/"))
    return request.method == "POST" and (is_blind or "ping-to" in fields)


def is_by_script(request: Request) -> bool:
    """Whether a script of a page of the same origin sent it."""
    site, origin = request.fields.get("sec-fetch-site"), request.fields.get("origin")
    same = origin == read_origin(request.url) and site in (None, "same-origin")
    return same and not request.method_override and not request.redirected_from and not request.is_navigation


def is_of_page(request: Request) -> bool:
    """Whether it is a whole POST by a script of a page of the same origin."""
    return request.method == "POST" and is_by_script(request) and not request.commit.abridged


def _list_texts(value: object, name: str = "") -> Iterable[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in cast(dict[str, object], value).items():
            yield from _list_texts(inner, key)
    elif isinstance(value, list):
        for inner in cast(list[object], value):
            yield from _list_texts(inner, name)
    elif isinstance(value, str):
        yield name, value
