"""Callers: who sends a request, for which tenant, and what their role allows."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["viewer", "operator", "approver", "admin"]
Right: TypeAlias = Literal["read", "operate", "decide", "administer"]
Means: TypeAlias = Literal["token", "key", "session", "proxy"]

RIGHTS: dict[Role, tuple[Right, ...]] = {
    "viewer": ("read",),
    "operator": ("read", "operate"),
    "approver": ("read", "decide"),
    "admin": ("read", "operate", "decide", "administer"),
}
"""What each role may do. Operators start and control runs, approvers decide their questions; only administrators may do both."""


class NotSignedIn(Exception):
    """A sign-in through a provider failed; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Caller:
    name: str
    tenant: str
    role: Role
    means: Means = "token"

    def may(self, right: Right) -> bool:
        return right in RIGHTS[self.role]
