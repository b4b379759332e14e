"""Strict HTTP/1.1 heads for the world host, its client and the browser's proxy.

h11 parses and writes them. It also repairs what the standard lets a receiver repair: folded lines, bare line feeds, a
Content-Length that is repeated or stands beside Transfer-Encoding, chunk extensions. Two receivers that repair differently
see different requests (request smuggling), so all of these are refused here.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus

import h11

_END = b"\r\n\r\n"
_METHOD = re.compile(r"[A-Za-z][A-Za-z_-]*")
_DIGITS = re.compile(rb"[0-9]+")
_CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,6})\r\n")  # no chunk above 16 MiB: each is read in full
_FRAMING = (b"content-length", b"transfer-encoding")
_MAX_DIGITS = 15
_SHOWN = 200
"""Characters of a malformed message in an error."""


class Rejected(Exception):
    """A message that is not accepted, and the status to answer it with. The connection is not used any further."""

    def __init__(self, detail: str, status: int = 400) -> None:
        super().__init__(detail)
        self.status = status


@dataclass(frozen=True, kw_only=True)
class Head:
    """A message up to its body."""

    fields: tuple[tuple[str, str], ...]
    version: str = "1.1"

    def get(self, name: str) -> str:
        return next((value for key, value in self.fields if key.lower() == name), "")

    @property
    def named(self) -> dict[str, str]:
        """Fields by their names in lower case; the values of repeated fields are joined."""
        named: dict[str, str] = {}
        for name, value in self.fields:
            key = name.lower()
            named[key] = f"{named[key]}, {value}" if key in named else value
        return named

    @property
    def chunked(self) -> bool:
        return bool(self.get("transfer-encoding"))

    @property
    def length(self) -> int:
        return int(self.get("content-length") or 0)

    @property
    def closes(self) -> bool:
        """Whether its sender wants the connection closed after this exchange."""
        return self.version == "1.0" or "close" in re.split(r"[ \t,]+", self.named.get("connection", "").lower())


@dataclass(frozen=True, kw_only=True)
class RequestHead(Head):
    method: str
    target: str


@dataclass(frozen=True, kw_only=True)
class ResponseHead(Head):
    status: int


def find_body(data: bytes | bytearray, max_head: int) -> int | None:
    """Return the offset at which the head ends, or None if it is not complete yet. Raise `Rejected` if it is too large."""
    end = data.find(_END, 0, max_head)
    if end < 0 and len(data) >= max_head:
        raise Rejected(f"a head has at most {max_head} bytes", 431)
    return end + len(_END) if end >= 0 else None


def parse_request(raw: bytes) -> RequestHead:
    """Parse the head of a request. Raise `Rejected`, also where two receivers could disagree on where the body ends."""
    event = _parse(raw, h11.SERVER)
    assert isinstance(event, h11.Request)
    method = event.method.decode()
    if not _METHOD.fullmatch(method):
        raise Rejected(f"the method {method[:_SHOWN]!r} does not consist of letters")
    return RequestHead(
        method=method, target=event.target.decode(), fields=_fields(event), version=event.http_version.decode()
    )


def parse_response(raw: bytes) -> ResponseHead:
    """Parse the head of a response. Raise `Rejected`, also for an interim response (1xx), which does not answer the request."""
    event = _parse(raw, h11.CLIENT)
    assert isinstance(event, h11.Response)
    return ResponseHead(status=event.status_code, fields=_fields(event), version=event.http_version.decode())


def parse_chunk_size(line: bytes) -> int:
    """Parse the line with the size of a chunk. Raise `Rejected` for signs, spaces and extensions, which parsers treat differently."""
    found = _CHUNK_LINE.fullmatch(line)
    if found is None:
        raise Rejected("a chunk begins with its size and nothing else")
    return int(found[1], 16)


def write_request(method: str, target: str, fields: Iterable[tuple[str, str]]) -> bytes:
    """Encode the head of a request. Raise `Rejected` for what a head cannot contain, such as a line break in a value."""
    try:
        return h11.Connection(h11.CLIENT).send(h11.Request(method=method, target=target, headers=_encode(fields)))
    except h11.LocalProtocolError as error:
        raise Rejected(str(error)[:_SHOWN]) from None


def write_response(status: int, fields: Iterable[tuple[str, str]]) -> bytes:
    """Encode the head of a response."""
    reason = HTTPStatus(status).phrase
    return h11.Connection(h11.SERVER).send(
        h11.Response(status_code=status, reason=reason.encode(), headers=_encode(fields))
    )


def _parse(raw: bytes, role: type[h11.CLIENT] | type[h11.SERVER]) -> object:
    _refuse_repairs(raw)
    # One connection object for each head: bodies are framed by the callers, so h11 never learns that a message has ended.
    connection = h11.Connection(role, max_incomplete_event_size=len(raw))
    connection.receive_data(raw)
    try:
        event = connection.next_event()
    except h11.RemoteProtocolError as error:
        raise Rejected(str(error)[:_SHOWN], error.error_status_hint) from None
    if connection.their_http_version not in (b"1.0", b"1.1"):
        raise Rejected("only HTTP/1.1 is supported", 505)
    return event


def _refuse_repairs(raw: bytes) -> None:
    """Refuse everything that h11 would accept and change."""
    lines = raw.removesuffix(_END).split(b"\r\n")
    if any(b"\r" in line or b"\n" in line for line in lines):
        raise Rejected("a line ends with CR LF")
    if any(line.startswith((b" ", b"\t")) for line in lines):
        raise Rejected("a field is on one line")
    fields = [line.split(b":", 1) for line in lines[1:] if b":" in line]
    framing = [(name.lower(), value.strip(b" \t")) for name, value in fields if name.lower() in _FRAMING]
    if len(framing) > 1:
        raise Rejected("only one field may say where the body ends")
    for name, value in framing:
        if name == b"content-length" and not _DIGITS.fullmatch(value):
            raise Rejected("Content-Length is one whole number")
        if name == b"content-length" and len(value) > _MAX_DIGITS:
            raise Rejected("the body is too large", 413)


def _fields(event: h11.Request | h11.Response) -> tuple[tuple[str, str], ...]:
    return tuple((name.decode(), value.decode("latin-1")) for name, value in event.headers.raw_items())


def _encode(fields: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields]
