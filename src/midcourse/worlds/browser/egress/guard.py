"""The guard of one browser: holds what a call would send until that call is allowed.

If the act of a call causes a request that is held, the outcome is `would_send`, and the commit set is the held request.
When the same call comes again and is allowed, it only releases that request. Every other act drops what is held, except `send`,
and except empty requests that a plan has left waiting, which some pages take for a failure of what they show.
"""

import asyncio
import ssl
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from midcourse.domain.approval import CommitSet
from midcourse.domain.outcome import Outcome
from midcourse.errors import TaskInvalid
from midcourse.policy.unsent import list_kinds
from midcourse.ports.world import WOULD_PASS_ON, WOULD_SEND, Call, CallKey, identify_call
from midcourse.worlds.browser.egress.address import read_origin, read_page_origin
from midcourse.worlds.browser.egress.flow import Served, describe_flow
from midcourse.worlds.browser.egress.outbox import Outbox, OutgoingRequest, State, join_commits
from midcourse.worlds.browser.egress.policy import SAFE_METHODS, SOCKET, Origins
from midcourse.worlds.browser.egress.proxy import Proxy
from midcourse.worlds.browser.egress.tls import Certificate
from midcourse.worlds.browser.egress.upload import ApprovedFile
from midcourse.worlds.browser.page.forms import PageForms

UPLOAD = "upload"
SEND = "send"
"""The skill that releases a held request that no call caused."""
PAUSE_SECONDS = 0.6
"""How long after a text was typed a page may wait before it passes the text on. Most wait for 200 to 500 ms."""
_PAUSE = 0.02
_MOST_STAY = 2
"""How many empty requests stay unanswered. Chromium has six connections to a host, and other requests are held, too."""
_CHANGES = ("DELETE", "PATCH", "PUT")
"""Methods that only change something. A POST may be a query."""


class Guard:
    """The policy, proxy and outbox of one browser, and the call to which the held requests belong."""

    def __init__(self, origins: Origins, *, authorities: str = "", certificate: Certificate | None = None) -> None:
        """`authorities` is a PEM file of certificate authorities to trust besides the system's."""
        self.origins = origins
        self.outbox = Outbox(origins)
        trusted = _trust_store(authorities) if authorities else None
        self.proxy = Proxy(origins, self.outbox, trusted=trusted, certificate=certificate)
        self._held_call: CallKey | None = None
        """The call whose act caused the held requests."""
        self._held: tuple[OutgoingRequest, ...] = ()
        self._left = 0
        """The command that may leave the held requests waiting, because its plan did not mean to send them."""
        self._staying: tuple[OutgoingRequest, ...] = ()
        """The empty requests that earlier plans have left waiting. No act drops them, and they count as the page's own."""
        self._kept: tuple[OutgoingRequest, ...] = ()
        """The requests that were held when the act under way began, and are neither released nor dropped by it."""
        self._bound: tuple[CallKey, CommitSet] | None = None
        self._promised: tuple[CallKey, ApprovedFile] | None = None
        """The file that the approver of this call is told goes to the page's origin."""
        self._typed: tuple[Call, str, float] | None = None
        """The last call, if it has typed a text and nothing was held for it, with the place of its page and the time of its end."""
        self._pausing: set[str] = set()
        """The places of pages that have passed on a text a moment after it was typed."""

    # --- what a call would send

    def find_held(self, call: Call) -> tuple[OutgoingRequest, ...]:
        """Return the requests that the act of this call caused, if all of them are still held."""
        same = identify_call(call) == self._held_call
        return self._held if same and all(held.waits for held in self._held) else ()

    def has_lost(self, call: Call) -> bool:
        """Whether a held request of this call is gone without having been sent, so that it is not known what the call would send."""
        # One that `send` has released is not lost: it must not be reported as not sent.
        gone = any(held.state in (State.DROPPED, State.GONE) for held in self._held)
        return gone and identify_call(call) == self._held_call

    def find_rest(self, call: Call) -> tuple[OutgoingRequest, ...]:
        """Return what still waits of an approved call, if its page has only given up requests of scripts that went with a form.

        A page saves a draft at the click that sends its form, and does not wait for it while a person reads. The approver saw both,
        so the form alone is less than was approved, and nothing else.
        """
        lost = [held for held in self._held if not held.waits]
        rest = tuple(held for held in self._held if held.waits)
        given_up = all(held.state is State.GONE and held.request.method != SOCKET for held in lost)
        same = (
            lost and self.find_bound_commit(call) == join_commits(self._held) and identify_call(call) == self._held_call
        )
        # The form is what the step is for. Of several requests by scripts, a page may have given up just that one.
        return rest if call.allowed and same and given_up and any(each.state is State.PARKED for each in rest) else ()

    def can_release(self, call: Call) -> bool:
        """Whether this call would release requests that wait with their own connections, which needs nothing of their page."""
        named = self.find_request(call.zone) if call.skill == SEND else None
        held = self.find_held(call) if named is None else (named,)
        return bool(held) and all(each.state is State.HELD for each in held)

    async def wait_for_responses(self, seconds: float) -> None:
        """Wait until what was allowed to leave has been answered."""
        for _ in range(round(seconds / _PAUSE)):
            if not any(each.state is State.SENT and each.request.method != SOCKET for each in self.outbox.sent):
                return
            await asyncio.sleep(_PAUSE)

    def find_cause(self, held: OutgoingRequest) -> str:
        """Return the skill of the call whose act caused a held request, or nothing if the page sent it by itself."""
        return self._held_call[0] if self._held_call and held in self._held else ""

    def find_request(self, zone: str) -> OutgoingRequest | None:
        return next((held for held in self.outbox.waiting if held.zone_id == zone), None)

    def drop_first_changes(self) -> bool:
        """Drop what pages want to change although no act has told them anything, and return whether that was anything.

        Some pages show their content only after such a request is answered, and go on without it as if they were offline. It can be
        no query, as a POST can, so there is nothing in its response for which a plan would `send` it.
        """
        if not self.outbox.background.is_untouched:
            return False  # it may store what was entered, such as a draft, and a plan may want to send that
        changes = [
            each
            for each in self.outbox.waiting
            if each.state is State.HELD and each.request.method in _CHANGES and not self.find_cause(each)
        ]
        self.outbox.drop(changes)
        return bool(changes)

    def bind(self, call: Call, commit: CommitSet | None) -> CommitSet | None:
        """Remember the commit set that was read for this call. When the call is allowed, it may send this and nothing else."""
        self._bound = None if commit is None else (identify_call(call), commit)
        return commit

    def find_bound_commit(self, call: Call) -> CommitSet | None:
        """Return the commit set that was last read, if it was read for this call."""
        key, commit = self._bound or (None, None)
        return commit if key == identify_call(call) else None

    def find_file(self, call: Call, name: str, content: bytes, url: str) -> ApprovedFile | None:
        """Return the file that this call gives to the page at this address, if the requests held for it only prepare for sending it."""
        origin = read_origin(url)
        file = ApprovedFile(name=name, content=content, origin=origin)
        held = [each for each in self.find_held(call) if read_page_origin(each.request.url) == origin]
        prepares = held and not any(each.request.is_navigation or file.is_in(each.request) for each in held)
        return file if content and prepares and len(held) == len(self._held) else None

    def promise(self, call: Call, file: ApprovedFile | None) -> None:
        """Remember the file that the approver of this call sees."""
        self._promised = None if file is None else (identify_call(call), file)

    def find_promised(self, call: Call) -> ApprovedFile | None:
        key, file = self._promised or (None, None)
        return file if key == identify_call(call) else None

    # --- what a page passes on a moment after a text was typed

    async def wait_for_pause(self, call: Call, place: str) -> None:
        """Wait for what the page at this place passes on a moment after a text was typed, if it has done so before."""
        if place not in self._pausing or not self.outbox.background.passes_on(call, ()):
            return
        for _ in range(20):
            if any(held not in self._kept for held in self.outbox.waiting) or self.outbox.sent:
                return
            await asyncio.sleep(PAUSE_SECONDS / 20)

    def note_typed(self, call: Call, outcome: Outcome, place: str) -> None:
        """Remember a call that has typed a text, since its page may pass the text on later."""
        typed = outcome.status == "ok" and not self.outbox.sent and self.outbox.background.passes_on(call, ())
        self._typed = (call, place, time.monotonic()) if typed else None

    def claim_late(self) -> None:
        """Count what the page has passed on a moment after a text was typed as held for the call that typed it."""
        if self._typed is None or self._held_call is not None:
            return
        call, place, ended = self._typed
        background = self.outbox.background
        late = tuple(
            held
            for held in self.outbox.waiting
            if held not in self._kept and held.held_at - ended <= PAUSE_SECONDS
            if background.passes_on(call, [held.request]) and background.carries_entered(held.request)
        )
        if late:
            self._held_call, self._held = identify_call(call), late
            self._left = call.command if call.unmeant and _can_wait(late) else 0
            self._pausing.add(place)

    # --- around an act

    def begin_act(self, call: Call) -> tuple[OutgoingRequest, ...]:
        """Return the held requests that this act releases instead of being carried out. If there are none, drop what is held.

        An act that releases drops nothing: the page would say that it is offline just when the response is judged.
        """
        self.claim_late()
        self.outbox.begin_act()
        own: tuple[OutgoingRequest, ...] = ()
        if call.allowed:
            named = self.find_request(call.zone) if call.skill == SEND else None
            own = (named,) if named is not None else self.find_held(call)
            if not own and (own := self.find_rest(call)):
                self.outbox.report_given_up([held for held in self._held if held not in own])
        if own:
            self._bound = None  # the held request is sent as it is; what was read does not bind the page that its response leads to
        elif call.skill != SEND:
            self._staying = self._find_staying()
            waiting = [held for held in self.outbox.waiting if held not in self._staying]
            self.outbox.drop([held for held in waiting if not self.find_cause(held)])
            if self._held_call:
                self.outbox.drop([held for held in waiting if self.find_cause(held)], cause=self._held_call[0])
        if call.skill != SEND:
            self._held_call, self._held, self._left, self._typed = None, (), 0, None
        self._kept = tuple(held for held in self.outbox.waiting if held not in own)
        return own

    def _find_staying(self) -> tuple[OutgoingRequest, ...]:
        """The latest empty requests that plans have left waiting.

        Dropped, they fail like a network: a page that sends one when it opens something would show an error in its place.
        """
        left = [held for held in self._held if self._left and self.outbox.background.is_empty(held.request)]
        return tuple(each for each in (*self._staying, *left) if each.waits)[-_MOST_STAY:]

    def answer_repeat(self, call: Call) -> Outcome | None:
        """Return the outcome for a call that comes again and cannot release anything. Nothing is repeated or dropped.

        It is not allowed, as after a crash, or the page has stopped waiting for the request while a person was asked. Then the
        next call is carried out again. If a form still waits, only what the page gave up is not sent.
        """
        if call.allowed and self.has_lost(call) and not self.find_rest(call):
            detail = f"the page stopped waiting for {join_commits(self._held).address}, so it was not sent"
            self._held_call, self._held = None, ()
            return Outcome(status="no_effect", reason="transient", detail=detail, evidence="rule")
        self.claim_late()
        if not call.allowed and self._left not in (0, call.command):
            return None  # what it would send was left waiting, so this is the act once more
        own = () if call.allowed else self.find_held(call)
        return self._hold(call, own) if own else None

    def _hold(self, call: Call, held: tuple[OutgoingRequest, ...]) -> Outcome:
        reason = WOULD_PASS_ON if self._passes_on(call, held) else WOULD_SEND
        unsent = list_kinds(join_commits(held)) if self._left == call.command else ()
        return Outcome(status="no_effect", reason=reason, detail=_describe_held(held), unsent=unsent)

    def _passes_on(self, call: Call, held: Sequence[OutgoingRequest]) -> bool:
        """Whether this act only fills in a field, which a script of its page passes on by itself."""
        requests = [each.request for each in held]
        messages = [request for request in requests if request.method == SOCKET]
        others = [request for request in requests if request.method != SOCKET]
        by_socket = all(self.outbox.messages.passes_on(call, message) for message in messages)
        return by_socket and (not others or self.outbox.background.passes_on(call, others))

    def find_covered(self, call: Call, url: str, pages: Sequence[PageForms], source: str) -> str:
        """Describe what an answer for the whole run would cover: what passes on what is typed at this address, or pages of a flow."""
        held = self.find_held(call)
        background = self.outbox.background
        if len(held) == 1 and held[0].state is State.PARKED:
            request = held[0].request
            unsafe = self.origins.is_declared_unsafe(request.method, request.url)
            return "" if unsafe else describe_flow(call, request, pages, background, url, Served.read(source))
        if not held or not self._passes_on(call, held):
            return ""
        if all(each.request.method == SOCKET for each in held):
            return self.outbox.messages.describe_kind(call, [each.request for each in held], url)
        kinds = {
            background.describe_kind(each.request, url, each.numbers) for each in held
        }  # some pages ask at every letter
        return kinds.pop() if len(kinds) == 1 else ""

    @contextmanager
    def expect(self, call: Call) -> Generator[None]:
        """While this context is open, an allowed call may send exactly what was read for it."""
        expected, file = self._find_expected(call), self.find_promised(call) if call.allowed else None
        with ExitStack() as stack:
            if expected is not None:
                stack.enter_context(self.outbox.expect(expected))
            if file is not None:
                stack.enter_context(self.outbox.expect_file(file))
            yield

    def _find_expected(self, call: Call) -> CommitSet | None:
        """Return what an allowed call may send, if it was read for it."""
        bound = self.find_bound_commit(call) if call.allowed else None
        return bound if bound is not None and bound.address else None

    def judge(self, call: Call, outcome: Outcome, *, sends: bool) -> Outcome:
        """Adjust the outcome of an act to what it has sent, and add what was dropped.

        `sends` means that sending is the purpose of the act, so without a request it had no effect. That is also so if a request
        was approved for it. An act that is held keeps what was dropped for its outcome after the approval.
        """
        outcome = self._judge_act(call, outcome, sends=sends or self._find_expected(call) is not None)
        return (
            outcome
            if outcome.reason in (WOULD_SEND, WOULD_PASS_ON)
            else replace(outcome, dropped=self.outbox.take_dropped())
        )

    def _judge_act(self, call: Call, outcome: Outcome, *, sends: bool) -> Outcome:
        self.outbox.end_act()
        waiting = (each for each in self.outbox.waiting if each not in self._kept)
        held = tuple(each for each in waiting if not self.outbox.background.is_own(each.request))
        sent = list(self.outbox.sent)
        if sent:
            outcome = _judge_sent(outcome, sent, self.origins)
            if redirects := tuple(each for each in held if each.request.redirected_from):
                return self._hold_redirects(call, outcome, redirects)
            # A server may have acted before it answered with a redirect, so the outcome of an unsafe request is unknown.
            redirected = any(
                each.state is State.REDIRECTED and each.request.method not in SAFE_METHODS for each in sent
            )
            unsure = redirected and outcome.status == "ok"
            outcome = replace(outcome, status="unknown", reason="redirected") if unsure else outcome
            if held and call.skill == UPLOAD:
                # An upload takes several requests. What is left is shown as held for it, so that a plan can `send` it.
                self._held_call, self._held = identify_call(call), held
                waits = " and ".join(each.request.commit.address for each in held)
                outcome = replace(outcome, detail=f"{outcome.detail}; not sent yet, `send` it to go on: {waits}")
            return self._add_refusals(outcome) if self.outbox.has_refused_navigation else outcome
        if held and call.skill != SEND:
            # What is not known to be the page's own counts as the call's, so its approval must show it.
            self._held_call, self._held = identify_call(call), held
            self._left = call.command if call.unmeant and outcome.status == "ok" and _can_wait(held) else 0
            return self._hold(call, held)
        if sends and not self.outbox.passed_count:
            detail = outcome.detail or "nothing left the browser"
            return replace(
                outcome,
                status="no_effect",
                reason=outcome.reason or "not_sent",
                detail=detail,
                evidence="rule",
                claimed=False,
            )
        return self._add_refusals(outcome)

    def _hold_redirects(self, call: Call, outcome: Outcome, redirects: tuple[OutgoingRequest, ...]) -> Outcome:
        """Hold the redirect of an allowed request, which has left, for the same call."""
        self._held_call, self._held, self._left = identify_call(call), redirects, 0
        status = "no_effect" if outcome.status == "no_effect" else "unknown"
        detail = f"{outcome.detail}; redirected: {_describe_held(redirects)}"
        return Outcome(status=status, reason=WOULD_SEND, detail=detail)

    def _add_refusals(self, outcome: Outcome) -> Outcome:
        refused = sorted(self.outbox.take_refusals(), key=lambda refusal: not refusal.leaves_page)
        if not refused:
            return outcome
        says = f"not let through: {refused[0].what}: {refused[0].why}"
        says += f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
        return replace(outcome, detail=f"{outcome.detail}; {says}" if outcome.detail else says)


def _trust_store(authorities: str) -> ssl.SSLContext:
    trusted = ssl.create_default_context()
    try:
        trusted.load_verify_locations(authorities)
    except OSError as problem:
        raise TaskInvalid(f"authorities: {authorities} is not a PEM file of certificates: {problem}") from None
    return trusted


def _judge_sent(outcome: Outcome, sent: list[OutgoingRequest], origins: Origins) -> Outcome:
    """Return `no_effect` if no server was reached or if each response proves that nothing was stored; otherwise add the responses."""
    proofs = [_find_disproof(each, origins) for each in sent]
    if all(proofs):
        reason = "signed_out" if all(each.response.status == 401 for each in sent) else "rejected"
        return Outcome(status="no_effect", reason=reason, detail="; ".join(proofs), evidence="rule")
    if outcome.claimed:  # the call was refused, and a script of the page sent what was allowed
        outcome = replace(outcome, status="unknown", evidence="", claimed=False)
    answers = "; ".join(f"{each.request.commit.address}: {each.response.status or 'no answer'}" for each in sent)
    return replace(outcome, detail=f"{outcome.detail}; {answers}" if outcome.detail else answers)


def _find_disproof(sent: OutgoingRequest, origins: Origins) -> str:
    request = sent.request
    if sent.state is State.UNREACHED:
        return f"{request.commit.address} reached no server"
    if sent.response.status is None:
        return ""
    return origins.find_disproof(request.method, request.url, sent.response.status, sent.response.text)


def _can_wait(held: Sequence[OutgoingRequest]) -> bool:
    """Whether only scripts wait for these: a dropped navigation would leave the page where it is, and a dropped message closes its socket."""
    return all(
        each.state is State.HELD and each.request.method != SOCKET and not each.request.redirected_from for each in held
    )


def _describe_held(held: tuple[OutgoingRequest, ...]) -> str:
    kinds: dict[str, list[str]] = {}
    for each in held:
        kinds.setdefault(each.request.commit.address.partition("?")[0], []).append(each.request.commit.address)
    said = (one[0] if len(one) == 1 else f"{kind} ({len(one)} requests)" for kind, one in kinds.items())
    return f"it would send {' and '.join(said)}, which needs approval first"
