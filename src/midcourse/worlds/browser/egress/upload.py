"""Recognises the request that carries the file of an approved upload.

Some pages first ask their server where to put a file, and send the file there when they have the answer. What a person approves is
that this file goes to this origin. So within that act one request may leave that carries exactly the file: the same bytes, and
nothing else that the page could choose. Its address is one that the server has just said, its header fields are usual ones.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from mimetypes import guess_type
from urllib.parse import urlsplit

from midcourse.worlds.browser.egress.address import read_origin
from midcourse.worlds.browser.egress.background import Background, is_by_script
from midcourse.worlds.browser.egress.request import Request, digest

THE_FILE = "the file itself"
"""The name of the value by which an approver sees that the file is sent as well."""
_KINDS = ("", "application/octet-stream", "text/plain", "text/plain;charset=UTF-8")
"""The types that any file may have, besides the one that its name suggests."""
_FORM = re.compile(r"multipart/form-data; ?boundary=(----WebKitFormBoundary\w{16})")
_PART = re.compile(
    rb'Content-Disposition: form-data; name="([^"\r\n]*)"; filename="([^"\r\n]*)"\r\nContent-Type: ([^\r\n]*)'
)
_FIELD = re.compile(r"(?:attachment|data|document|file|image|media|photo|upload)s?(?:\[\])?")
_TOKEN = re.compile(r"x-(?:csrf|xsrf)-?token")


@dataclass(frozen=True, kw_only=True)
class ApprovedFile:
    name: str
    content: bytes
    origin: str
    """The only origin to which it may go, as that of a page."""

    def describe(self) -> str:
        size = f"{len(self.content)} bytes, sha256 {digest(self.content)}"
        return f"{self.name} ({size}), sent to {self.origin} when its server says where to"

    def is_in(self, request: Request) -> bool:
        """Whether this request contains the file, so that its own values show it."""
        return self.content in request.body

    def is_sent_by(self, request: Request, said: Sequence[bytes], background: Background) -> bool:
        """Whether a request carries the file and nothing else. `said` is what the server has said since the approved request left."""
        if (
            request.method not in ("POST", "PUT")
            or not is_by_script(request)
            or read_origin(request.url) != self.origin
        ):
            return False
        chosen = self._find_chosen(request)
        if chosen is None or background.carries_entered(replace(request, body=b"")):
            return False
        if any(text != self.name and background.holds_entered(text) for text in chosen):
            return False
        parts = urlsplit(request.url)
        target = re.escape(parts._replace(scheme="", netloc="", fragment="").geturl().encode())
        return any(re.search(target + rb"(?![\w/.%~?&=+-])", text) for text in said) and self._has_usual_fields(
            request, background
        )

    def _find_chosen(self, request: Request) -> list[str] | None:
        """Return what the page has chosen besides the bytes of the file, or None if there is more in the body."""
        kind = request.fields.get("content-type", "")
        if request.body == self.content:
            return [kind] if self._has_kind(kind) else None
        form = _FORM.fullmatch(kind)
        if form is None:
            return None
        mark = form[1].encode()
        head, _, rest = request.body.partition(b"\r\n\r\n")
        part = _PART.fullmatch(head.removeprefix(b"--" + mark + b"\r\n"))
        if part is None or rest != self.content + b"\r\n--" + mark + b"--\r\n":
            return None
        name, filename, type_ = (text.decode(errors="replace") for text in part.groups())
        named = filename == self.name and (name == self.name or _FIELD.fullmatch(name))
        return [name, type_, form[1]] if named and self._has_kind(type_) else None

    def _has_kind(self, kind: str) -> bool:
        return kind in (*_KINDS, guess_type(self.name)[0])

    def _has_usual_fields(self, request: Request, background: Background) -> bool:
        cookies = [pair.strip().partition("=")[2] for pair in request.fields.get("cookie", "").split(";")]
        known = {
            name: field
            for name, field in request.fields.items()
            if name == "content-type" or (_TOKEN.fullmatch(name) and field in cookies)
        }
        return background.has_usual_fields(request, known) and not any(map(background.holds_entered, known.values()))
