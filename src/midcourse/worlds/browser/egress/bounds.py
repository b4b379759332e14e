"""The operator's policy around a task's policy: a task can narrow which origins a browser may reach, never widen it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from midcourse.errors import TaskInvalid
from midcourse.worlds.browser.egress.address import Address, parse, reach_of
from midcourse.worlds.browser.egress.policy import OriginRules, Origins, read_origins, read_policy

PUBLIC = "public"
"""The operator's policy that allows every origin except private networks and this machine."""


class RestrictedOrigins(Origins):
    """The policy of a task within that of the operator: both must allow an origin, and only a request that is safe by both needs no approval."""

    def __init__(self, own: Origins, bound: Origins) -> None:
        super().__init__(own.named)
        self._bound = bound

    def rules_for(self, address: Address) -> OriginRules | None:
        found, bound = super().rules_for(address), self._bound.rules_for(address)
        if found is None or bound is None:
            return None
        return replace(found, private=False) if found.private and not bound.private else found

    def is_safe(self, method: str, url: str) -> bool:
        return super().is_safe(method, url) and self._bound.is_safe(method, url)


class _AnyPublicOrigin(Origins):
    """A policy that allows every origin outside private networks, and lets the task's policy decide what is safe."""

    def rules_for(self, address: Address) -> OriginRules | None:
        return OriginRules()

    def is_safe(self, method: str, url: str) -> bool:
        return True


def restrict_to(own: Origins, within: str | Path | Mapping[str, object]) -> Origins:
    """Restrict the task's policy by the operator's. Raise `TaskInvalid` if it names an origin that the operator's does not allow.

    Origins that match a wildcard are checked with each request instead.
    """
    bound = _AnyPublicOrigin({}) if within == PUBLIC else read_policy(within)
    for name, origin in own.named.items():
        if "*" in name or not origin.allowed:
            continue
        address = parse(name)
        allowed = bound.rules_for(address)
        if allowed is None:
            raise TaskInvalid(f"{name} is not in the policy of this world host")
        near = origin.private or (address.ip is not None and reach_of(address.ip) != "public")
        if near and not allowed.private:
            raise TaskInvalid(f"{name} is in a private network, which the policy of this world host does not allow")
    return RestrictedOrigins(own, bound)


def allowed_origins(
    start: str, origins: str | Mapping[str, object] | None, within: str | Mapping[str, object] | None
) -> Origins:
    """Return the policy of a session: the task's, restricted by the operator's if there is one. Raise `TaskInvalid` if they are not valid."""
    if within is None:
        return read_origins(origins, start)
    if isinstance(origins, str):  # otherwise a task could read any file of the host
        raise TaskInvalid(
            "origins: must be a table, not a file name, because the world host sets a policy for this browser"
        )
    return restrict_to(read_origins(origins, start), within)
