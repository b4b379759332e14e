"""The guard of one browser: holds what a call would send until that call is allowed.

If the act of a call causes a request that is held, the outcome is `would_send`, and the commit set is the held request.
When the same call comes again and is allowed, it only releases that request. Every other act drops what is held, except `send`.
"""

import ssl
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

from midcourse.domain.approval import CommitSet
from midcourse.domain.outcome import Outcome
from midcourse.errors import TaskInvalid
from midcourse.ports.world import WOULD_SEND, Call, CallKey, identify_call
from midcourse.worlds.browser.egress.outbox import Outbox, OutgoingRequest, State, join_commits
from midcourse.worlds.browser.egress.policy import SAFE_METHODS, Origins
from midcourse.worlds.browser.egress.proxy import Proxy
from midcourse.worlds.browser.egress.tls import Certificate

SEND = "send"
"""The skill that releases a held request that no call caused."""


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
        self._kept: tuple[OutgoingRequest, ...] = ()
        """The requests that were held when the act under way began, and are neither released nor dropped by it."""
        self._bound: tuple[CallKey, CommitSet] | None = None

    # --- what a call would send

    def find_held(self, call: Call) -> tuple[OutgoingRequest, ...]:
        """Return the requests that the act of this call caused, if all of them are still held."""
        same = identify_call(call) == self._held_call
        return self._held if same and all(held.waits for held in self._held) else ()

    def has_lost(self, call: Call) -> bool:
        """Whether a held request of this call is gone without having been sent, so that it is not known what the call would send."""
        # One that `send` has released is not lost: nobody may be told that it was not sent.
        gone = any(held.state in (State.DROPPED, State.GONE) for held in self._held)
        return gone and identify_call(call) == self._held_call

    def find_cause(self, held: OutgoingRequest) -> str:
        """Return the skill of the call whose act caused a held request, or nothing if the page sent it by itself."""
        return self._held_call[0] if self._held_call and held in self._held else ""

    def find_request(self, zone: str) -> OutgoingRequest | None:
        return next((held for held in self.outbox.waiting if held.zone_id == zone), None)

    def bind(self, call: Call, commit: CommitSet | None) -> CommitSet | None:
        """Remember the commit set that was read for this call. When the call is allowed, it may send this and nothing else."""
        self._bound = None if commit is None else (identify_call(call), commit)
        return commit

    def find_bound_commit(self, call: Call) -> CommitSet | None:
        """Return the commit set that was last read, if it was read for this call."""
        key, commit = self._bound or (None, None)
        return commit if key == identify_call(call) else None

    # --- around an act

    def begin_act(self, call: Call) -> tuple[OutgoingRequest, ...]:
        """Return the held requests that this act releases instead of being carried out. If there are none, drop what is held.

        An act that releases drops nothing: the page would say that it is offline just when the response is judged.
        """
        self.outbox.begin_act()
        own: tuple[OutgoingRequest, ...] = ()
        if call.allowed:
            named = self.find_request(call.zone) if call.skill == SEND else None
            own = (named,) if named is not None else self.find_held(call)
        if own:
            self._bound = None  # the held request is sent as it is; what was read does not bind the page that its response leads to
        elif call.skill != SEND:
            waiting = self.outbox.waiting
            self.outbox.drop([held for held in waiting if not self.find_cause(held)])
            if self._held_call:
                self.outbox.drop([held for held in waiting if self.find_cause(held)], cause=self._held_call[0])
        if call.skill != SEND:
            self._held_call, self._held = None, ()
        self._kept = tuple(held for held in self.outbox.waiting if held not in own)
        return own

    def answer_repeat(self, call: Call) -> Outcome | None:
        """Return the outcome for a call that comes again and cannot release anything. Nothing is repeated or dropped.

        It is not allowed, as after a crash, or the page has stopped waiting for the request while a person was asked. Then the
        next call is carried out again.
        """
        if call.allowed and self.has_lost(call):
            detail = f"the page stopped waiting for {join_commits(self._held).address}, so it was not sent"
            self._held_call, self._held = None, ()
            return Outcome(status="no_effect", reason="transient", detail=detail, evidence="rule")
        own = () if call.allowed else self.find_held(call)
        return Outcome(status="no_effect", reason=WOULD_SEND, detail=_describe_held(own)) if own else None

    @contextmanager
    def expect(self, call: Call) -> Generator[None]:
        """While this context is open, an allowed call may send exactly what was read for it."""
        expected = self._find_expected(call)
        if expected is None:
            yield
        else:
            with self.outbox.expect(expected):
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
        return outcome if outcome.reason == WOULD_SEND else replace(outcome, dropped=self.outbox.take_dropped())

    def _judge_act(self, call: Call, outcome: Outcome, *, sends: bool) -> Outcome:
        self.outbox.end_act()
        held = tuple(each for each in self.outbox.waiting if each not in self._kept)
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
            return self._add_refusals(outcome) if self.outbox.has_refused_navigation else outcome
        if held and call.skill != SEND:
            # Requests that a script sends by itself meanwhile count as those of the call, so its approval must show them, too.
            self._held_call, self._held = identify_call(call), held
            return Outcome(status="no_effect", reason=WOULD_SEND, detail=_describe_held(self._held))
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
        self._held_call, self._held = identify_call(call), redirects
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


def _describe_held(held: tuple[OutgoingRequest, ...]) -> str:
    return f"it would send {join_commits(held).address}, which needs approval first"
