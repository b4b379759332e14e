"""Proposes policy files for a person to review, from a session that a person supervised, or from a finished run.

Rules that make the browser stricter are proposed as they are. Rules that loosen it (a refused origin, a request that needs
no approval, a response that proves something) are proposed as comments, so that a person has to enable them.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from midcourse.policy.unsent import generalize_path
from midcourse.ports.store import Store
from midcourse.worlds.browser.egress.address import Address, AddressRefused, parse
from midcourse.worlds.browser.egress.background import EFFECTS
from midcourse.worlds.browser.egress.outbox import OBSERVER, OutgoingRequest
from midcourse.worlds.browser.egress.policy import ANYWHERE, SAFE_METHODS, OriginRules, Origins, read_origins
from midcourse.worlds.browser.egress.request import Request
from midcourse.worlds.browser.egress.response import RecordedResponse
from midcourse.worlds.browser.session import BrowserSession, SessionOptions

OFTEN = 3
"""A request that a script sends this often may be one by which the page saves or reports by itself: a person presses no button so often."""
_ACTS = re.compile(
    r"[/_.-](delete|remove|destroy|log-?out|sign-?out|cancel|unsubscribe|confirm|approve|activate|buy|pay|send)(?![a-z])",
    re.IGNORECASE,
)
_REJECTS = (400, 409, 422)


class AnyOrigin(Origins):
    """The policy of a browser that a person uses. It allows every public origin, and private ones like the policy of the start."""

    def __init__(self, start: Origins) -> None:
        super().__init__({})
        self._start = start

    def find_rules(self, address: Address) -> OriginRules | None:
        return self._start.find_rules(address) or OriginRules()


@dataclass
class _Traffic:
    """The requests that were sent to one origin, written as in the policy file."""

    pages: set[str] = field(default_factory=set[str])
    gets: set[str] = field(default_factory=set[str])
    unsafe: Counter[str] = field(default_factory=Counter[str])
    forms: set[str] = field(default_factory=set[str])
    """The unsafe requests that opened another page, because a person pressed a button."""
    answers: list[tuple[str, RecordedResponse]] = field(default_factory=list[tuple[str, RecordedResponse]])

    def record(self, request: Request, path: str) -> str:
        """Record a request and return its name."""
        name = f"{request.method} {path}"
        if request.method not in SAFE_METHODS:
            self.unsafe[name] += 1
            self.forms |= {name} if request.is_navigation else set()
        else:
            self.gets.add(name)
            self.pages |= {path} if request.is_navigation else set()
        return name

    @property
    def rejected(self) -> list[tuple[str, int]]:
        return sorted({(name, answer.status) for name, answer in self.answers if answer.status in _REJECTS})


class PolicyLearner:
    """Records the requests of a session by origin, as an observer of its outbox and proxy."""

    def __init__(self) -> None:
        self._known: dict[str, _Traffic] = defaultdict(_Traffic)
        self._refused: Counter[str] = Counter()

    def on_passed(self, request: Request) -> None:
        self._record(request)

    def on_sent(self, sent: OutgoingRequest) -> None:
        traffic, name = self._record(sent.request)
        traffic.answers.append((name, sent.response))

    def _record(self, request: Request) -> tuple[_Traffic, str]:
        address = parse(request.url, ANYWHERE)
        page = address.origin.replace("ws", "http", 1) if address.scheme in ("ws", "wss") else address.origin
        traffic = self._known[page]
        return traffic, traffic.record(request, generalize_path(address.path))

    def on_refused(self, what: str) -> None:
        method, _, where = what.partition(" ")
        try:
            self._refused[parse(f"https://{where}" if method == "CONNECT" else where, ANYWHERE).origin] += 1
        except AddressRefused:
            return

    def propose(self) -> str:
        """Return the proposed policy file, as TOML."""
        sections = [_format_section(origin, traffic) for origin, traffic in sorted(self._known.items())]
        missing = [
            f"# Refused {times} times. If the task needs it:\n# [{json.dumps(origin)}]\n"
            for origin, times in self._refused.most_common()
            if origin not in self._known
        ]
        return "\n".join([*sections, *missing]) or "# no requests were seen\n"


def _format_section(origin: str, traffic: _Traffic) -> str:
    lines = [f"[{json.dumps(origin)}]"]
    if acting := [name for name in traffic.gets if _ACTS.search(name)]:
        lines.append("# These are GETs, but their names suggest an effect.")
        lines.append(f"unsafe = {json.dumps(sorted(acting))}")
    often = [name for name, times in traffic.unsafe.items() if times >= OFTEN and name not in traffic.forms]
    if often:
        lines.append(
            f"# Sent by scripts, {OFTEN} times or more. If they only save a draft or report, they need no approval:"
        )
        lines.append(f"# safe = {json.dumps(sorted(often))}")
    if asked := [name for name in traffic.unsafe if name not in often]:
        lines.append(f"# Needs approval each time: {', '.join(sorted(asked))}")
    if traffic.pages:
        lines.append("# Pages that were visited. To let a planner navigate to them by itself:")
        lines.append(f"# navigate = {json.dumps(sorted(traffic.pages))}")
    for name, status in traffic.rejected:
        lines.append(f"# {name} was answered with {status}. If that always means that nothing was stored:")
        lines.append(f"# [[{json.dumps(origin)}.evidence]]")
        lines.append(f"# request = {json.dumps(name)}")
        lines.append(f"# status = {status}")
    return "\n".join([*lines, ""])


@asynccontextmanager
async def open_attended(url: str, *, headed: bool = True) -> AsyncGenerator[BrowserSession]:
    """Open a browser for a person to work in. Nothing is held, and every public origin may be reached."""
    options = SessionOptions(start=url, headed=headed, origins=AnyOrigin(read_origins(None, url)))
    session = await BrowserSession.begin(options)
    await session.attend()
    try:
        yield session
    finally:
        await session.end()


@contextmanager
def learn_policy() -> Generator[PolicyLearner]:
    """Record the requests of every browser that is opened while this context is open."""
    learned = PolicyLearner()
    token = OBSERVER.set(learned)
    try:
        yield learned
    finally:
        OBSERVER.reset(token)


# --- from a run that has finished


def propose_policy(addresses: Sequence[str]) -> str:
    """Propose a policy file, as TOML, from the requests that a run was allowed to send.

    `addresses` are these requests in order, such as 'POST https://shop.example/orders'. Requests before the last one only
    prepared it (a draft, a basket, a page of a form) and are proposed as safe. The last one is the purpose of the run and still
    needs approval, like every request with an address that suggests an effect.
    """
    requests: list[tuple[str, str]] = []
    for written in addresses:
        method, _, url = written.partition(" ")
        address = parse(url)
        requests.append((address.origin, f"{method} {generalize_path(address.path)}"))
    if not requests:
        return "# No request of the run needed approval, so it needs no policy file.\n"
    asked = {requests[-1], *(each for each in requests if EFFECTS.search(each[1]))}
    safe: dict[str, set[str]] = defaultdict(set)
    for origin, name in requests:
        safe[origin] |= {name} if (origin, name) not in asked else set()
    return "\n".join(
        _format_run_section(origin, safe[origin], {name for at, name in asked if at == origin}) for origin in safe
    )


async def list_sent_requests(store: Store, run_id: str) -> list[str]:
    """Return the requests that a run was allowed to send and is known to have sent, in order, as method and URL."""
    entries = sorted(await store.ledger(run_id), key=lambda entry: entry.dispatched_at or 0.0)
    done = [
        entry for entry in entries if entry.consequence and entry.outcome is not None and entry.outcome.status == "ok"
    ]
    consequences = [await store.consequence(run_id, entry.consequence) for entry in done]
    addresses = [
        consequence.commit.address
        for consequence in consequences
        if consequence is not None and " " in consequence.commit.address
    ]
    return [address for several in addresses for address in several.split(" and ")]


def _format_run_section(origin: str, safe: set[str], asked: set[str]) -> str:
    lines = [f"[{json.dumps(origin)}]"]
    if safe:
        lines.append("# These only prepared the last request. Remove those that you want to approve each time:")
        lines.append(f"safe = {json.dumps(sorted(safe))}")
    if asked:
        lines.append(f"# Needs approval each time: {', '.join(sorted(asked))}")
    return "\n".join([*lines, ""])
