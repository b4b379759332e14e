"""The proxy through which all traffic of a browser passes. It connects to allowed origins only.

It resolves names itself and connects to the address that it checked, so a later answer of a name server has no effect. It
reads every request, even under TLS, and requests that need approval wait in the outbox. What Chromium does by itself passes
through the proxy as well: redirects, prefetches, workers, beacons, downloads, requests of closed tabs.

Other accounts on this machine can connect to the proxy, so it requires a password that only its own browser has.
"""

import asyncio
import hmac
import secrets
import ssl
from base64 import b64encode
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from midcourse.worlds.browser.egress.address import Address, AddressRefused, Resolver, parse, resolve
from midcourse.worlds.browser.egress.connection import MAX_HEAD, ProxyConnection
from midcourse.worlds.browser.egress.outbox import OBSERVER, Outbox
from midcourse.worlds.browser.egress.policy import Origins
from midcourse.worlds.browser.egress.proxy_login import USER
from midcourse.worlds.browser.egress.tls import Certificate

LISTEN_ADDRESSES = ("127.77.67.71", "127.0.0.1")
"""Addresses to listen on; the first one that this machine has is used.

A site that clears its cookies (`Clear-Site-Data`) makes Chromium forget passwords for its host on every port. So if all of
127.* is loopback, as on Linux, the proxy listens on an address that no site uses.
"""
FLAGS = (
    "--disable-quic",
    f"--host-resolver-rules=MAP * ~NOTFOUND, {', '.join(f'EXCLUDE {address}' for address in LISTEN_ADDRESSES)}",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--no-pings",
    "--disable-domain-reliability",
)
"""Flags without which Chromium bypasses the proxy or sends reports.

Which of the two WebRTC flags has an effect depends on the build of Chromium; the other one is silently ignored.
"""

_CHROMIUM_REQUESTS = tuple(
    prefix
    for host in (
        "android.clients.google.com",
        "clients2.google.com",
        "content-autofill.googleapis.com",
        "edgedl.me.gvt1.com",
        "mtalk.google.com",
        "optimizationguide-pa.googleapis.com",
        "redirector.gvt1.com",
        "safebrowsing.googleapis.com",
        "update.googleapis.com",
    )
    for prefix in (f"CONNECT {host}:443", f"GET http://{host}/", f"POST http://{host}/")
)
"""Requests that Chromium makes for itself, without TLS after TLS was refused. No page asked for them, so they are not reported."""

CONNECT_SECONDS = 10.0
MAX_KEPT = 200
"""The maximum number of refusals that are kept, since a page can cause any number."""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A request that was not let through."""

    what: str
    why: str
    leaves_page: bool = False
    """Whether the response would have replaced a page, or filled a new one."""


@cache
def _system_trust_store() -> ssl.SSLContext:
    """Load the system's certificate authorities. This is slow, so it is done when they are first needed."""
    return ssl.create_default_context()


class Proxy:
    """A proxy for one browser. It listens on loopback while the browser is open."""

    def __init__(
        self,
        origins: Origins,
        outbox: Outbox,
        *,
        resolver: Resolver | None = None,
        trusted: ssl.SSLContext | None = None,
        certificate: Certificate | None = None,
    ) -> None:
        """`trusted` holds the certificate authorities to trust, by default the system's. Proxies of one browser share a `certificate`."""
        self.outbox = outbox
        self.password = secrets.token_urlsafe(32)
        self._expected = b"Basic " + b64encode(f"{USER}:{self.password}".encode())
        self._origins = origins
        self._resolver = resolver
        self._certificate = certificate or Certificate()
        self._trusted = trusted
        self._observer = OBSERVER.get()
        self._refusals: deque[Refusal] = deque(maxlen=MAX_KEPT)
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def open(self) -> str:
        """Start to listen, and return the address for Chromium's proxy option."""
        for address in LISTEN_ADDRESSES:
            with suppress(OSError):
                self._server = await asyncio.start_server(self._accept, address, 0, limit=MAX_HEAD)
                return "http://{}:{}".format(*self._server.sockets[0].getsockname())
        raise ConnectionError("there is no free port on this machine")

    async def close(self) -> None:
        """End all connections. Nothing leaves the browser after this."""
        if self._server is not None:
            self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    @property
    def flags(self) -> tuple[str, ...]:
        """Command-line flags that Chromium needs."""
        return (*FLAGS, self._certificate.flag)

    def take_refusals(self) -> tuple[Refusal, ...]:
        """Return the refusals since the last call of this method."""
        found = tuple(self._refusals)
        self._refusals.clear()
        return found

    @property
    def has_refused_navigation(self) -> bool:
        """Whether a page wanted to leave for a refused address since the last call of `take_refusals`."""
        return any(refusal.leaves_page for refusal in self._refusals)

    # --- called by a connection

    def admits(self, credentials: str) -> bool:
        """Whether these credentials are those of the proxy's own browser."""
        return hmac.compare_digest(credentials.encode(errors="replace"), self._expected)

    @property
    def identity(self) -> ssl.SSLContext:
        return self._certificate.context

    def find_tunnel_origin(self, tunnel: str) -> str:
        """Return the origin that a tunnel to this host and port leads to. Raise `AddressRefused` if the policy does not allow it."""
        address = parse(f"https://{tunnel}")
        for scheme in ("https", "http"):
            found = Address(scheme=scheme, host=address.host, port=address.port, rest="")
            if self._origins.rules_for(found) is not None:
                return found.origin
        raise AddressRefused(f"{tunnel} is not in the policy file, so it cannot be reached")

    def check_address(self, url: str) -> Address:
        """Parse a URL and check it against the policy. Raise `AddressRefused` if it may not be reached."""
        return self._origins.check(url)[0]

    async def connect(self, address: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to an address after checking it. Raise `AddressRefused` if it may not be reached, `OSError` if no server answers."""
        origin = self._origins.check(address.url)[1]
        trusted = (self._trusted or _system_trust_store()) if address.scheme in ("https", "wss") else None
        last_error: OSError = ConnectionRefusedError(f"{address.host} does not answer")
        for ip in await resolve(address, private=origin.private, resolver=self._resolver):
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    return await asyncio.open_connection(
                        str(ip),
                        address.port,
                        limit=MAX_HEAD,
                        ssl=trusted,
                        server_hostname=address.host.strip("[]") if trusted else None,
                    )
            except OSError as error:
                last_error = error
        raise last_error

    def refuse(self, what: str, why: str, *, leaves_page: bool = False) -> bool:
        """Record a refusal, unless the request was Chromium's own. Return whether a page may have made the request."""
        if what.startswith(_CHROMIUM_REQUESTS):
            return False
        self._refusals.append(Refusal(what=what, why=why, leaves_page=leaves_page))
        if self._observer is not None:
            self._observer.on_refused(what)
        return True

    # --- connections

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.create_task(ProxyConnection(self, reader, writer).serve())
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)
