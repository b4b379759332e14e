"""Six kinds of failure in eight variants each: the reported message and the real cause.

Some variants reveal their kind by the reason, some by their words, some not at all, and some mislead. Half of them are met while
learning; the others show how it fares with what it has never seen.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["transient", "recoverable", "under_specified", "structural", "transport", "permission"]
KINDS: tuple[Kind, ...] = ("transient", "recoverable", "under_specified", "structural", "transport", "permission")

STATIONS = ("Lathe", "Mill", "Drill", "Press", "Oven", "Saw")

Cure = Literal["wait", "tool", "key", "sign_in", "nothing"]
"""What helps: time, another tool, the key that the message names, signing in, or nothing at all."""


@dataclass(frozen=True)
class Variant:
    kind: Kind
    number: int
    reason: str
    message: str
    cure: Cure

    @property
    def station(self) -> str:
        return STATIONS[(self.number + KINDS.index(self.kind)) % len(STATIONS)]

    @property
    def seen(self) -> bool:
        """Whether it is met while learning."""
        return self.number in (0, 1, 4, 5)


def _variants(kind: Kind, cure: Cure, *said: tuple[str, str] | tuple[str, str, Cure]) -> tuple[Variant, ...]:
    return tuple(
        Variant(kind, number, one[0], one[1], one[2] if len(one) == 3 else cure) for number, one in enumerate(said)
    )


VARIANTS: tuple[Variant, ...] = (
    *_variants(
        "transient",
        "wait",
        ("busy", "{station} is busy with order {n}"),
        ("timeout", "no answer within {n} s"),
        ("grasp_slipped", "the part slid out of the clamp at {n} N"),
        ("error", "HTTP 503 Service Unavailable (request {id})"),
        ("locked", "record {id} is locked by operator {n}"),
        ("rate_limited", "429 Too Many Requests, limit {n}"),
        ("E0417", "operation failed (0x{id})"),
        ("error", "deadlock detected, transaction {id} rolled back"),
    ),
    *_variants(
        "recoverable",
        "tool",
        ("object_not_found", "no tool '{tool}' in the magazine"),
        ("wrong_target", "'{tool}' does not fit this clamp"),
        ("expectation_unmet", "expected the part to be finished; it is at {n} %"),
        ("tool_broken", "the spindle reports {n} % wear for '{tool}'"),
        ("error", "KeyError: '{tool}'"),
        ("disabled", "'{tool}' is greyed out"),
        ("timeout", "'{tool}' did not reach its speed within {n} s"),
        ("rejected", "the controller turned '{tool}' down (rule {n})"),
    ),
    *_variants(
        "under_specified",
        "key",
        ("bad_arguments", "give key={key}"),
        ("invalid_input", "validation failed: key={key} expected"),
        ("error", "ValueError: order {n} needs key={key}"),
        ("missing_parameter", "this job cannot start without key={key}"),
        ("bad_arguments", "argument missing, such as key={key}"),
        ("error", "TypeError: start() missing 1 required argument: key={key}"),
        ("interlock", "enter key={key} to release the interlock"),
        ("rejected", "form incomplete (field {n}): key={key}"),
    ),
    *_variants(
        "structural",
        "nothing",
        ("unreachable", "IK did not converge in 400 iters (pos_err=0.{n}m > tol=0.001m)"),
        ("not_permitted", "axis {n} is locked out by the safety controller"),
        ("unreachable", "the part lies {n} mm beyond the travel of this axis"),
        ("error", "the spindle has no power (breaker F{n})"),
        ("out_of_stock", "material lot {id} is used up"),
        ("failed", "the enclosure is dismantled until week {n}"),
        ("impossible", "no tool of this cell can cut {n} mm of steel"),
        ("licence_expired", "licence {id} has run out"),
    ),
    *_variants(
        "transport",
        "wait",
        ("network", "connection reset by peer (port {n})"),
        ("error", "ConnectionResetError: [Errno 104] Connection reset by peer"),
        ("connection_lost", "the line to {station} dropped after {n} ms"),
        ("error", "could not resolve host cell-{n}.local"),
        ("error", "502 Bad Gateway (request {id})"),
        ("error", "SSLError: EOF occurred in violation of protocol"),
        ("timeout", "gateway timeout after {n} s"),
        ("error", "name or service not known: plc-{n}"),
    ),
    *_variants(
        "permission",
        "tool",
        ("permission", "Permission denied: cannot start '{tool}'"),
        ("error", "PermissionError: [Errno 13] Permission denied: '/dev/{tool}'"),
        ("forbidden", "403 Forbidden for operator {n}; sign in", "sign_in"),
        ("access_denied", "access denied by role policy {id}", "nothing"),
        ("permission", "operator {n} may not use '{tool}'"),
        ("error", "operation not permitted on job {n}", "nothing"),
        ("unauthorized", "401 Unauthorized, session {id} is over: sign in", "sign_in"),
        ("refused", "badge {n} was refused at '{tool}'"),
    ),
)
