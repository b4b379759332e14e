"""The guard: an ASGI layer around the whole server that refuses requests that no legitimate browser or program sends.

It checks the `Host` (against DNS rebinding), `Origin` and `Sec-Fetch-Site` (against requests that another site makes in the user's
browser), limits bodies and rates, refuses JSON that two readers could read differently, and adds the security headers to every
response.
"""

import json
import time
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field

from anyio import BrokenResourceError
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from midcourse.server.problems import Refusal, respond

CALLBACK = "/api/v1/session/oidc/callback"
"""The only address to which another site sends a browser: that site is the identity provider."""
SAFE = ("GET", "HEAD", "OPTIONS")
MOST_BYTES = 1_000_000
LONGEST_KEY = 100
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob:; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(kw_only=True)
class Bucket:
    tokens: float
    at: float = field(default_factory=time.monotonic)


class RateLimit:
    """A rate limit for each client address, as token buckets. The oldest buckets are forgotten."""

    def __init__(self, *, per_second: float, burst: int, clients: int = 10_000) -> None:
        self._rate, self._burst, self._clients = per_second, burst, clients
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def wait(self, client: str) -> float:
        """Take one token. Returns 0, or the seconds after which the client may try again."""
        now = time.monotonic()
        bucket = self._buckets.pop(client, None) or Bucket(tokens=self._burst)
        bucket.tokens = min(self._burst, bucket.tokens + (now - bucket.at) * self._rate)
        bucket.at = now
        self._buckets[client] = bucket
        if len(self._buckets) > self._clients:
            self._buckets.popitem(last=False)
        if bucket.tokens < 1:
            return (1 - bucket.tokens) / self._rate
        bucket.tokens -= 1
        return 0.0


@dataclass(frozen=True, kw_only=True)
class Site:
    """The names under which the server may be addressed: `Host` values, and the origins of its pages."""

    hosts: frozenset[str]
    origins: frozenset[str]


class RequestGuard:
    def __init__(self, app: ASGIApp, *, site: Site, limit: RateLimit | None = None) -> None:
        self._app = app
        self._site = site
        self._limit = limit or RateLimit(per_second=200, burst=1000)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            self._check(scope)
            await self._call_app(scope, await self._read_body(scope, receive), send_secured)
        except Refusal as refusal:
            retry = {"Retry-After": "1"} if refusal.problem.status == 429 else None
            await respond(refusal.problem, retry)(scope, receive, send_secured)

    async def _call_app(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except* BrokenResourceError:
            pass  # the client left in the middle of a stream

    def _check(self, scope: Scope) -> None:
        headers, method = Headers(scope=scope), scope["method"]
        if len(headers.getlist("host")) != 1 or headers["host"].lower() not in self._site.hosts:
            raise Refusal(421, "wrong_host", "this server does not accept requests to this host name", next=HOW_NAMED)
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._site.origins:
            raise Refusal(
                403, "cross_site", "another site sent this request", next="open the console at its own address"
            )
        fetched = headers.get("sec-fetch-site", "same-origin")
        if (
            fetched != "same-origin"
            and not (fetched == "none" and method in SAFE)
            and not _follows_link(scope, headers)
        ):
            raise Refusal(
                403, "cross_site", "another site sent this request", next="open the console at its own address"
            )
        if method not in SAFE:
            self._check_unsafe(headers, origin)
        client = scope.get("client")
        if self._limit.wait(client[0] if client else ""):
            raise Refusal(429, "too_many", "too many requests from this address")

    def _check_unsafe(self, headers: Headers, origin: str | None) -> None:
        """Check a request that changes something: a form of another site can send neither JSON nor this site's origin."""
        if origin is None and not headers.get("authorization"):
            raise Refusal(
                403, "cross_site", "a request that changes something needs an Origin or a key", next=HOW_KEYED
            )
        if (
            _body_length(headers)
            and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json"
        ):
            raise Refusal(415, "invalid", "the body has to be JSON", next="send Content-Type: application/json")
        if _body_length(headers) > MOST_BYTES:
            raise Refusal(413, "too_large", f"the body is larger than {MOST_BYTES} bytes")

    async def _read_body(self, scope: Scope, receive: Receive) -> Receive:
        """Read the body of a request that changes something, and return a `receive` that gives it to the application.

        JSON with a key twice is refused here, for all routes: readers differ in which of the two they take.
        """
        if scope["method"] in SAFE or not _body_length(Headers(scope=scope)):
            return receive
        messages: deque[Message] = deque()
        so_far = 0
        while not messages or messages[-1].get("more_body"):
            message = await receive()
            messages.append(message)
            so_far += len(message.get("body", b""))
            if so_far > MOST_BYTES:
                raise Refusal(413, "too_large", f"the body is larger than {MOST_BYTES} bytes")
        if twice := find_key_twice(b"".join(message.get("body", b"") for message in messages)):
            raise Refusal(400, "invalid", f"the body has the key {twice!r} twice", next="send it once")

        async def replayed() -> Message:
            return messages.popleft() if messages else await receive()

        return replayed


class _KeyTwice(Exception):
    """An object of the body has this key twice."""


def find_key_twice(body: bytes) -> str:
    """A key that some object in this JSON has twice, or an empty string. What is not JSON is left to the application to refuse."""

    def check(pairs: list[tuple[str, object]]) -> None:
        for key, number in Counter(key for key, _ in pairs).items():
            if number > 1:
                raise _KeyTwice(key[:LONGEST_KEY])

    try:
        json.loads(body, object_pairs_hook=check)
    except _KeyTwice as twice:
        return str(twice) or "(empty)"
    except (ValueError, RecursionError):
        pass
    return ""


def _follows_link(scope: Scope, headers: Headers) -> bool:
    """Whether a browser opens a page that is the same for everyone, after a link in a message or a page, or after a sign-in."""
    opened = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
    return scope["method"] == "GET" and scope["path"] in ("/", CALLBACK) and opened


HOW_NAMED = "use the address that `midcourse serve` printed; --origin adds one"
HOW_KEYED = "send `Authorization: Bearer KEY`"


def _body_length(headers: Headers) -> int:
    """The length of the body; 1 if the request does not announce it."""
    if headers.get("transfer-encoding"):
        return 1
    given = headers.get("content-length", "0")
    return int(given) if given.isdigit() else 0
