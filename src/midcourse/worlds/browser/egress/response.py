"""What has arrived of the response to a request that was allowed to leave: its status, text and redirect."""

import re
import zlib
from contextlib import suppress
from urllib.parse import urljoin

MAX_KEPT = 2**18
"""The maximum number of bytes of a response that are kept."""
MAX_UNPACKED = 2**20
"""The maximum number of bytes of a compressed response that are unpacked."""
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5]\d\d)")


class RecordedResponse:
    """The part of a response that has arrived so far. It was requested without compression or with gzip, so that its text can be read."""

    def __init__(self) -> None:
        self._raw = bytearray()

    def __bool__(self) -> bool:
        """Whether any byte has arrived."""
        return bool(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def append(self, data: bytes) -> None:
        self._raw += data[: max(0, MAX_KEPT - len(self._raw))]

    @property
    def status(self) -> int | None:
        """The status code, or None while it is not known. Interim responses (1xx) do not count."""
        found = _STATUS.match(self._final_response())
        return int(found[1]) if found else None

    @property
    def text(self) -> str:
        head, _, body = self._final_response().partition(b"\r\n\r\n")
        chunked = re.search(rb"(?im)^transfer-encoding:.*chunked", head) is not None
        body = _join_chunks(body) if chunked else body
        if re.search(rb"(?im)^content-encoding:[ \t]*gzip[ \t]*\r?$", head):
            with suppress(zlib.error):
                body = zlib.decompressobj(wbits=31).decompress(body, MAX_UNPACKED)
        return body.decode(errors="replace")

    def redirect_target(self, url: str) -> str:
        """Return the URL to which a 307 or 308 asks to send the same request, or an empty string for other responses."""
        head = self._final_response().partition(b"\r\n\r\n")[0]
        location = re.search(rb"(?im)^location:[ \t]*(\S+)", head)
        if location is None or self.status not in (307, 308):
            return ""
        return urljoin(url, location[1].decode("latin-1")).partition("#")[0]

    @property
    def has_head(self) -> bool:
        """Whether the whole head has arrived, or more bytes than a head can have."""
        return b"\r\n\r\n" in self._final_response() or len(self._raw) == MAX_KEPT

    def _final_response(self) -> bytes:
        raw = bytes(self._raw)
        while re.match(rb"HTTP/1\.[01] 1\d\d", raw) and not raw.startswith((b"HTTP/1.1 101", b"HTTP/1.0 101")):
            raw = raw.partition(b"\r\n\r\n")[2]
        return raw


def _join_chunks(body: bytes) -> bytes:
    """Return the body without chunk sizes, as far as it has arrived and is valid."""
    whole = bytearray()
    while body:
        line, _, rest = body.partition(b"\r\n")
        try:
            size = int(line.partition(b";")[0], 16)
        except ValueError:
            break
        whole += rest[:size]
        body = rest[size + 2 :]
    return bytes(whole)
