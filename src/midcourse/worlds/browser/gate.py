"""The only way out of a browser: a proxy in the host's process that connects to allowed origins and to nobody else.

It resolves names itself and connects to the address that it checked, so no second answer of a name server counts. What
Chromium does on its own account comes by here, too: redirects, prefetches, workers, beacons, downloads.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from midcourse.worlds.browser.address import Address, AddressRefused, Resolver, resolved
from midcourse.worlds.browser.http_head import MAX_HEAD
from midcourse.worlds.browser.origins import Origins
from midcourse.worlds.browser.passage import Passage

FLAGS = (
    "--disable-quic",
    "--dns-prefetch-disable",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--no-pings",
    "--disable-domain-reliability",
    "--disable-features=DnsOverHttps,AsyncDns,NetworkTimeServiceQuerying,OptimizationHints",
)
"""Without these Chromium knows other ways out."""

CONNECTS_WITHIN = 10.0
MOST_KEPT = 200
"""Refusals. A page can cause any number."""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Something that wanted out and was not let."""

    what: str
    why: str


class Gate:
    """Listens on loopback while a browser is open."""

    def __init__(
        self,
        origins: Origins,
        *,
        may_leave: Callable[[str, str], bool] | None = None,
        resolver: Resolver | None = None,
    ) -> None:
        """`may_leave` is asked about method and URL of every request that can be read here; without it, all may."""
        self._origins = origins
        self._resolver = resolver
        self._may_leave = may_leave
        self._refusals: deque[Refusal] = deque(maxlen=MOST_KEPT)
        self._server: asyncio.Server | None = None
        self._passages: set[asyncio.Task[None]] = set()

    async def open(self) -> str:
        """The address to give to Chromium as its proxy."""
        self._server = await asyncio.start_server(self._come, "127.0.0.1", 0, limit=MAX_HEAD)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """From here on nothing leaves any more."""
        if self._server is not None:
            self._server.close()
        for passage in self._passages:
            passage.cancel()
        await asyncio.gather(*self._passages, return_exceptions=True)

    def refusals(self) -> tuple[Refusal, ...]:
        """What was turned away since this was last asked."""
        found = tuple(self._refusals)
        self._refusals.clear()
        return found

    # --- asked by a passage

    def checked(self, method: str, url: str) -> Address:
        """Raises `AddressRefused` if nobody may be spoken to there, or not like this."""
        address, _ = self._origins.check(url)
        if self._may_leave is not None and not self._may_leave(method, url):
            raise AddressRefused(f"{method} has to be allowed first")
        return address

    async def connect(self, address: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """To the very address that was checked. Raises `AddressRefused`, or `OSError` if nobody answers there."""
        origin = self._origins.at(address.host, address.port)
        if origin is None:
            raise AddressRefused(f"{address.host}:{address.port} is not in the policy file, so it is not spoken to")
        trouble: OSError = ConnectionRefusedError(f"{address.host} does not answer")
        for ip in await resolved(address, private=origin.private, resolver=self._resolver):
            try:
                async with asyncio.timeout(CONNECTS_WITHIN):
                    return await asyncio.open_connection(str(ip), address.port, limit=MAX_HEAD)
            except OSError as error:
                trouble = error
        raise trouble

    def refuse(self, what: str, why: str) -> None:
        self._refusals.append(Refusal(what=what, why=why))

    # --- connections

    def _come(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        passage = asyncio.create_task(Passage(self, reader, writer).serve())
        self._passages.add(passage)
        passage.add_done_callback(self._passages.discard)
