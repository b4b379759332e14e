"""The head of one HTTP/1.1 request as a browser sends it to a proxy. What is not plain is refused, not mended."""

import re
from dataclasses import dataclass

MAX_HEAD = 2**18
"""Cookies may be many. A server would refuse this much anyway."""

_METHOD = re.compile(r"[A-Za-z][A-Za-z_-]*")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OURS = ("host", "connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "upgrade")
"""Fields that are between a browser and its proxy, or that are written anew."""


class HeadUnreadable(Exception):
    """Not what a browser sends."""


@dataclass(frozen=True, kw_only=True)
class Head:
    method: str
    target: str
    fields: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str:
        return next((value for key, value in self.fields if key.lower() == name), "")

    @property
    def named(self) -> dict[str, str]:
        """By names in lower case; what is there twice is joined."""
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
    def upgrades(self) -> bool:
        """Whether it opens a WebSocket."""
        return self.get("upgrade").lower() == "websocket"

    def onward(self, path: str, host: str, without: tuple[str, ...] = ()) -> bytes:
        """As the server gets it: without what was meant for the proxy, and with the host that was checked."""
        kept = [f"{name}: {value}" for name, value in self.fields if name.lower() not in (*_OURS, *without)]
        connection = ["Connection: Upgrade", "Upgrade: websocket"] if self.upgrades else ["Connection: keep-alive"]
        head = [f"{self.method} {path} HTTP/1.1", f"Host: {host}", *connection, *kept, "", ""]
        return "\r\n".join(head).encode("latin-1")


def parse_head(raw: bytes) -> Head:
    """Raises `HeadUnreadable`, also where two readers could disagree on where the body ends."""
    line, *rest = raw.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    parts = line.split(" ")
    if len(parts) != 3 or not _METHOD.fullmatch(parts[0]) or parts[2] != "HTTP/1.1":
        raise HeadUnreadable(f"'{line[:80]}' is no request line")
    head = Head(method=parts[0], target=parts[1], fields=tuple(map(_field, rest)))
    lengths = [value for name, value in head.fields if name.lower() == "content-length"]
    codings = [value.lower() for name, value in head.fields if name.lower() == "transfer-encoding"]
    if len(lengths) + len(codings) > 1 or codings not in ([], ["chunked"]):
        raise HeadUnreadable("it is not plain where the body ends")
    if lengths and not (lengths[0].isascii() and lengths[0].isdigit() and len(lengths[0]) < 16):
        raise HeadUnreadable("Content-Length is one whole number")
    return head


def _field(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not _NAME.fullmatch(name) or any(letter in value for letter in "\r\n\0"):
        raise HeadUnreadable(f"'{line[:80]}' is no header field")
    return name, value.strip(" \t")
