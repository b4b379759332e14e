"""Kinds of requests, by which those that a page sends beside what the run does are told from those that a plan needs."""

import re

from midcourse.domain.approval import CommitSet

_VARIES = re.compile(r"\d+|[0-9a-f]{8,}|[0-9a-f-]{36}", re.IGNORECASE)
_NUMBERED = re.compile(r"^(\d+): ")
_OPERATIONS = frozenset({"action", "cmd", "command", "method", "op", "operation", "operationname"})
"""Names of values that say what a request does, where all requests go to one address."""

NOT_FOR_SENDING = frozenset({"close_tab", "go_back", "hover", "navigate", "scroll", "switch_tab", "type"})
"""Skills that go somewhere, read, or fill in a field. What a page would send beside them is its own business, so their plan goes on."""


def list_kinds(commit: CommitSet) -> tuple[str, ...]:
    """List what kinds of requests it would send: method, origin and path without ids, and the name of the operation if there is one.

    Two layouts of a page that are stored at the same address are of one kind, and two calls of GraphQL with different names are not.
    """
    addresses = commit.address.split(" and ")  # an address has no spaces
    kinds: list[str] = []
    for number, address in enumerate(addresses, start=1):
        place, _, query = address.partition("?")
        method, _, url = place.partition(" ")
        origin, slash, path = url[8:].partition("/")  # behind the scheme
        values = [(name, value) for name, _, value in (pair.partition("=") for pair in query.split("&"))]
        for name, value in commit.values:
            of = _NUMBERED.match(name)
            if len(addresses) == 1 or (of and int(of[1]) == number):
                values.append((_NUMBERED.sub("", name), str(value)))
        words = {(name.strip("?_").casefold(), value[:100]) for name, value in values}
        does = sorted(f"{name}={value}" for name, value in words if name in _OPERATIONS)
        kinds.append(" ".join((f"{method} {url[:8]}{origin}{generalize_path(slash + path)}", *does)))
    return tuple(dict.fromkeys(kinds))


def generalize_path(path: str) -> str:
    """Return the path with ids and queries replaced by `*`: '/orders/17?page=2' becomes '/orders/*'."""
    bare, mark, _ = path.partition("?")
    parts = ["*" if _VARIES.fullmatch(part) else part for part in bare.split("/")]
    return "/".join(parts).replace("/*/*", "/*") + ("*" if mark and not parts[-1].endswith("*") else "")
