"""An outgoing request and its commit set: every value that it would send, as an approver sees it and an approval binds it.

Values are parsed from bodies of known types. A value that is too large or is not text is bound by its digest, and the commit
set is marked as abridged.
"""

import codecs
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from email.message import Message
from hashlib import sha256
from math import isfinite
from typing import cast
from urllib.parse import parse_qsl, unquote_to_bytes

from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Pairs, Scalar
from midcourse.http1 import RequestHead
from midcourse.worlds.browser.egress.address import read_origin
from midcourse.worlds.browser.egress.binary import read_binary, read_fields
from midcourse.worlds.browser.egress.policy import SAFE_METHODS, SOCKET

MAX_VALUES = 2000
LONGEST = 20_000
"""The maximum number of characters of a name or a value that are kept."""
MAX_CHARACTERS = 200_000
"""The maximum number of characters of all names and values together, except the last one."""
RAW = "body"
"""The name of a value that is a whole body."""
CHARSET = "charset of the body"
"""The name of the value that holds the charset of a body, if it is not UTF-8."""
REDIRECTED = "redirected from"
"""The name of the value that holds the request whose response asked for this one."""

BINARY = "application/octet-stream"
"""The type of a binary message."""
CROSS_SITE = "cross-site"
UTF_8 = "utf-8"

_ASCII_CHARSETS = re.compile(
    r"ascii|iso8859-\d+|cp125\d|cp874|cp932|cp949|cp950|koi8-[ru]|mac-(roman|cyrillic)|tis-620"
    r"|gb2312|gbk|gb18030|big5|shift_jis|euc_jp|euc_kr"
)
"""Charsets, by Python's names, in which ASCII bytes always mean ASCII.

In UTF-7, UTF-16, ISO-2022 or HZ, bytes that look like one value may mean another.
"""
_CHARSET_NAME = re.compile(r"[\w.:-]+", re.ASCII)
"""The accepted spellings of a charset's name. Python accepts more, which a server may read as another charset."""

_OVERRIDES = ("x-http-method-override", "x-http-method", "x-method-override")
_OF_ONE_ORIGIN = ("authorization", "cookie", "origin", "referer", "sec-fetch-site")
_PART = re.compile(
    r'Content-Disposition: form-data; name="([^"\r\n]*)"(?:; filename="([^"\r\n]*)"\r\nContent-Type: ([^\r\n]*))?'
)
"""The head of a part as browsers write it. Anything else in a head would not be shown to the approver."""
_STRUCTURAL = re.compile(r"([.\[\]{}\\])")


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request as the browser sent it. A WebSocket message is represented as a request with the method `WS`."""

    method: str
    url: str
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    """Header fields by their names in lower case."""
    body: bytes = b""
    head: RequestHead | None = field(default=None, compare=False, repr=False)
    """Method, target and all header fields in their order; None for a WebSocket message."""
    redirected_from: str = ""
    """Method and address of the request whose response asked for this one."""
    number: int = field(default=0, compare=False)
    """How many messages came before this one through its WebSocket."""

    @property
    def is_navigation(self) -> bool:
        """Whether its response would replace a page.

        If Chromium sends `Sec-Fetch-Mode`, which no page can set, only that counts. Chromium omits it over plain HTTP to
        another machine; then the field that comes with every navigation decides.
        """
        mode = self.fields.get("sec-fetch-mode")
        return mode == "navigate" if mode else "upgrade-insecure-requests" in self.fields

    @property
    def is_by_page(self) -> bool:
        """Whether a page made the request by a link, a form or a script, rather than the session or a person by entering an address."""
        site = self.fields.get("sec-fetch-site")
        return site != "none" if site else "origin" in self.fields or "referer" in self.fields

    @property
    def method_override(self) -> str:
        """The method of an override header, if there is one. Many servers read `_` in a header name as `-`."""
        named = (value for name, value in self.fields.items() if name.replace("_", "-") in _OVERRIDES)
        return next((value.upper() for value in named if value), "")

    @property
    def commit(self) -> CommitSet:
        """The commit set: every value that is sent, and method and URL as its address. The values of a GET are its query."""
        url = self.url.partition("#")[0].removesuffix("?")
        bare, _, query = url.partition("?")
        asked = _parse_form(query.encode()) if query and not self.body and self.method in SAFE_METHODS else None
        kind = self.fields.get("content-type", "")
        values = _parse_values(kind, self.body) if asked is None else asked
        if self.method == SOCKET and kind == BINARY:
            whole = describe_file("", kind, self.body, None)
            # If all of it was read, the digest only binds its writing.
            values = (*read_binary(self.body), (RAW, whole if read_fields(self.body) is None else str(whole)))
        if self.redirected_from:
            values = ((REDIRECTED, self.redirected_from), *values)
        method = f"{self.method} as {self.method_override}" if self.method_override else self.method
        return commit_set(f"{method} {url if asked is None else bare}", values)

    def redirect_to(self, url: str) -> "Request":
        """Return the same request for another address. Another origin gets no cookies or credentials of this one."""
        head = self.head
        if head is not None and read_origin(url) != read_origin(self.url):
            # As a browser sends them to another site.
            kept = [pair for pair in head.fields if pair[0].lower() not in _OF_ONE_ORIGIN]
            head = replace(head, fields=(*kept, ("Origin", "null"), ("Sec-Fetch-Site", CROSS_SITE)))
        named = self.fields if head is None else head.named
        return replace(self, url=url, fields=named, head=head, redirected_from=self.commit.address)

    def with_cookies_of(self, claiming: "Request") -> "Request":
        """Return the request; if it is a redirect, with the cookies that the browser has for its address now."""
        is_cross_site = self.fields.get("sec-fetch-site") == CROSS_SITE
        if not self.redirected_from or is_cross_site or self.head is None or claiming.head is None:
            return self
        kept = [pair for pair in self.head.fields if pair[0].lower() != "cookie"]
        cookies = [pair for pair in claiming.head.fields if pair[0].lower() == "cookie"]
        head = replace(self.head, fields=(*kept, *cookies))
        return replace(self, head=head, fields=head.named)


class Digested(str):
    """A value that shows only the digest of its content."""

    __slots__ = ()


def commit_set(address: str, values: Pairs) -> CommitSet:
    """Build a commit set in which values that are too large are cut off and followed by their digests."""
    kept: list[tuple[str, Scalar]] = []
    characters, abridged = 0, False
    for name, value in values[:MAX_VALUES]:
        if characters > MAX_CHARACTERS:
            break
        pair = _shorten(name), _shorten(value) if isinstance(value, str) else value
        abridged = abridged or any(isinstance(part, Digested) for part in pair)
        characters += sum(len(str(part)) for part in pair)
        kept.append((str(pair[0]), str(pair[1]) if isinstance(pair[1], str) else pair[1]))
    if rest := values[len(kept) :]:
        kept.append(("…", f"{len(rest)} more values, sha256 {digest(json.dumps(rest).encode())}"))
    return CommitSet(address=address, values=tuple(kept), abridged=abridged or bool(rest))


def _shorten(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return Digested(f"{text[:LONGEST]}… ({len(text)} characters, sha256 {digest(text.encode(errors='surrogatepass'))})")


def describe_file(name: str, kind: str, content: bytes, charset: str | None = UTF_8) -> str:
    """Describe a file as a value: name, type, size, digest, and the content if it is text in a known charset."""
    size = f"{len(content)} bytes, sha256 {digest(content)}"
    described = f"{name or 'unnamed'} ({kind or 'application/octet-stream'}, {size})"
    text = None if charset is None else _decode_text(content, charset)
    if text is None or len(described) + len(text) + 2 > LONGEST:
        return Digested(described)
    return f"{described}: {text}" if text else described


def _decode_text(content: bytes, charset: str = UTF_8) -> str | None:
    """Return the content as text, or None if it is not printable text."""
    try:
        text = normalize_newlines(content.decode(charset))
    except UnicodeDecodeError:
        return None
    return text if text.replace("\n", "").replace("\t", "").isprintable() else None


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:32]


def normalize_newlines(text: str) -> str:
    """Return the text with LF as line ends. Browsers send the line ends of a field as CRLF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


# --- what is in a body


def find_charset(named: Sequence[str]) -> str | None:
    """Return Python's name for the charset that is given, or UTF-8 if none is.

    Return None if the charset is unknown, is not compatible with ASCII, or if several are given.
    """
    if not named:
        return UTF_8
    try:
        (name,) = named
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    known = found == UTF_8 or _ASCII_CHARSETS.fullmatch(found)
    return found if known and _CHARSET_NAME.fullmatch(name) else None


def _parse_values(kind: str, body: bytes) -> Pairs:
    if not body:
        return ()
    described = Message()
    described["content-type"] = kind
    named = _list_parameters(described, "charset")
    charset = find_charset(named)
    if charset is None:
        return ((CHARSET, ", ".join(named)), (RAW, describe_file("", kind, body, None)))
    match described.get_content_type() if kind else "":
        case "application/x-www-form-urlencoded":
            found = _parse_form(body, charset)
        case "multipart/form-data":
            boundaries = _list_parameters(described, "boundary")  # servers differ in which of several they use
            single = len(boundaries) == 1 and charset == UTF_8
            found = _parse_multipart(boundaries[0], body) if single else None
        case _:
            found = _parse_json(body, charset)
    if found is None:
        text = _decode_text(body, charset)
        found = ((RAW, describe_file("", kind, body, charset) if text is None else text),)
    return found if charset == UTF_8 else ((CHARSET, ", ".join(named)), *found)


def _parse_form(body: bytes, charset: str = UTF_8) -> Pairs | None:
    """Parse the values of a form. Return None if no browser would encode a form like this."""
    try:
        unquote_to_bytes(body.replace(b"+", b" ")).decode(charset)
        text = body.decode("ascii" if charset != UTF_8 else charset)
        pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=True, encoding=charset, errors="strict")
    except ValueError:
        return None
    return tuple((normalize_newlines(name), normalize_newlines(value)) for name, value in pairs)


def _parse_multipart(boundary: str, body: bytes) -> Pairs | None:
    """Parse the values of a form. Return None if no browser would encode a form like this, since it may contain more than values."""
    mark = b"--" + boundary.encode(errors="replace")
    before, *parts = (b"\r\n" + body).split(b"\r\n" + mark)
    if not boundary or before or parts.pop() not in (b"--", b"--\r\n"):
        return None
    try:
        return tuple(map(_parse_part, parts))
    except ValueError:
        return None


def _list_parameters(described: Message, name: str) -> list[str]:
    """Return the values of a parameter of the content type. A value encoded by RFC 2231 comes in parts and matches nothing."""
    return [str(value) for named, value in described.get_params([]) if named == name]


def _parse_part(part: bytes) -> tuple[str, str]:
    head, blank, content = part.partition(b"\r\n\r\n")
    found = _PART.fullmatch(head.removeprefix(b"\r\n").decode())
    if not blank or found is None:
        raise ValueError("not written by a browser")
    name, filename, kind = found.groups()
    if filename is not None:
        return name, describe_file(filename, kind, content)
    try:
        return name, normalize_newlines(content.decode())
    except UnicodeDecodeError:
        return name, describe_file("", "", content)


def _parse_json(body: bytes, charset: str) -> Pairs | None:
    """Parse a JSON body into flat values with names such as `lines[0].item`.

    Return None if it is not an object or list, or if two parsers could read it differently. An example is an unpaired
    surrogate, which JSON can express and UTF-8 cannot.
    """
    try:
        text = body.decode(charset)
        read: object = json.loads(
            text,
            object_pairs_hook=_with_unique_names,
            parse_constant=_reject_constant,
            parse_float=_parse_float,
            parse_int=_parse_int,
        )
        flat = tuple(_flatten(None, cast(object, read))) if isinstance(read, (dict, list)) else None
        "".join(f"{name}{value}" for name, value in flat or ()).encode()
        return flat
    except (ValueError, RecursionError):
        return None


def _with_unique_names(pairs: list[tuple[str, object]]) -> dict[str, object]:
    read = dict(pairs)
    if len(read) != len(pairs):
        raise ValueError("duplicate name")
    return read


@dataclass(frozen=True)
class _Literal:
    """A number that Python would write differently, such as 1.0e2."""

    text: str


def _parse_float(text: str) -> "float | _Literal":
    number = float(text) if isfinite(float(text)) else _reject_constant(text)
    return number if str(number) == text else _Literal(text)


def _parse_int(text: str) -> "int | _Literal":
    return int(text) if str(int(text)) == text else _Literal(text)


def _reject_constant(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def _flatten(path: str | None, value: object) -> Iterator[tuple[str, Scalar]]:
    """Yield the name and value of each leaf. They are unambiguous: structural characters in names are escaped, empty containers are listed."""
    if isinstance(value, dict):
        entries = cast(dict[str, object], value)
        if not entries:
            yield (path or "") + "{}", None
        for key, inner in entries.items():
            name = _STRUCTURAL.sub(r"\\\1", key) or r"\0"
            yield from _flatten(name if path is None else f"{path}.{name}", inner)
    elif isinstance(value, list):
        if not value:
            yield (path or "") + "[]", None
        for i, inner in enumerate(cast(list[object], value)):
            yield from _flatten(f"{path or ''}[{i}]", inner)
    elif isinstance(value, _Literal):
        yield (path or "") + "{number}", value.text
    else:
        yield path or "", cast(Scalar, value)
