"""Outcomes of steps, and completed steps."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from midcourse.domain.argument import Arguments, Scalar
from midcourse.domain.fields import NONE, Named, keep_named, stored_if_set

Status: TypeAlias = Literal["ok", "failed", "no_effect", "unreachable", "unknown"]
Evidence: TypeAlias = Literal[
    "", "expectation", "absent_when", "probe", "rule", "response", "not_dispatched", "person", "model"
]
"""The evidence for an outcome; empty is the world's report alone, which is not enough for an irreversible step. A `rule` is
declared by a policy for this origin, or by the world itself (`Outcome.claimed`): such an answer means that nothing was stored. A
`response` is a successful answer that led to another page: the run may continue without repeating the step, but it does not verify
the goal. `model`: a model says that the effect is to be seen, and the words that it quotes are on the screen and were not before the
act. That is weaker than all others: it never says that nothing happened, and verifies nothing."""
ANSWERED_WITH_ERROR = "answered_with_error"
"""A reason: the server answered a request of the act with an error status. No model's opinion counts then: the page may say anything."""
REFUSED_BY_SERVER = "refused_by_server"
"""A reason for an unknown outcome: the server says that it did not carry out the request. The run plans on without asking a person.
Servers err, so another request that resembles this one is still treated as its repetition."""
SIGN_IN_REFUSED = "sign_in_refused"
"""The same for a sign-in that led to the same sign-in again: a wrong password, or a session that was lost at once. So it may be tried
again with the same values, which other refused requests may not."""
ACCEPTED_BY_SERVER = "accepted_by_server"
"""A reason for an unknown outcome: the server accepted the request, but what the step expected is not there. That a probe does not find
the effect then proves nothing, because it may look for something else than what was sent."""
SIGNED_IN = "signed_in"
"""A reason of a sign-in that the server accepted. If what the step expected is not there, the outcome is unknown, and the run plans on
without asking a person: a sign-in often leads on to the page that asked for it, and not to where a planner expects."""
ELSEWHERE = "led_elsewhere"
"""A reason of a step that was carried out although what it expected is not there: the screen shows something else, which a planner that
named it beforehand may not have known. The run plans on. Of an act that cannot be undone, the server's answer says that it accepted it."""
UPLOADED = "uploaded"
"""A reason by which a world says that the server has accepted the file of an upload, or that the rest of the upload waits. Its page stays as
it is, so no other screen has to come. It is in no ledger: what was expected is there, or it led elsewhere, or it is in doubt."""
ALREADY_DONE = "already_done"
"""A reason of a successful outcome: nothing was sent now, because an earlier call under the same key had this effect."""
DISPUTED = "disputed"
"""A reason: the world said that nothing was sent, and the screen or a probe says otherwise."""
OTHER_SCREEN = "other_screen"
"""A reason: the screen or the zone that the step was planned for, unseen, is not what came. Nothing was tried; the run plans on."""
SIGN_INS = frozenset({SIGN_IN_REFUSED, SIGNED_IN})
"""Reasons of sign-ins."""
REPEATABLE = SIGN_INS | {ELSEWHERE}
"""Reasons of acts that may be sent again with the same values after a question: the screen may show that they have come to nothing."""
REFUSALS = frozenset({REFUSED_BY_SERVER, SIGN_IN_REFUSED})
UNASKED = REFUSALS | SIGN_INS
"""Reasons for an unknown outcome after which the run plans on, and no person is asked."""


LONGEST_VALUE = 200_000
"""Characters of a value that a step returned. A page may be of any length, and the ledger has all results of a run."""
_KEPT = LONGEST_VALUE - 100


def cut_value(text: str, of: str = "") -> str:
    """The text, cut to `LONGEST_VALUE` characters, the last of which say so. `of`: how much there was, if some was cut off before."""
    if len(text) <= LONGEST_VALUE and not of:
        return text
    return f"{text[:_KEPT]}\n… cut here: {min(len(text), _KEPT)} characters of {of or f'{len(text)} characters'}"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A status, a slug that a program can act on, and a sentence for people and planners."""

    status: Status = "ok"
    reason: str = ""
    detail: str = ""
    data: Named[Scalar] = NONE
    """Values that a reading skill returned."""
    evidence: Evidence = ""
    dropped: tuple[str, ...] = ()
    """What the application wanted to send by itself and was not allowed to, a sentence for each. This act did not need it."""
    claimed: bool = False
    """Whether only the world itself says that nothing was sent. This counts unless the screen or a probe says otherwise."""
    unsent: Annotated[tuple[str, ...], stored_if_set()] = ()
    """The kinds of requests (`policy.unsent`) that scripts of the application wanted to send because of this act, and which wait."""

    def __post_init__(self) -> None:
        keep_named(self, "data")


@dataclass(frozen=True, kw_only=True)
class CompletedStep:
    """A step that was carried out. `doubtful`: it could not be determined whether it happened."""

    version: int
    index: int
    skill: str
    target: str
    says: str
    arguments: Arguments = ()
    irreversible: bool = False
    doubtful: bool = False
    evidence: Evidence = ""
    """What showed that it happened."""
    result_name: str = ""
    """The name under which its result is kept, if the plan gave it one."""
    unsent: Annotated[bool, stored_if_set()] = False
    """Whether something that it would have sent was left waiting."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a planner is shown of the results, one for each that a step returned and each step that shows more of one."""

    name: str
    """The name by which arguments refer to the result."""
    value: Scalar
    start: int = 0
    """The first character that is shown: `read_more` goes on where an earlier plan was shown the end."""
