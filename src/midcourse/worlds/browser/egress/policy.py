"""The policy file: which origins a browser may reach, and what is known about them. All others are refused.

    ["https://shop.example"]
    safe = ["POST /draft*"]            # may leave without approval: it only saves a draft
    unsafe = ["GET /delete*"]          # needs approval, although it is only a GET
    navigate = ["/orders/*"]           # a planner may go here by itself
    secrets = ["shop_password"]        # may be typed into this origin's fields

    [["https://shop.example".evidence]]
    request = "POST /orders"           # this answer proves that nothing was stored
    status = 422
    text = "field-error"

Servers read paths differently. A path is therefore matched as it is written and decoded once or more, each time without what
follows a semicolon and with its dots resolved. `safe` must match all of these readings, `unsafe` only one.
"""

import json
import posixpath
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as validated

from midcourse.errors import TaskInvalid
from midcourse.worlds.browser.egress.address import Address, AddressRefused, find_reach, parse

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
SOCKET = "WS"
"""The method in the policy file for a message that a page sends through a WebSocket."""
MAX_DECODED = 3
"""How often a path may be decoded: once by a proxy, once by a server, and once more, wrongly, by an application."""
ANYWHERE = ("http", "https", "ws", "wss")
PUBLIC = "public"
"""The operator's policy that allows every origin except private networks and this machine."""
_AS_PAGES = {"ws": "http", "wss": "https"}
_WRITTEN_AS = "an origin is scheme, host and port, such as https://shop.example or http://127.0.0.1:8000"


@dataclass(frozen=True)
class RequestPattern:
    """A pattern such as 'POST /draft*': a method or `*`, and a path in which `*` stands for any characters, slashes too."""

    method: str
    path: str

    @classmethod
    @lru_cache(maxsize=1024)
    def parse(cls, written: str) -> "RequestPattern":
        method, _, path = written.partition(" ")
        if not re.fullmatch(r"[A-Z]+|\*", method) or not path.startswith(("/", "*")):
            raise ValueError(f"'{written}' is not a request; write a method and a path, such as 'POST /draft*'")
        return cls(method, path)

    def matches_any_reading(self, method: str, path: str) -> bool:
        """Whether at least one way in which a server may read the request matches.

        Many servers handle HEAD like GET, and ignore a slash at the end or an unknown query.
        """
        methods = ("*", method, "GET") if method == "HEAD" else ("*", method)
        ways = {way.lower() for each in _readings(path) for way in (each, each.partition("?")[0].rstrip("/") or "/")}
        return self.method in methods and any(map(_compile_glob(self.path.lower()).fullmatch, ways))

    def matches_every_reading(self, method: str, path: str) -> bool:
        """Whether every way in which a server may read the request matches."""
        return self.method in ("*", method) and all(map(_compile_glob(self.path).fullmatch, _readings(path)))


@lru_cache(maxsize=1024)
def _compile_glob(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


@lru_cache(maxsize=128)
def _readings(path: str) -> tuple[str, ...]:
    """Return all readings of a path: as written, decoded once or more, and each time as servers resolve it.

    An encoded question mark begins a query for some servers only, so both readings are included.
    """
    bare, mark, query = path.partition("?")
    found: dict[str, None] = {}
    for _ in range(1 + MAX_DECODED):
        sooner, early, rest = path.partition("?")
        found |= dict.fromkeys((path, _resolve_dots(bare) + mark + query, _resolve_dots(sooner) + early + rest))
        path, bare, query = unquote(path), unquote(bare), unquote(query)
    return tuple(found)


def _resolve_dots(bare: str) -> str:
    """Return the path without parameters, dots and doubled slashes."""
    plain = re.sub(r";[^/]*", "", bare.replace("\\", "/"))
    resolved = posixpath.normpath("/" + plain.lstrip("/"))
    return resolved + "/" if plain.endswith("/") and resolved != "/" else resolved


@validated(frozen=True, kw_only=True, config=ConfigDict(extra="forbid", strict=True))
class EvidenceRule:
    """Describes a response that proves that nothing was stored."""

    request: str
    status: int | tuple[int, ...]
    text: str = ""
    """A text that the response must contain."""

    def __post_init__(self) -> None:
        RequestPattern.parse(self.request)
        if not self.text and not all(400 <= status < 500 for status in self.statuses):
            raise ValueError(
                "only a status from 400 to 499 can prove it alone; add the text that the response contains"
            )

    @property
    def statuses(self) -> tuple[int, ...]:
        return (self.status,) if isinstance(self.status, int) else self.status

    def fits(self, method: str, path: str, status: int, body: str) -> bool:
        return (
            status in self.statuses
            and self.text in body
            and RequestPattern.parse(self.request).matches_every_reading(method, path)
        )


@validated(frozen=True, kw_only=True, config=ConfigDict(extra="forbid", strict=True))
class OriginRules:
    """What the policy file says about one origin."""

    allowed: bool = True
    private: bool = False
    """Whether the origin may be on this machine or in a private network."""
    safe: tuple[str, ...] = ()
    unsafe: tuple[str, ...] = ()
    navigate: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    evidence: tuple[EvidenceRule, ...] = ()

    def __post_init__(self) -> None:
        for written in (*self.safe, *self.unsafe):
            RequestPattern.parse(written)
        for path in self.navigate:
            if not path.startswith("/"):
                raise ValueError(f"'{path}' is not a path; one to navigate to begins with a slash")


class Origins:
    """The policy of one browser: the rules of the policy file, and the origin at which it starts."""

    def __init__(self, named: Mapping[str, OriginRules]) -> None:
        self.named = dict(named)

    def find_rules(self, address: Address) -> OriginRules | None:
        """Return the rules for the origin of an address, or None if it may not be reached. A WebSocket belongs to the origin of its pages."""
        scheme = _AS_PAGES.get(address.scheme, address.scheme)
        origin = Address(scheme=scheme, host=address.host, port=address.port, rest="").origin
        found = self.named.get(origin) or self._find_wildcard_rules(origin)
        return found if found is not None and found.allowed else None

    def check(self, url: str, schemes: Sequence[str] = ANYWHERE) -> tuple[Address, OriginRules]:
        """Return the address and the rules of its origin. Raise `AddressRefused` if the policy does not allow it."""
        address = parse(url, schemes)
        origin = self.find_rules(address)
        if origin is None:
            raise AddressRefused(f"{address.origin} is not in the policy file, so it cannot be reached")
        return address, origin

    def refuses(self, url: str) -> bool:
        """Whether a URL is a page of an origin that may not be reached."""
        if not url.startswith(("http:", "https:")):
            return False
        try:
            self.check(url)
        except AddressRefused:
            return True
        return False

    def _find_wildcard_rules(self, origin: str) -> OriginRules | None:
        """Return the rules of the nearest wildcard (`*.`) above an origin."""
        scheme, _, rest = origin.partition("://")
        while "." in rest:
            rest = rest.partition(".")[2]
            if found := self.named.get(f"{scheme}://*.{rest}"):
                return found
        return None

    def is_safe(self, method: str, url: str) -> bool:
        """Whether a request may leave without approval. A request that is declared unsafe never may."""
        try:
            address, origin = self.check(url)
        except AddressRefused:
            return False
        if self.is_declared_unsafe(method, url):
            return False
        safe = any(RequestPattern.parse(written).matches_every_reading(method, address.path) for written in origin.safe)
        return safe or method in SAFE_METHODS

    def is_declared_unsafe(self, method: str, url: str) -> bool:
        """Whether the policy requires approval for a request even if its method is safe."""
        address, origin = self.check(url)
        return any(RequestPattern.parse(written).matches_any_reading(method, address.path) for written in origin.unsafe)

    def find_disproof(self, method: str, url: str, status: int, body: str) -> str:
        """Describe the rule by which this response proves that nothing was stored. Return an empty string if there is none."""
        address, origin = self.check(url)
        for rule in origin.evidence:
            if rule.fits(method, address.path, status, body):
                text = f" and '{rule.text}'" if rule.text else ""
                return f"{address.origin} responds with {status}{text} to {rule.request} if nothing was stored"
        return ""

    def allows_secret(self, name: str, url: str) -> bool:
        try:
            return name in self.check(url)[1].secrets
        except AddressRefused:
            return False

    @property
    def vouched_patterns(self) -> tuple[str, ...]:
        """URL patterns, with `*`, of the pages to which a planner may navigate by itself."""
        return tuple(
            name + path
            for name, origin in self.named.items()
            if origin.allowed and "*" not in name
            for path in origin.navigate
        )


# --- reading


def read_origins(policy: str | Path | Mapping[str, object] | None, start: str) -> Origins:
    """Read a policy from a file or a mapping of the same form. The start's origin is allowed unless the policy forbids it."""
    try:
        begin = parse(start)
    except AddressRefused as refused:
        raise TaskInvalid(f"the start URL: {refused}") from None
    return Origins({begin.origin: OriginRules(private=_is_local(begin)), **read_policy(policy).named})


def read_policy(policy: str | Path | Mapping[str, object] | None) -> Origins:
    """Read a policy of the origins that it names, without a start."""
    file = str(policy) if isinstance(policy, str | Path) else "origins"
    named: dict[str, OriginRules] = {}
    for written, rules in read_policy_tables(policy).items():
        name, address = _read_origin_name(written, file)
        if isinstance(rules, Mapping):
            rules = {"private": _is_local(address), **cast(Mapping[str, object], rules)}
        try:
            named[name] = TypeAdapter(OriginRules).validate_json(json.dumps(rules, default=str))
        except ValidationError as invalid:
            raise TaskInvalid(f"{file}: '{written}': {_describe_invalid(invalid)}") from None
    return Origins(named)


def _is_local(address: Address) -> bool:
    """Whether the host is written as an address of this machine or of a private network. A name needs `private = true` instead."""
    if address.host == "localhost" or address.host.endswith(".localhost"):
        return True
    return address.ip is not None and find_reach(address.ip) in ("loopback", "private")


def read_policy_tables(policy: str | Path | Mapping[str, object] | None) -> Mapping[str, object]:
    """Return the tables of a policy without checking them. Raise `TaskInvalid` for a file that cannot be read."""
    if policy is None or isinstance(policy, Mapping):
        return policy or {}
    try:
        return tomllib.loads(Path(policy).read_text(encoding="utf-8"))
    except OSError as error:
        raise TaskInvalid(f"{policy}: cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TaskInvalid(f"{policy}: is not TOML: {error}") from None
    except ValueError as error:  # the file name contains a null character
        raise TaskInvalid(f"{policy}: cannot be read: {error}") from None


def _read_origin_name(written: str, file: str) -> tuple[str, Address]:
    """Parse the name of an origin and return it with its address. A leading `*.` stands for every host below."""
    scheme, _, host = written.partition("://*.")
    try:
        address = parse(f"{scheme}://{host}" if host else written)
    except AddressRefused as refused:
        raise TaskInvalid(f"{file}: '{written}': {refused}; {_WRITTEN_AS}") from None
    if address.rest != "/" or written.endswith("/"):
        raise TaskInvalid(f"{file}: '{written}' has a path; {_WRITTEN_AS}")
    # Anyone can register names below a public suffix, such as com, co.uk or github.io.
    if host and (address.ip is not None or _public_suffixes().is_public(address.host)):
        detail = f"a wildcard must be below a registered name, and anyone can register a name below '{host}'"
        raise TaskInvalid(f"{file}: '{written}' is too wide; {detail}")
    return address.origin.replace("://", "://*.", 1) if host else address.origin, address


@cache
def _public_suffixes() -> "PublicSuffixList":
    """Load the list that the package contains. This is slow, so it is done for the first wildcard only."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


_KEYS = tuple({**OriginRules.__dataclass_fields__, **EvidenceRule.__dataclass_fields__})
_WANTED = {
    "bool_type": "must be true or false",
    "dataclass_type": "must be a table",
    "int_type": "must be a whole number",
    "missing": "is missing",
    "string_type": "must be text in quotes",
    "tuple_type": "must be a list",
}


def _describe_invalid(invalid: ValidationError) -> str:
    error = invalid.errors(include_url=False)[0]
    where = ".".join(str(part) for part in error["loc"] if not str(part).startswith(("tuple[", "int")))
    lead = f"{where}: " if where else ""
    match error["type"]:
        case "unexpected_keyword_argument":
            near = get_close_matches(str(error["loc"][-1]), _KEYS, n=1)
            return f"{lead}no such key; " + (f"did you mean '{near[0]}'?" if near else f"there are {', '.join(_KEYS)}")
        case "value_error":
            return lead + error["msg"].removeprefix("Value error, ")
        case kind:
            return lead + _WANTED.get(kind, error["msg"])


# --- the operator's policy around a task's: a task can narrow which origins a browser may reach, never widen it


class RestrictedOrigins(Origins):
    """The policy of a task within that of the operator: both must allow an origin, and only a request that is safe by both needs no approval."""

    def __init__(self, own: Origins, bound: Origins) -> None:
        super().__init__(own.named)
        self._bound = bound

    def find_rules(self, address: Address) -> OriginRules | None:
        found, bound = super().find_rules(address), self._bound.find_rules(address)
        if found is None or bound is None:
            return None
        return replace(found, private=False) if found.private and not bound.private else found

    def is_safe(self, method: str, url: str) -> bool:
        return super().is_safe(method, url) and self._bound.is_safe(method, url)


class _AnyPublicOrigin(Origins):
    """A policy that allows every origin outside private networks, and lets the task's policy decide what is safe."""

    def find_rules(self, address: Address) -> OriginRules | None:
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
        allowed = bound.find_rules(address)
        if allowed is None:
            raise TaskInvalid(f"{name} is not in the policy of this world host")
        near = origin.private or (address.ip is not None and find_reach(address.ip) != "public")
        if near and not allowed.private:
            raise TaskInvalid(f"{name} is in a private network, which the policy of this world host does not allow")
    return RestrictedOrigins(own, bound)


def read_allowed_origins(
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
