"""What a page may send through a WebSocket by itself: the messages with which it begins, keep-alives, and what is filled in.

Before the first act of a run a page knows only what servers told it, and could tell its own origin that in the address of a GET. So
its first messages to its own origin leave, with strict limits. When an act loads a page again or closes its socket, the next may begin with exactly the
same messages in the same order, which tells nothing but that the page was loaded.

A keep-alive never leaves. It is discarded, and the socket stays open, since no page misses it; a page whose server misses it connects
again.

What a script sends when a field is filled in is asked about once for each kind. Later messages of the kind must be the one before
except for what was filled in on the same page. All others wait like any unsafe request.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from midcourse.domain.argument import Pairs, Scalar
from midcourse.ports.world import Call
from midcourse.redact import Redactor
from midcourse.worlds.browser.egress.address import read_page_origin
from midcourse.worlds.browser.egress.background import EFFECTS, Background, is_volatile
from midcourse.worlds.browser.egress.binary import read_fields
from midcourse.worlds.browser.egress.request import BINARY, Request, digest

FILLING = frozenset({"append", "check", "clear", "select", "type", "uncheck"})
"""The skills that fill in a field with a value that is known here."""
_TICKING = frozenset({"check", "uncheck"})
_ALIVE = re.compile(
    r"(?i)(?:hb|(?:(?:client|server|phx)[_:. -]?)?(?:ping|pong|heart[_ -]?beat|keep[_ -]?alive)(?:[_:. -]?(?:ping|pong|req(?:uest)?))?)"
)
"""Matches the texts by which clients say that they are there."""
_ENGINE_IO = re.compile(r"[23](?:probe)?")
_LONGEST_ALIVE = 200
_LONGEST_FIRST, _FIRST_IN_ALL, _MOST_FIRST = 4_000, 20_000, 20
_MOST_REPEATED, _REPEATED_IN_ALL = 3, 8
_MOST_CHANGED = 2
_MOST_SEEN = 200
_LONGEST_DRAFT = 20_000


class Messages:
    """What one browser knows of its pages' sockets."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self.begins_empty = False
        """Whether the browser began without anything that pages of an earlier session have stored."""
        self._documents: set[str] = set()
        """The origins of the pages that were loaded in tabs."""
        self._redactor = Redactor(())
        self._first: dict[str, list[bytes]] = {}
        """The messages that left before the first act, by the address of their socket."""
        self._may_repeat: set[str] = set()
        """The addresses at which the next socket may begin as the first one did, since an act has loaded the page again or closed it."""
        self._repeating: set[str] = set()
        self._repeated = 0
        self._idle: Counter[tuple[str, bytes]] = Counter()
        """How often each message was read while no act was under way."""
        self._described: list[tuple[Request, str, Pairs]] = []
        """The messages that were described last, their kind and their values."""
        self._drafts: dict[str, tuple[str, Pairs]] = {}
        """The kind of the drafts at each address, and the values of the last one that left."""

    def conceal(self, secrets: Iterable[str]) -> None:
        """Let no message with one of these secrets leave by itself."""
        self._redactor = Redactor(("secret", secret) for secret in secrets)

    def note_document(self, request: Request, *, acting: bool) -> None:
        """Note a page that is loaded in a tab, not in a frame."""
        if request.is_navigation and request.fields.get("sec-fetch-dest", "document") == "document":
            self._documents.add(read_page_origin(request.url))
            self._may_repeat = set(self._first) if acting else self._may_repeat

    def note_closed(self, url: str) -> None:
        """Note a socket that an act has closed, by dropping a message of it. Its page opens another, and greets again."""
        if url in self._first:
            self._may_repeat.add(url)

    # --- the first messages of a page

    def begins_page(self, message: Request) -> bool:
        """Whether a message tells its server nothing but what servers have told the page. It is counted if so."""
        if not self._is_of_page(message):
            return False
        first = self._first.setdefault(message.url, [])
        if not (self._background.is_untouched and self.begins_empty):
            return self._repeats(message, first[:_MOST_REPEATED])
        left = [body for bodies in self._first.values() for body in bodies]
        if len(left) >= _MOST_FIRST or len(message.body) > _LONGEST_FIRST or sum(map(len, left)) > _FIRST_IN_ALL:
            return False
        said = _join_texts(message)
        if self._redactor(said) != said or _names_effect(said):
            return False
        first.append(message.body)
        return True

    def _repeats(self, message: Request, first: Sequence[bytes]) -> bool:
        """Whether a message is the one that came in its place when the page was loaded first. A page chooses only how many it repeats."""
        if message.number == 0:
            self._repeating = self._repeating - {message.url} | self._may_repeat & {message.url}
            self._may_repeat -= {message.url}
        same = first[message.number : message.number + 1] == [message.body] and message.url in self._repeating
        if not same or self._repeated >= _REPEATED_IN_ALL:
            self._repeating -= {message.url}
            return False
        self._repeated += 1
        return True

    def _is_of_page(self, message: Request) -> bool:
        """Whether a script of a page in a tab sent it to exactly the origin of that page."""
        origin, site = message.fields.get("origin"), message.fields.get("sec-fetch-site")
        return origin == read_page_origin(message.url) and origin in self._documents and site in (None, "same-origin")

    # --- keep-alives

    def keeps_alive(self, message: Request, *, acting: bool) -> bool:
        """Whether a message only says that the page is there: by its words, or because it came before while no act was under way."""
        seen = (message.url, message.body)
        if not acting and (seen in self._idle or len(self._idle) < _MOST_SEEN):
            self._idle[seen] += 1
        if self._background.carries_entered(message):
            return False
        texts = [(name, value) for name, value in message.commit.values if isinstance(value, str)]
        alive = [pair for pair in texts if _ALIVE.fullmatch(pair[1])]
        rest = [pair for pair in texts if pair not in alive and pair[1] != "phoenix"]
        named = bool(alive) and all(is_volatile(*pair) for pair in rest) and len(message.body) <= _LONGEST_ALIVE
        bare = _ENGINE_IO.fullmatch(message.body.decode(errors="replace")) is not None
        return bare or named or (not acting and self._idle[seen] > 1)

    # --- what is filled in

    def passes_on(self, call: Call, message: Request) -> bool:
        """Whether the act only fills in a field, which a script of its page passes on by itself."""
        plain = call.skill in FILLING and not call.secrets and "\n" not in str(dict(call.arguments).get("text", ""))
        said = _join_texts(message)
        return plain and self._is_of_page(message) and self._redactor(said) == said and not EFFECTS.search(said)

    def describe_kind(self, call: Call, messages: Sequence[Request], url: str) -> str:
        """Describe the messages that one answer may cover together with these, or return an empty string if there are none.

        The first of a kind is shown whole. Each later one must be the one before, except for what was filled in at this address.
        """
        self._described = []
        typed, where = self._background.find_typed(url), messages[0].url
        kind, last = self._drafts.get(where, ("", ()))
        for message in messages:
            values = _read_plain(message)
            if values is None or len(message.body) > _LONGEST_DRAFT or message.url != where:
                return ""
            if not kind:
                kind = _name_kind(values, typed)
            elif not _differs_only_by(last, values, typed, ticks=call.skill in _TICKING):
                return ""
            last = values
            self._described.append((message, kind, values))
        bare = where.partition("?")[0]
        return f"what the page sends through {bare} while fields are filled in: what is filled in on this page, and otherwise what the message before contained ({kind})"

    def note_left(self, message: Request) -> None:
        """Note a message that was allowed to leave. One that was described as of a kind is what the next is compared with."""
        for described, kind, values in self._described:
            if described is message:
                self._drafts[message.url] = (kind, values)


def _join_texts(message: Request) -> str:
    """Return all that can be read in a message, as it is and decoded."""
    values = "\n".join(f"{name}\n{value}" for name, value in message.commit.values)
    return f"{message.url}\n{message.body.decode(errors='replace')}\n{values}"


def _names_effect(text: str) -> bool:
    return EFFECTS.search("_" + re.sub(r"[^A-Za-z]+", "_", text)) is not None


def _read_plain(message: Request) -> Pairs | None:
    """Return the values of a message that leaves its page no choice in how they are written, or None."""
    if message.fields.get("content-type") == BINARY:
        return message.commit.values[:-1] if read_fields(message.body) is not None else None
    if message.commit.abridged:
        return None
    try:
        text = message.body.decode()
        read: object = json.loads(text)
    except ValueError:
        return None
    forms = (
        json.dumps(read, ensure_ascii=plain, separators=separators)
        for plain in (False, True)
        for separators in ((",", ":"), (", ", ": "))
    )
    return message.commit.values if text in forms else None


def _name_kind(values: Pairs, typed: frozenset[str]) -> str:
    skeleton = [(name, "what is typed" if _is_typed(value, typed) else value) for name, value in values]
    return f"kind {digest(json.dumps(skeleton).encode())[:12]}"


def _differs_only_by(
    last: Sequence[tuple[str, Scalar]], values: Sequence[tuple[str, Scalar]], typed: frozenset[str], *, ticks: bool
) -> bool:
    """Whether values are those of the last message in their order, except for a few that were filled in on the page."""
    at = changed = 0
    for name, value in values:
        if at < len(last) and last[at] == (name, value):
            at += 1
            continue
        ticked = ticks and changed == 0 and value in (True, False)
        if not ticked and not _is_typed(value, typed):
            return False
        changed += 1
        # A field that was empty may have been written without its value.
        at += at < len(last) and name.startswith(last[at][0])
    return at == len(last) and changed <= _MOST_CHANGED


def _is_typed(value: Scalar, typed: frozenset[str]) -> bool:
    if isinstance(value, float):
        return str(value) in typed or str(value).removesuffix(".0") in typed
    if isinstance(value, str) and (signed := re.fullmatch(r"(\d+) \((-?\d+) if signed\)", value)):
        return signed[1] in typed or signed[2] in typed
    return str(value) in typed and value != ""
