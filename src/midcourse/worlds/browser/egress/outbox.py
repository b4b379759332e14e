"""The requests of a browser that may not leave by themselves: their states, and each transition from one to the next.

No byte of a held request has been sent. Releasing it sends the held method, address and body. Dropping it looks to the page as
if it were offline, and is reported with the next act. A page that stops waiting for its request removes it, too.

A navigation is parked: the browser gets an empty response immediately and stays where it is. Once it is released, the session
claims it by a navigation to its address with a referrer that no page can guess. A script that requests the same address
therefore does not get the response.

A 307 or 308 asks for the same request at another address. That is a new request and is held like any other.
"""

import asyncio
import secrets
import time
from collections import Counter, deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Protocol

from midcourse.domain.approval import CommitSet
from midcourse.domain.observation import HELD_FOR, Zone
from midcourse.worlds.browser.egress.address import AddressRefused, read_origin, read_page_origin
from midcourse.worlds.browser.egress.background import Background, kind_of
from midcourse.worlds.browser.egress.keep_alive import KeepAlives
from midcourse.worlds.browser.egress.messages import Messages
from midcourse.worlds.browser.egress.policy import SOCKET, Origins
from midcourse.worlds.browser.egress.request import Request
from midcourse.worlds.browser.egress.response import RecordedResponse
from midcourse.worlds.browser.egress.upload import ApprovedFile

MAX_WAITING = 5
"""The maximum number of held requests to one origin. Chromium has six connections to each; if all waited, the page could not be read."""
MAX_PARKED = 20
"""While this many requests wait, held ones included, no navigation is parked. It is also how many redirects are remembered."""
MAX_REPORTED = 5
"""The maximum number of different dropped requests that are described with an act. The others are counted."""
MAX_SAID = 2**18
"""The maximum number of bytes that are kept of what a server says through a WebSocket."""
MAX_REFUSALS = 200
"""The maximum number of refusals that are kept, since a page can cause any number."""
MOST_RECORDED = 1000
"""The maximum number of a person's requests that are kept until they are recorded."""
_PAGE_RESOURCES = ("audio", "font", "image", "manifest", "script", "style", "track", "video")
_SHOWN = 20
"""The maximum number of values of a held request that an observation shows."""
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


class State(Enum):
    """What has become of a request that may not leave by itself. The package's docstring draws the transitions."""

    HELD = "held"
    """Its connection waits until it is decided."""
    PARKED = "parked"
    """A navigation that waits without a connection."""
    CLAIMABLE = "claimable"
    """A parked request that was released. It leaves when our own navigation claims it."""
    DROPPED = "dropped"
    """It never leaves: another act began, too many others wait, or no navigation claimed it."""
    GONE = "gone"
    """The page stopped waiting for it."""
    SENT = "sent"
    """It was allowed to leave, and its response has not arrived yet."""
    ANSWERED = "answered"
    """The head of its response has arrived, and does not ask for the same request at another address."""
    REDIRECTED = "redirected"
    """The response asks for the same request at another address."""
    DISCARDED = "discarded"
    """A keep-alive of a WebSocket, which never leaves. Its socket stays open."""
    UNREACHED = "unreached"
    """No connection to the server was possible, or the page gave it up before, so the server has seen nothing of the request."""


TRANSITIONS = {
    State.HELD: (State.SENT, State.DROPPED, State.GONE),
    State.PARKED: (State.CLAIMABLE, State.DROPPED),
    State.CLAIMABLE: (State.SENT, State.DROPPED),
    State.SENT: (State.ANSWERED, State.REDIRECTED, State.UNREACHED),
}
"""The states that can follow each state. All others are final, so what was sent, dropped or given up never leaves again."""


@dataclass(eq=False, kw_only=True)
class OutgoingRequest:
    """A request that may not leave by itself, from the moment at which it was read to its response."""

    request: Request
    state: State
    number: int = 0
    """The number of a request that waits. It is not used again while the browser is open."""
    claim: str = ""
    """The referrer by which a navigation claims a parked request."""
    decided: asyncio.Event = field(default_factory=asyncio.Event)
    """Set as soon as the request is no longer held."""
    response: RecordedResponse = field(default_factory=RecordedResponse)
    replaces_get: bool = False
    """Whether it left in place of the GET by which the browser claimed it, with another method."""
    held_at: float = field(default_factory=time.monotonic)
    numbers: dict[str, str] = field(default_factory=dict[str, str])
    """The values that told nothing when it was held: the time, and counters."""
    behind: "OutgoingRequest | None" = None
    """The message before it in its WebSocket, which must leave first."""

    @property
    def waits(self) -> bool:
        return self.state in (State.HELD, State.PARKED)

    def move(self, state: State) -> None:
        """Change the state. A transition that the drawing does not show is a bug of ours, and must not send anything."""
        if state not in TRANSITIONS.get(self.state, ()):
            raise RuntimeError(f"a request that is {self.state.value} cannot become {state.value}")
        self.state = state
        self.decided.set()

    def give_up(self) -> None:
        """Note that the page no longer waits for this request, of which no byte has left yet."""
        if self.state is State.HELD:
            self.move(State.GONE)
        elif self.state is State.SENT:
            # It was released in the same turn of the event loop, before its connection could send it.
            self.move(State.UNREACHED)

    @property
    def zone_id(self) -> str:
        return f"request{self.number}"

    def as_zone(self, shown: CommitSet, held_for: str = "", hint: str = "") -> Zone:
        """Return the zone that represents this request, with its commit set as it may be shown, and the skill that caused it."""
        values = shown.values[:_SHOWN]
        cause = ((HELD_FOR, held_for),) if held_for or HELD_FOR in dict(values) else ()  # before a field of that name
        hints = (("hint", hint),) if hint else ()
        return Zone(id=self.zone_id, role="request", label=shown.address, state=(*cause, *hints, *values))


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A request that was not let through."""

    what: str
    why: str
    leaves_page: bool = False
    """Whether the response would have replaced a page, or filled a new one."""


@dataclass(eq=False, kw_only=True)
class Socket:
    """An open WebSocket."""

    url: str
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    """Who opened it, as the browser says: the origin of the page, and how that relates to the socket's."""
    messages: int = 0
    """How many messages the page has given it."""
    said: bytearray = field(default_factory=bytearray)
    """What the server has said since an upload was approved, up to `MAX_SAID` bytes, with the framing."""
    awaits_answer_since: float = 0.0
    """When the last message left, by the clock of the event loop, if nothing has come from the server since."""


class Observer(Protocol):
    """Receives every request that leaves a browser or is refused. Only `midcourse policy learn` uses it."""

    def on_passed(self, request: Request) -> None:
        """Receive a request that left without needing permission."""
        ...

    def on_sent(self, sent: OutgoingRequest) -> None:
        """Receive a request that was allowed to leave, before its response arrives."""
        ...

    def on_refused(self, what: str) -> None: ...


OBSERVER: ContextVar[Observer | None] = ContextVar("midcourse_observer", default=None)


class Outbox:
    """Decides what becomes of the requests of one browser, and keeps those that wait."""

    def __init__(self, origins: Origins) -> None:
        self._origins = origins
        self._observer = OBSERVER.get()
        self.background = Background()
        self.messages = Messages(self.background)
        self.keep_alives = KeepAlives(self.background)
        self.sockets: set[Socket] = set()
        """The open WebSockets."""
        self._acting = False
        self._kept: list[OutgoingRequest] = []
        """The requests that were held or parked, with some that no longer are."""
        self._count = 0
        self._expected: CommitSet | None = None
        self._file: ApprovedFile | None = None
        self._redirects: deque[Request] = deque(maxlen=MAX_PARKED)
        """The requests, as they would be sent, that servers asked the browser to repeat at another address."""
        self.sent: list[OutgoingRequest] = []
        """The requests that were allowed to leave since `begin_act`."""
        self.passed_count = 0
        """The number of requests that left without approval since `begin_act`, not counting images, styles, scripts and other parts of a page."""
        self._dropped: Counter[str] = Counter()
        """The requests that did not leave, described for people, and how often each was dropped."""
        self._refusals: deque[Refusal] = deque(maxlen=MAX_REFUSALS)
        self.attended = False
        """Whether a person is using the browser, so that nothing is held."""
        self._sent_by_person: deque[Request] = deque(maxlen=MOST_RECORDED)

    # --- called by the proxy

    def is_free(self, request: Request) -> bool:
        """Whether a request may leave without approval. Its body is not needed to decide that."""
        # A GET that claims a released request must be replaced by it. And an approved call may send what was approved and
        # nothing else, so it may not go to another page instead, whose address could say anything.
        if self._find_claimable(request) is not None or (request.is_navigation and self._expected is not None):
            return False
        return self._origins.is_safe(request.method, request.url) and not request.method_override

    def record_passed(self, request: Request) -> None:
        """Count a request that leaves without approval."""
        self.messages.note_document(request, acting=self._acting)
        if request.fields.get("sec-fetch-dest", "") not in _PAGE_RESOURCES:
            self.passed_count += 1
        if self._observer is not None:
            self._observer.on_passed(request)

    def record_refusal(self, what: str, why: str, *, leaves_page: bool = False) -> bool:
        """Record a refusal, unless the request was Chromium's own. Return whether a page may have made the request."""
        if what.startswith(_CHROMIUM_REQUESTS):
            return False
        self._refusals.append(Refusal(what=what, why=why, leaves_page=leaves_page))
        if self._observer is not None:
            self._observer.on_refused(what)
        return True

    def admit(self, request: Request) -> OutgoingRequest:
        """Decide on a request that is not free. The state of what is returned says what becomes of it.

        It is sent if it claims a released request, which then leaves in its place, if it is expected, or while a person uses the
        browser, or if it only renews a session or says that its page is open. Otherwise it is parked or held, or dropped if too many wait already.
        """
        # An approver must see that a server asked for this, and at which address the request was approved before. A server that
        # redirects may have acted already, so the outcome of that act depends on it as well.
        for redirect in self._redirects:
            if _identify(redirect) == _identify(request):
                self._redirects.remove(redirect)
                request = replace(request, redirected_from=redirect.redirected_from)
                break
        if (claimed := self._find_claimable(request)) is not None:
            claimed.replaces_get = claimed.request.method != request.method
            claimed.request = claimed.request.with_cookies_of(request)
            claimed.move(State.SENT)
            return self._record_sent(claimed)
        if self._expected is not None and request.commit == self._expected:
            self._expected = None  # an approval is for one request, so the same one is held if it comes again
            return self._record_sent(OutgoingRequest(request=request, state=State.SENT))
        if self.attended:
            self._sent_by_person.append(request)
            return self._record_sent(OutgoingRequest(request=request, state=State.SENT))
        declared = self._origins.is_declared_unsafe(request.method, request.url)
        if self._file is not None and not declared:
            said = [bytes(socket.said) for socket in self.sockets if read_page_origin(socket.url) == self._file.origin]
            said += [
                each.response.text.encode() for each in self.sent if read_origin(each.request.url) == self._file.origin
            ]
            if self._file.is_sent_by(request, said, self.background):
                self._file = None
                return self._record_sent(OutgoingRequest(request=request, state=State.SENT))
        if not declared and self.background.renews_session(request):
            self.background.note_renewal(
                request, (renewal := OutgoingRequest(request=request, state=State.SENT)).response
            )
            return self._pass(renewal)
        if not declared and (alive := self.keep_alives.admit(request, acting=self._acting)) is not None:
            return self._pass(OutgoingRequest(request=alive, state=State.SENT))
        if request.method == SOCKET:
            if not declared and self.messages.begins_page(request):
                return self._pass(OutgoingRequest(request=request, state=State.SENT))
            if self.messages.keeps_alive(request, acting=self._acting):
                return OutgoingRequest(request=request, state=State.DISCARDED)
        return self._park(request) if request.is_navigation else self._hold(request)

    def _pass(self, own: OutgoingRequest) -> OutgoingRequest:
        """Let a request of the page's own leave. It is not the act's: no outcome depends on its response."""
        if self._observer is not None:
            self._observer.on_sent(own)
        return own

    def _find_claimable(self, request: Request) -> OutgoingRequest | None:
        """Return the released request that this one claims. A page can imitate a navigation, but cannot know the referrer."""
        referrer = request.fields.get("referer", "")
        return next((kept for kept in self._kept if kept.state is State.CLAIMABLE and kept.claim == referrer), None)

    def _record_sent(self, sent: OutgoingRequest) -> OutgoingRequest:
        self.sent.append(sent)
        self.messages.note_left(sent.request)
        if self._observer is not None:
            self._observer.on_sent(sent)
        return sent

    def _park(self, request: Request) -> OutgoingRequest:
        # A page that asks twice, as by a second click, wants one thing. Both would be approved and sent otherwise.
        for parked in self.waiting:
            if parked.state is State.PARKED and parked.request == request:
                return parked
        if len(self.waiting) >= MAX_PARKED:
            self._report_dropped(f"{request.commit.address} was not sent, because {MAX_PARKED} others waited")
            return OutgoingRequest(request=request, state=State.DROPPED)
        # The token follows the request's own referrer, so that the next page still sees which site it was opened from.
        referrer = request.fields.get("referer") or f"{read_origin(request.url)}/"
        claim = f"{referrer}{'&' if '?' in referrer else '?'}midcourse={secrets.token_urlsafe(16)}"
        return self._keep(request, State.PARKED, claim)

    def _hold(self, request: Request) -> OutgoingRequest:
        held = [each for each in self.waiting if each.state is State.HELD]
        numbers = self.background.note_numbers(request)
        if not self._acting:
            self.background.note_idle(request)
            if any(kind_of(each.request) == kind_of(request) for each in held):
                self._report_dropped(f"the page's own {request.commit.address.partition('?')[0]} was not sent")
                return OutgoingRequest(request=request, state=State.DROPPED)
        if sum(read_origin(each.request.url) == read_origin(request.url) for each in held) >= MAX_WAITING:
            self._report_dropped(f"{request.commit.address} was not sent, because {MAX_WAITING} others were held")
            return OutgoingRequest(request=request, state=State.DROPPED)
        kept = self._keep(request, State.HELD)
        kept.numbers = numbers
        return kept

    def _keep(self, request: Request, state: State, claim: str = "") -> OutgoingRequest:
        self._count += 1
        kept = OutgoingRequest(request=request, state=state, number=self._count, claim=claim)
        self._kept = [each for each in self._kept if each.waits or each.state is State.CLAIMABLE] + [kept]
        return kept

    def record_response(self, sent: OutgoingRequest, data: bytes) -> None:
        """Record a part of the response. It may arrive after the act, when no outcome depends on it any more."""
        sent.response.append(data)
        if sent.state is not State.SENT or not sent.response.has_head:
            return
        target = sent.response.redirect_target(sent.request.url)
        sent.move(State.REDIRECTED if target else State.ANSWERED)
        if not target:
            return
        redirect = sent.request.redirect_to(target)
        if not sent.replaces_get:
            self._redirects.append(redirect)
            return
        # The browser asked for it by a GET and would follow by a GET, so its next request is parked here, in its stead.
        try:
            self._origins.check(redirect.url)
        except AddressRefused as refused:
            self.record_refusal(f"{redirect.method} {redirect.url}", str(refused), leaves_page=True)
        else:
            self._park(redirect)

    # --- called by the guard and the session

    @property
    def waiting(self) -> tuple[OutgoingRequest, ...]:
        return tuple(each for each in self._kept if each.waits)

    def holds(self, method: str, url: str) -> bool:
        return any((held.request.method, held.request.url) == (method, url) for held in self.waiting)

    def begin_act(self) -> None:
        """Forget what the last act sent and what was refused before."""
        self.sent.clear()
        self._refusals.clear()
        self.passed_count = 0
        self.end_act()
        self.keep_alives.begin_act()
        self._acting = True

    def end_act(self) -> None:
        """Drop requests that were released and not claimed, because the act is reported as not having sent them."""
        for each in self._kept:
            if each.state is State.CLAIMABLE:
                each.move(State.DROPPED)
        self._kept = list(self.waiting)
        self._acting = False

    @contextmanager
    def expect(self, commit: CommitSet) -> Generator[None]:
        """While this context is open, one request that sends exactly this may leave, once. Every other navigation is held, safe or not."""
        self._expected = commit
        try:
            yield
        finally:
            self._expected = None

    @contextmanager
    def expect_file(self, file: ApprovedFile) -> Generator[None]:
        """While this context is open, one request that carries exactly this file may leave, once."""
        self._file = file
        for socket in self.sockets:
            socket.said.clear()
        try:
            yield
        finally:
            self._file = None

    def release(self, several: Sequence[OutgoingRequest]) -> None:
        """Let these requests leave, if they still wait. A parked request becomes claimable."""
        for each in several:
            if each.state is State.PARKED:
                each.move(State.CLAIMABLE)
            elif each.state is State.HELD:
                each.move(State.SENT)
                self._record_sent(each)

    def drop(self, several: Sequence[OutgoingRequest], *, cause: str = "") -> None:
        """Drop these requests. `cause` is the skill whose act caused them, or empty if the page sent them by itself."""
        for each in several:
            if each.waits:
                each.move(State.DROPPED)
                if each.request.method == SOCKET:
                    self.messages.note_closed(each.request.url)
                address = each.request.commit.address
                described = (
                    f"{address}, held for '{cause}'," if cause else f"the page's own {address.partition('?')[0]}"
                )
                self._report_dropped(f"{described} was not sent")

    def report_given_up(self, several: Sequence[OutgoingRequest]) -> None:
        """Report requests that the page gave up, although they were approved together with what is sent."""
        for each in several:
            self._report_dropped(f"{each.request.commit.address}, which the page gave up, was not sent")

    def take_dropped(self) -> tuple[str, ...]:
        """Describe the requests that were dropped since the last call of this method."""
        dropped, self._dropped = self._dropped, Counter()
        return tuple(says if times == 1 else f"{says} ({times} times)" for says, times in dropped.items())

    def _report_dropped(self, says: str) -> None:
        known = says in self._dropped or len(self._dropped) < MAX_REPORTED
        self._dropped[says if known else "another request was not sent"] += 1

    def take_refusals(self) -> tuple[Refusal, ...]:
        """Return the refusals since the last call of this method."""
        taken = tuple(self._refusals)
        self._refusals.clear()
        return taken

    @property
    def has_refused_navigation(self) -> bool:
        """Whether a page wanted to leave for a refused address since the last call of `take_refusals`."""
        return any(refusal.leaves_page for refusal in self._refusals)

    def take_sent_by_person(self) -> tuple[Request, ...]:
        """Return the requests that left because a person used the browser, since the last call of this method."""
        taken = tuple(self._sent_by_person)
        self._sent_by_person.clear()
        return taken


def join_commits(held: Sequence[OutgoingRequest]) -> CommitSet:
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


def _identify(request: Request) -> tuple[object, ...]:
    """Return everything in a request that a server acts on, except tokens and cookies."""
    return request.method, request.method_override, request.url, request.fields.get("content-type", ""), request.body
