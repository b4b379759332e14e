"""The requests of a browser that are held until they are allowed. No byte of them has been sent.

Releasing a request sends exactly the one that was held, byte for byte. Dropping it looks to the page as if it were offline, and
is reported with the next act. A page that stops waiting for its request removes it, too.

A navigation is parked: the browser gets an empty response immediately and stays where it is. Once it is released, the session
claims it by a navigation to its address with a referrer that no page can guess. A script that requests the same address
therefore does not get the response.

A 307 or 308 asks for the same request at another address. That is a new request and is held like any other.
"""

import asyncio
import secrets
from collections import Counter, deque
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Protocol

from midcourse.domain.approval import CommitSet
from midcourse.domain.observation import HELD_FOR, Zone
from midcourse.worlds.browser.egress.address import origin_of
from midcourse.worlds.browser.egress.policy import Origins
from midcourse.worlds.browser.egress.request import Request
from midcourse.worlds.browser.egress.response import RecordedResponse

MAX_WAITING = 5
"""The maximum number of held requests to one origin. Chromium has six connections to each; if all waited, the page could not be read."""
MAX_PARKED = 20
MAX_REPORTED = 5
"""The maximum number of different dropped requests that are described with an act. The others are counted."""
MOST_RECORDED = 1000
"""The maximum number of a person's requests that are kept until they are recorded."""
_PAGE_RESOURCES = ("audio", "font", "image", "manifest", "script", "style", "track", "video")
_SHOWN = 20
"""The maximum number of values of a held request that an observation shows."""


@dataclass(frozen=True, kw_only=True)
class HeldRequest:
    """A request that waits. Its number is not used again while the browser is open."""

    number: int
    request: Request
    allowed: asyncio.Future[bool] | None = None
    """The decision that the connection waits for; None for a parked request."""
    claim: str = ""
    """The referrer by which a navigation claims a parked request."""

    @property
    def zone_id(self) -> str:
        return f"request{self.number}"

    def as_zone(self, shown: CommitSet, held_for: str = "") -> Zone:
        """Return the zone that represents this request, with its commit set as it may be shown, and the skill that caused it."""
        values = shown.values[:_SHOWN]
        cause = ((HELD_FOR, held_for),) if held_for or HELD_FOR in dict(values) else ()  # before a field of that name
        return Zone(id=self.zone_id, role="request", label=shown.address, state=(*cause, *values))


@dataclass(kw_only=True)
class SentRequest:
    """A request that left because it was allowed, and as much of the response as has arrived."""

    request: Request
    response: RecordedResponse = field(default_factory=RecordedResponse)
    reached: bool = True
    """Whether a connection to the server was possible. If not, the server has seen nothing of the request."""
    claimed: bool = False
    """Whether the browser claimed a parked request by a GET. If it then followed a redirect, method and body would be lost."""
    redirected: bool = False


class Observer(Protocol):
    """Receives every request that leaves a browser or is refused. Only `midcourse policy learn` uses it."""

    def on_passed(self, request: Request) -> None:
        """Receive a request that left without needing permission."""
        ...

    def on_sent(self, sent: SentRequest) -> None:
        """Receive a request that was allowed to leave, before its response arrives."""
        ...

    def on_refused(self, what: str) -> None: ...


OBSERVER: ContextVar[Observer | None] = ContextVar("midcourse_observer", default=None)


class Outbox:
    """The held, parked and sent requests of one browser."""

    def __init__(self, origins: Origins) -> None:
        self._origins = origins
        self._observer = OBSERVER.get()
        self._waiting: dict[int, HeldRequest] = {}
        self._count = 0
        self._expected: CommitSet | None = None
        self._redirects: deque[Request] = deque(maxlen=MAX_PARKED)
        """The requests, as they would be sent, that servers asked the browser to repeat at another address."""
        self._claimable: list[HeldRequest] = []
        self.sent: list[SentRequest] = []
        """The requests that were allowed to leave since `begin_act`."""
        self.passed_count = 0
        """The number of requests that left without approval since `begin_act`, not counting images, styles, scripts and other parts of a page."""
        self._dropped: Counter[str] = Counter()
        """The requests that did not leave, described for people, and how often each was dropped."""
        self.attended = False
        """Whether a person is using the browser, so that nothing is held."""
        self._sent_by_person: deque[Request] = deque(maxlen=MOST_RECORDED)

    # --- called by the proxy

    def is_free(self, request: Request) -> bool:
        """Whether a request may leave without approval. Its body is not needed to decide that."""
        if self._find_claimed(request) is not None or (request.is_navigation and self._expected is not None):
            return False
        return self._origins.is_safe(request.method, request.url) and not request.method_override

    def record_passed(self, request: Request) -> None:
        """Count a request that leaves without approval."""
        self.passed_count += request.fields.get("sec-fetch-dest", "") not in _PAGE_RESOURCES
        if self._observer is not None:
            self._observer.on_passed(request)

    async def wait_for_permission(self, request: Request) -> SentRequest | None:
        """Hold a request until it is released, unless it may be sent now. Return None if it was dropped."""
        return self.send_now(request) or (self._record_sent(request) if await self._hold(request) else None)

    def send_now(self, request: Request) -> SentRequest | None:
        """Record a request as sent if it need not be held; return None if it must be.

        It need not be held if it claims a released request, if it is expected, or while a person uses the browser.
        """
        claimed = self._find_claimed(request)
        if claimed is not None:
            self._claimable.remove(claimed)
            sent = self._record_sent(claimed.request.with_cookies_of(request))
            sent.claimed = claimed.request.method != request.method
            return sent
        return self._record_sent(request) if self._is_expected(request) else None

    def _find_claimed(self, request: Request) -> HeldRequest | None:
        """Return the released request that this one claims. A page can imitate a navigation, but cannot know the referrer."""
        referrer = request.fields.get("referer", "")
        return next((held for held in self._claimable if held.claim == referrer), None)

    def trace_redirect(self, request: Request) -> Request:
        """Return the request, with `redirected_from` set if a response asked for it."""
        for redirect in self._redirects:
            if _identity_of(redirect) == _identity_of(request):
                self._redirects.remove(redirect)
                return replace(request, redirected_from=redirect.redirected_from)
        return request

    def park(self, request: Request) -> None:
        duplicate = any(held.allowed is None and held.request == request for held in self.waiting)
        if not duplicate and len(self._waiting) < MAX_PARKED:
            self._add(request, None)

    def _record_sent(self, request: Request) -> SentRequest:
        sent = SentRequest(request=request)
        self.sent.append(sent)
        if self._observer is not None:
            self._observer.on_sent(sent)
        return sent

    def record_response(self, sent: SentRequest, data: bytes) -> Request | None:
        """Record a part of the response.

        Return the redirected request if the browser cannot send it by itself, because it claimed the first one by a GET.
        """
        sent.response.append(data)
        elsewhere = sent.response.redirect_target(sent.request.url)
        if not elsewhere or sent.redirected:
            return None
        sent.redirected = True
        redirect = sent.request.redirect_to(elsewhere)
        if sent.claimed:
            return redirect
        self._redirects.append(redirect)
        return None

    def _is_expected(self, request: Request) -> bool:
        if self._expected is not None and request.commit == self._expected:
            self._expected = None
            return True
        if self.attended:
            self._sent_by_person.append(request)
        return self.attended

    def take_sent_by_person(self) -> tuple[Request, ...]:
        """Return the requests that left because a person used the browser, since the last call of this method."""
        taken = tuple(self._sent_by_person)
        self._sent_by_person.clear()
        return taken

    async def _hold(self, request: Request) -> bool:
        near = [held for held in self.waiting if held.allowed and origin_of(held.request.url) == origin_of(request.url)]
        if len(near) >= MAX_WAITING:
            self._report_dropped(f"{request.commit.address} was not sent, because {MAX_WAITING} others were held")
            return False
        allowed: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        held = self._add(request, allowed)
        try:
            return await allowed
        finally:
            self._remove(held)

    def _add(self, request: Request, allowed: asyncio.Future[bool] | None) -> HeldRequest:
        self._count += 1
        claim = "" if allowed else _make_claim(request)
        held = HeldRequest(number=self._count, request=request, allowed=allowed, claim=claim)
        self._waiting[held.number] = held
        return held

    def _remove(self, held: HeldRequest) -> None:
        self._waiting.pop(held.number, None)

    # --- called by the guard and the session

    @property
    def waiting(self) -> tuple[HeldRequest, ...]:
        return tuple(self._waiting.values())

    def holds(self, method: str, url: str) -> bool:
        return any((held.request.method, held.request.url) == (method, url) for held in self.waiting)

    def begin_act(self) -> None:
        """Forget what the last act sent."""
        self.sent.clear()
        self.passed_count = 0
        self.end_act()

    def end_act(self) -> None:
        """Drop requests that were released and not claimed, because the act is reported as not having sent them."""
        self._claimable.clear()

    @contextmanager
    def expect(self, commit: CommitSet) -> Generator[None]:
        """While this context is open, one request that sends exactly this may leave, once. Every other navigation is held, safe or not."""
        self._expected = commit
        try:
            yield
        finally:
            self._expected = None

    def release(self, several: Sequence[HeldRequest]) -> None:
        """Let these requests leave. A parked request becomes claimable."""
        self._claimable += [held for held in several if held.allowed is None and held in self.waiting]
        self._decide(several, allowed=True)

    def drop(self, several: Sequence[HeldRequest], *, cause: str = "") -> None:
        """Drop these requests. `cause` is the skill whose act caused them, or empty if the page sent them by itself."""
        for held in several:
            address = held.request.commit.address
            described = f"{address}, held for '{cause}'," if cause else f"the page's own {address}"
            self._report_dropped(f"{described} was not sent")
        self._decide(several, allowed=False)

    def take_dropped(self) -> tuple[str, ...]:
        """Describe the requests that were dropped since the last call of this method."""
        dropped, self._dropped = self._dropped, Counter()
        return tuple(says if times == 1 else f"{says} ({times} times)" for says, times in dropped.items())

    def _report_dropped(self, says: str) -> None:
        known = says in self._dropped or len(self._dropped) < MAX_REPORTED
        self._dropped[says if known else "another request was not sent"] += 1

    def _decide(self, several: Sequence[HeldRequest], *, allowed: bool) -> None:
        for held in several:
            self._remove(held)
            if held.allowed is not None and not held.allowed.done():
                held.allowed.set_result(allowed)


def commit_of(held: Sequence[HeldRequest]) -> CommitSet:
    """Return one commit set for all of these requests. With several, the name of each value begins with the number of its request."""
    if len(held) == 1:
        return held[0].request.commit
    commits = [each.request.commit for each in held]
    return CommitSet(
        abridged=any(commit.abridged for commit in commits),
        address=" and ".join(commit.address for commit in commits),
        values=tuple(
            (f"{i}: {name}", value) for i, commit in enumerate(commits, start=1) for name, value in commit.values
        ),
    )


def _identity_of(request: Request) -> tuple[object, ...]:
    """Return everything in a request that a server acts on, except tokens and cookies."""
    return request.method, request.method_override, request.url, request.fields.get("content-type", ""), request.body


def _make_claim(request: Request) -> str:
    """Return the request's referrer with a token added, so that the next page still sees which site it was opened from."""
    referrer = request.fields.get("referer") or f"{origin_of(request.url)}/"
    return f"{referrer}{'&' if '?' in referrer else '?'}midcourse={secrets.token_urlsafe(16)}"
