"""Recognises a keep-alive: a form of the page that no user can fill in or submit, and that a script sends to say that the page is open.

Some applications tell the user that the network is down if it is dropped, as Wagtail's editor does. It may leave without a question,
because the page has nothing to choose in it but one box:

- Its address, its fields and its token stand in the document as the server sent it, in the only such form of that document.
- What leaves is not what the page wrote but the same values written here: names and values in the order of the document, our own boundary,
  the usual spelling of each header field, the origin as the referrer. Which usual fields there are is settled by the first one of a run.
- A box may become ticked once in each document. That is the one bit that a page can say, and when it says it.
- An act does not cause it: in a document that was loaded before the act, one must have left before, by itself.

A page still chooses when it sends one, at most every five seconds in each document, and 200 in a run.
"""

import re
import secrets
import time
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from urllib.parse import urlencode, urljoin, urlsplit

from midcourse.http1 import RequestHead
from midcourse.worlds.browser.egress.address import read_origin
from midcourse.worlds.browser.egress.background import (
    EFFECTS,
    WRITTEN_BY_BROWSER,
    Background,
    is_of_page,
    spell_usually,
)
from midcourse.worlds.browser.egress.request import Request
from midcourse.worlds.browser.egress.response import RecordedResponse

_SAYS_SO = re.compile(
    r"(?:/[\w.-]{1,60}){0,6}/(?:ping|alive|heart[_-]?beat|(?:keep|stay|still)[_-]?alive)"
    # What is pinged may follow: kinds of things, and then which of them.
    r"(?:(?:/[a-z_]{1,40}){0,2}(?:/(?:\d{1,12}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})){1,3})?/?"
)
_TOKEN_FIELD = re.compile(r"x-(?:csrf|xsrf)-?token")
_TOKEN = re.compile(
    r"""(?i)["'][\w-]*(?:csrf|xsrf)[\w-]*["'](?:\s*:\s*|\s+(?:content|value)=)["']([\w+/=.-]{16,200})["']"""
)
"""Matches an anti-forgery token in a document. Only the first one counts: of several, a page could choose one."""
_NAME = re.compile(r"(?!.*method)[A-Za-z][\w.:-]{0,60}")
_WORD = re.compile(r"[\x21-\x7e]{0,100}")
_KINDS = ("application/x-www-form-urlencoded", "multipart/form-data")
_KEPT = re.compile(r"connection|cookie|dnt|host|origin|sec-(?!fetch-mode|purpose).*|user-agent")
"""The header fields that leave as the browser wrote them. A script has no say in any of them, but in cookies as for every GET."""
_SPELLED = {"x-requested-with": "XMLHttpRequest"}
_MOST_FIELDS = 5
_MOST_DOCUMENTS = 5
_EACH_SECONDS = 5.0
_MOST = 200


@dataclass
class _Form:
    """A form of a document as its server sent it."""

    addresses: set[str]
    """All values of its attributes: scripts keep the address in one of their own."""
    fields: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    boxes: set[str] = field(default_factory=set[str])
    """The names of the fields that are sent only if a script has ticked them."""
    is_silent: bool = True
    """Whether there is nothing in it that a user could fill in or submit it by."""


@dataclass(eq=False, kw_only=True)
class _Document:
    url: str
    agent: str
    response: RecordedResponse = field(default_factory=RecordedResponse)
    is_new: bool = True
    """Whether no act has begun since it was loaded."""
    left_at: float | None = None
    ticked: set[str] = field(default_factory=set[str])

    form: _Form | None = None
    token: str = ""
    """The first anti-forgery token in it."""
    _read: int = -1
    """How many bytes had arrived when it was read."""

    def list_addresses(self, form: _Form) -> set[str]:
        found = {urljoin(self.url, address) for address in form.addresses if _names_keep_alive(address)}
        return {address for address in found if read_origin(address) == read_origin(self.url)}

    def read(self) -> None:
        """Read the form of the keep-alive, if there is exactly one, and the token."""
        if len(self.response) == self._read:
            return  # a page may ask often
        self._read, text, reader = len(self.response), self.response.text, _FormReader()
        reader.feed(text)
        named = [form for form in reader.forms if any(map(_names_keep_alive, form.addresses))]
        self.form = named[0] if len(named) == 1 else None
        token = _TOKEN.search(text)
        self.token = token[1] if token else ""


class _FormReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[_Form] = []
        self._form: _Form | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in reversed(attrs)}  # of two of the same name the first counts
        kind, name = given.get("type", "text").lower(), given.get("name", "")
        if tag == "form" and self._form is None:
            self._form = _Form(addresses=set(given.values()), is_silent=given.get("method", "").lower() == "post")
            self.forms.append(self._form)
        elif self._form is None or (tag == "button" and kind == "button"):
            return
        elif tag == "input" and (kind == "hidden" or (kind == "checkbox" and "hidden" in given)):
            if kind == "checkbox":
                self._form.boxes.add(name)
            self._form.fields.append((name, given.get("value", "on" if kind == "checkbox" else "")))
        elif tag in ("input", "button", "select", "textarea"):
            self._form.is_silent = False

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None


class KeepAlives:
    """What one browser knows of the keep-alives of its pages."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self._documents: list[_Document] = []
        """The documents that were loaded in tabs, the latest last."""
        self._shapes: dict[str, tuple[tuple[str, str], ...]] = {}
        """The header fields of the first keep-alive of each origin."""
        self._count = 0

    def note_document(self, request: Request) -> RecordedResponse | None:
        """Note a page that is loaded in a tab, and return what records its document. Return None for anything else."""
        if not request.is_navigation or request.fields.get("sec-fetch-dest", "document") != "document":
            return None
        document = _Document(url=request.url, agent=request.fields.get("user-agent", ""))
        self._documents = [*self._documents, document][-_MOST_DOCUMENTS:]
        return document.response

    def begin_act(self) -> None:
        """Note that an act begins. From now on, what a document sends for the first time may be the act's."""
        for document in self._documents:
            document.is_new = False

    def admit(self, request: Request, *, acting: bool) -> Request | None:
        """Return this request as it may leave, if it is a keep-alive, and count it."""
        parts = urlsplit(request.url)
        if parts.query or not _names_keep_alive(parts.path) or not is_of_page(request) or request.head is None:
            return None
        if request.fields.get("sec-fetch-mode", "cors") not in ("cors", "same-origin") or self._count >= _MOST:
            return None
        for at, document in reversed(list(enumerate(self._documents))):
            document.read()
            if document.form is not None and request.url in document.list_addresses(document.form):
                written = self._write(request, request.head, document, document.form, acting=acting)
                if written is not None:
                    # A page could choose between documents. It cannot go back to one after an older one has spoken.
                    self._documents = self._documents[: at + 1]
                return written
        return None

    def _write(
        self, request: Request, head: RequestHead, document: _Document, form: _Form, *, acting: bool
    ) -> Request | None:
        now = time.monotonic()
        by_itself = document.left_at is not None or document.is_new or not acting
        if not by_itself or (document.left_at is not None and now - document.left_at < _EACH_SECONDS):
            return None
        if not self._sends(request, form, document):
            return None
        shape = self._find_shape(request, document)
        if shape is None or self._shapes.setdefault(read_origin(request.url), shape) != shape:
            return None
        values = [(name, str(value)) for name, value in request.commit.values]
        document.ticked |= form.boxes.intersection(name for name, _ in values)
        document.left_at = now
        self._count += 1
        return _rewrite(request, head, values, dict(shape))

    def _sends(self, request: Request, form: _Form, document: _Document) -> bool:
        """Whether a request sends this form with nothing but what its server put there."""
        names = [name for name, _ in form.fields]
        sent = {name for name, _ in request.commit.values}
        expected = [pair for pair in form.fields if pair[0] not in form.boxes or pair[0] in sent]
        usual = all(_NAME.fullmatch(name) and _WORD.fullmatch(value) for name, value in form.fields)
        if not form.is_silent or not usual or len(set(names)) != len(names) or len(names) > _MOST_FIELDS:
            return False
        if len(form.boxes) > 1 or not document.ticked <= sent or list(request.commit.values) != expected:
            return False
        said = "_".join((urlsplit(request.url).path, *(text for pair in form.fields for text in pair)))
        if EFFECTS.search("_" + re.sub(r"[^A-Za-z]+", "_", said)):
            return False
        hidden = [value for name, value in expected if name not in form.boxes]
        return not any(map(self._background.holds_entered, (*hidden, request.fields.get("cookie", ""))))

    def _find_shape(self, request: Request, document: _Document) -> tuple[tuple[str, str], ...] | None:
        """Return the header fields that a script can choose, as they may leave, or None if one is unusual."""
        tokens = {
            name: value
            for name, value in request.fields.items()
            if _TOKEN_FIELD.fullmatch(name) and value == document.token
        }
        kind = request.fields.get("content-type", "")
        media = kind.partition(";")[0]
        known = {**tokens, "content-type": kind}
        same = request.fields.get("user-agent", "") == document.agent
        if media not in _KINDS or not same or not self._background.has_usual_fields(request, known):
            return None
        if any(map(self._background.holds_entered, tokens.values())):
            return None
        chosen = {
            name: _SPELLED.get(name, spell_usually(value))
            for name, value in request.fields.items()
            if not WRITTEN_BY_BROWSER.fullmatch(name)
        }
        chosen |= dict.fromkeys(tokens, "") | {"content-type": media}
        return (*sorted(chosen.items()), ("cookie", str("cookie" in request.fields)))


def _names_keep_alive(address: str) -> bool:
    return _SAYS_SO.fullmatch(urlsplit(address).path) is not None


def _rewrite(request: Request, head: RequestHead, values: list[tuple[str, str]], shape: dict[str, str]) -> Request:
    """Return the same request, written without anything that the page could have said by how it wrote it."""
    mark = f"----WebKitFormBoundary{secrets.token_hex(8)}"
    if shape["content-type"] == _KINDS[0]:
        kind, body = f"{_KINDS[0]};charset=UTF-8", urlencode(values)
    else:
        kind = f"{_KINDS[1]}; boundary={mark}"
        parts = (
            f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in values
        )
        body = f"{''.join(parts)}--{mark}--\r\n"
    fields = [pair for pair in head.fields if _KEPT.fullmatch(pair[0].lower())]
    fields += [("sec-fetch-mode", "cors")] if "sec-fetch-mode" in request.fields else []
    fields += [("referer", f"{read_origin(request.url)}/"), ("content-type", kind)]
    fields += [
        (name, value or request.fields[name]) for name, value in shape.items() if name not in ("cookie", "content-type")
    ]
    head = replace(head, fields=tuple(fields))
    return replace(request, head=head, fields=head.named, body=body.encode())
