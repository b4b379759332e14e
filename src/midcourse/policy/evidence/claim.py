"""Whether anything supports, or contradicts, that a task is done. A planner's word alone is a claim."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from midcourse.domain.argument import Scalar
from midcourse.domain.moves import FinalReason
from midcourse.domain.observation import Observation
from midcourse.domain.outcome import ELSEWHERE, REFUSED_BY_SERVER, SIGN_INS, UNASKED, Evidence, Outcome
from midcourse.domain.records.summary import SUCCESSES, Sending
from midcourse.domain.replace import replace
from midcourse.policy.evidence.presence import consists_of, is_shown


@dataclass(frozen=True, kw_only=True)
class SentAct:
    """An act that was dispatched, in the order of the ledger."""

    outcome: Outcome
    irreversible: bool
    likeness: str = ""
    """Acts of equal likeness may be the same effect."""
    found: bool = False
    """Whether a probe found its effect, and counts as a check of the goal."""
    what: str = ""

    @property
    def is_sign_in(self) -> bool:
        return self.outcome.reason in SIGN_INS

    @property
    def is_doubtful(self) -> bool:
        return self.outcome.status == "unknown" and self.outcome.reason not in UNASKED

    @property
    def may_have_happened(self) -> bool:
        return self.outcome.status == "ok" or self.is_doubtful


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What is known at the end of a run about its claim that the task is done."""

    verified: bool = False
    contradiction: str = ""
    """What contradicts it, in words; empty if nothing does."""
    sending: Sending = "nothing"
    shown_by: Evidence | None = None
    """What showed that the last irreversible effect happened. None: there was none, or it is in doubt."""


def judge_claim(
    reason: FinalReason, acts: Sequence[SentAct], *, checked: bool, sends: bool, one_call: bool = False
) -> Claim:
    """Judge how a run has ended. `checked`: its `done_when` was met. `one_call`: it is one call of a function, which has returned."""
    effects = [act for act in acts if not act.is_sign_in]
    sent = [act for act in acts if not act.outcome.claimed]  # of the others, the world says that it sent nothing
    sending: Sending = "nothing" if not sent else "sign_in" if all(act.is_sign_in for act in sent) else "effects"
    if reason not in SUCCESSES:
        return Claim(sending=sending)
    contradiction = _find_unsent(effects) if sends else ""
    if not (contradiction or checked):
        contradiction = _find_undone(effects)
    verified = not contradiction and (checked or _is_found(effects))
    sending = "call" if one_call else sending
    shown_by = None if contradiction else _find_support(effects)
    return Claim(verified=verified, contradiction=contradiction, sending=sending, shown_by=shown_by)


def _is_found(effects: Sequence[SentAct]) -> bool:
    """Whether a probe found the last irreversible effect, to which those before it led, and nothing is in doubt.

    What only a model has seen, or what led elsewhere, is in doubt here: it may be an effect of its own, and not one that led to the last.
    """
    irreversible = [act for act in effects if act.irreversible]
    doubtful = any(
        act.is_doubtful or act.outcome.evidence == "model" or act.outcome.reason == ELSEWHERE for act in irreversible
    )
    return bool(irreversible) and irreversible[-1].found and not doubtful


def _find_support(effects: Sequence[SentAct]) -> Evidence | None:
    """What showed that the last irreversible effect happened, if none may have happened without it."""
    happened = [act for act in effects if act.irreversible and act.may_have_happened]
    in_doubt = any(act.is_doubtful for act in happened)
    return happened[-1].outcome.evidence if happened and not in_doubt else None


def _find_unsent(effects: Sequence[SentAct]) -> str:
    if any(act.may_have_happened for act in effects):
        return ""
    sent = any(not act.outcome.claimed for act in effects)
    return f"the task must send something, and {'nothing that was sent took effect' if sent else 'nothing was sent'}"


def _find_undone(effects: Sequence[SentAct]) -> str:
    """That the last irreversible act did not happen, unless it repeats one that may have: then its refusal means nothing."""
    irreversible = [act for act in effects if act.irreversible]
    if not irreversible or irreversible[-1].may_have_happened:
        return ""
    last = irreversible[-1]
    if any(act.may_have_happened for act in irreversible if last.likeness and act.likeness == last.likeness):
        return ""
    why = f" ({last.outcome.detail})" if last.outcome.detail else ""
    if last.outcome.claimed:
        return f"the last step that cannot be undone, {last.what}, was not sent{why}"
    fate = "was refused by the server" if last.outcome.reason == REFUSED_BY_SERVER else "did not happen"
    return f"what was sent last, {last.what}, {fate}{why}"


def _take_out(entered: Iterable[Scalar], value: Scalar) -> Scalar:
    """The state without what was entered."""
    texts = sorted((text.strip() for text in entered if isinstance(text, str) and text.strip()), key=len, reverse=True)
    for text in texts if isinstance(value, str) else ():
        value = str(value).replace(text, "\n")
    return None if value in entered else value


@dataclass(frozen=True, kw_only=True)
class Request:
    """What an irreversible act that was no sign-in sent, and the screen before it."""

    values: tuple[Scalar, ...]
    before: Observation | None


def was_brought_by(text: str, requests: Iterable[Request], entered: frozenset[Scalar]) -> bool:
    """Whether one of the requests brought this text into the world: it was sent, and not shown before.

    A model can name a text for its probe that is there in any case. What a field showed because the run had `entered` it does not count,
    alone or added to what was there.
    """
    if consists_of(text, ()):  # it has no words
        return False
    for request in requests:
        if request.before is None or not consists_of(text, request.values):
            continue
        zones = (
            replace(zone, state=tuple((name, _take_out(entered, value)) for name, value in zone.state))
            for zone in request.before.zones
        )
        if not is_shown(text, (replace(request.before, zones=tuple(zones)),)):
            return True
    return False
