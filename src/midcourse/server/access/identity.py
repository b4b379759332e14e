"""Callers: who sends a request, for which tenant, and what their role allows.

A caller has a name, which people read, and an identity, which is compared. The identity begins with the means of signing in, so
that a user `root` of an identity provider, a user `root` of a proxy, a key `root` and the account `root` are four identities.
"""

import unicodedata
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


LONGEST_NAME = 100


class NotSignedIn(Exception):
    """A sign-in through a provider or proxy failed; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Caller:
    name: str
    id: str
    """What identifies the person, whatever the name, and at whichever entrance of the server: it never changes."""
    tenant: str
    role: Role
    means: Means = "token"

    def may(self, right: Right) -> bool:
        return right in RIGHTS[self.role]


def check_name(name: str) -> str:
    """The name of a user as a provider or proxy gives it, without the spaces around it.

    Raises `NotSignedIn` for a name that a terminal or a page would not show as it is: escape sequences, characters that are
    invisible or change the direction of text, and texts that are too long to be read.
    """
    name = unicodedata.normalize("NFC", name).strip()
    if not name:
        raise NotSignedIn("the name of the user is empty")
    if len(name) > LONGEST_NAME:
        raise NotSignedIn(f"the name of the user is longer than {LONGEST_NAME} characters")
    for char in name:
        kind = unicodedata.category(char)
        if kind[0] == "C" or (kind[0] == "Z" and char != " "):
            raise NotSignedIn(f"the name of the user contains U+{ord(char):04X}, which is not visible")
    return name
