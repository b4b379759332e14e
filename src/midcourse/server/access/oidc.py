"""Sign-in through an OpenID Connect provider: authorization code with PKCE, state bound to the browser, verified ID token.

The file of `midcourse serve --oidc`:

    issuer = "https://login.example.org"
    client_id = "midcourse"
    client_secret_file = "oidc.secret"          # or client_secret_variable = "OIDC_SECRET"
    role_claim = "groups"
    roles = { midcourse-admins = "admin", buyers = "approver" }
"""

import hmac
import ipaddress
import os
import time
import tomllib
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2 as httpx
from authlib.integrations.httpx_client import AsyncOAuth2Client, OAuthError
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from pydantic import BaseModel, ConfigDict, ValidationError

from midcourse.errors import TaskInvalid
from midcourse.server.access.identity import Caller, NotSignedIn, Role, check_name
from midcourse.server.access.keys import digest_of, new_secret

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Accepted signatures: only those with public keys, neither `none` nor a shared secret."""
LOGIN_SECONDS = 600.0
"""Seconds within which a sign-in must be finished."""
MOST_LOGINS = 1000
FRESH = 3600.0
"""Seconds for which the provider's own description is cached."""
LEEWAY = 60
"""Seconds by which clocks may differ."""
TIMEOUT = 15.0
LONGEST_SUBJECT = 255
"""The specification of OpenID Connect allows no longer `sub`."""


class OidcFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    issuer: str
    client_id: str
    client_secret_file: str = ""
    client_secret_variable: str = ""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    name_claim: str = "email"
    """The claim with the name of the user, as decisions show it. What identifies the user is always `sub`."""
    role_claim: str = "groups"
    roles: dict[str, Role] = {}
    """The role that each value of the claim gives. If several match, the first in this table counts."""
    default_role: Role | None = None
    """The role of users for whom none of `roles` matches; without it they are refused."""
    tenant_claim: str = ""
    """The claim that names the tenant; without it all users belong to the server's tenant."""
    tenants: dict[str, str] = {}
    """The tenant for each value of the claim; if empty, the value itself is the name of the tenant."""


@dataclass(frozen=True, kw_only=True)
class Login:
    """A sign-in that was begun and is not finished."""

    browser: str
    """The digest of the cookie of the browser that began it."""
    nonce: str
    verifier: str
    ends: float


@dataclass(frozen=True, kw_only=True)
class BegunLogin:
    address: str
    """The address to which the browser must go."""
    cookie: str


def read_oidc(path: Path, tenant: str, redirect: str) -> "Oidc":
    """Read the settings of a provider. Raises `TaskInvalid`.

    `tenant` is the tenant of users without one in their claims. The provider sends users back to `redirect`.
    """
    try:
        found = OidcFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise TaskInvalid(f"{path}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise TaskInvalid(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    if not _is_safe(found.issuer):
        raise TaskInvalid(f"{path}: issuer: it has to begin with https://")
    if not found.roles and found.default_role is None:
        raise TaskInvalid(f"{path}: roles: no user would have a role; name some, or a default_role")
    return Oidc(found, _read_secret(found, path), tenant, redirect)


def _is_safe(address: str) -> bool:
    """Whether an address uses https, or http on this machine."""
    parts = urlsplit(address)
    if parts.scheme == "https" and parts.hostname:
        return True
    try:
        return parts.scheme == "http" and ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return parts.scheme == "http" and parts.hostname == "localhost"


def _read_secret(found: OidcFile, path: Path) -> str:
    if bool(found.client_secret_file) == bool(found.client_secret_variable):
        raise TaskInvalid(f"{path}: name the secret by client_secret_file or by client_secret_variable")
    if found.client_secret_variable:
        secret = os.environ.get(found.client_secret_variable, "")
    else:
        secret = (path.parent / found.client_secret_file).read_text(encoding="utf-8").strip()
    if not secret:
        raise TaskInvalid(f"{path}: the client's secret is empty")
    return secret


class Oidc:
    """One provider. Unfinished sign-ins are kept in memory: after a restart users must begin again."""

    def __init__(self, settings: OidcFile, secret: str, tenant: str, redirect: str) -> None:
        self._settings = settings
        self._secret = secret
        self._tenant = tenant
        self._redirect = redirect
        self._logins: OrderedDict[str, Login] = OrderedDict()
        self._described: dict[str, Any] = {}
        self._described_at = -FRESH
        self._keys: KeySet | None = None

    async def begin(self) -> BegunLogin:
        """Begin a sign-in. Raises `NotSignedIn` if the provider does not answer."""
        described = await self._read_description()
        state, cookie, nonce, verifier = (new_secret() for _ in range(4))
        async with self._build_client() as client:
            address, _ = client.create_authorization_url(
                described["authorization_endpoint"], state=state, nonce=nonce, code_verifier=verifier
            )
        while len(self._logins) >= MOST_LOGINS:
            self._logins.popitem(last=False)
        ends = time.monotonic() + LOGIN_SECONDS
        self._logins[digest_of(state)] = Login(browser=digest_of(cookie), nonce=nonce, verifier=verifier, ends=ends)
        return BegunLogin(address=address, cookie=cookie)

    async def finish(self, *, code: str, state: str, issuer: str, cookie: str) -> Caller:
        """Finish a sign-in and return its user. It can be finished once, in the browser that began it. Raises `NotSignedIn`."""
        login = self._logins.pop(digest_of(state), None)
        if login is None or login.ends < time.monotonic():
            raise NotSignedIn("this sign-in was not begun here, took too long, or is finished")
        if not hmac.compare_digest(digest_of(cookie), login.browser):
            raise NotSignedIn("this sign-in was begun in another browser")
        if issuer and issuer != self._settings.issuer:
            raise NotSignedIn("another provider answered")
        described = await self._read_description()
        try:
            async with self._build_client() as client:
                token: dict[str, Any] = await client.fetch_token(
                    described["token_endpoint"],
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=login.verifier,
                )
        except (OAuthError, httpx.HTTPError, ValueError) as trouble:
            raise NotSignedIn(f"the provider did not accept the code: {type(trouble).__name__}") from trouble
        return self._build_caller(await self._verify_claims(token, login.nonce))

    async def _verify_claims(self, token: dict[str, Any], nonce: str) -> dict[str, Any]:
        """Verify the ID token and return its claims."""
        value = token.get("id_token")
        if not isinstance(value, str):
            raise NotSignedIn("the provider sent no ID token")
        client_id = self._settings.client_id
        try:
            decoded = await self._decode(value)
            claims: Any = CodeIDToken(
                decoded.claims,
                decoded.header,
                options={
                    "iss": {"essential": True, "value": self._settings.issuer},
                    "aud": {"essential": True, "value": client_id},
                },
                params={"nonce": nonce, "client_id": client_id, "access_token": token.get("access_token")},
            )
            claims.validate(leeway=LEEWAY)
        except (JoseError, ValueError) as trouble:
            raise NotSignedIn(f"the ID token is not valid: {trouble}") from trouble
        return dict(claims)

    def _build_caller(self, claims: dict[str, Any]) -> Caller:
        settings = self._settings
        given_name, subject = claims.get(settings.name_claim), claims.get("sub")
        if not isinstance(given_name, str) or not given_name.strip():
            raise NotSignedIn(f"the ID token has no {settings.name_claim}")
        if not isinstance(subject, str) or not 1 <= len(subject) <= LONGEST_SUBJECT:
            raise NotSignedIn("the ID token has no usable sub, which identifies the user")
        if settings.name_claim == "email" and claims.get("email_verified") is not True:
            raise NotSignedIn(
                "the provider does not say that it has verified this address (email_verified); an administrator can name users "
                'by another claim in the file of --oidc, such as name_claim = "sub"'
            )
        name = check_name(given_name)
        given = _list_values(claims.get(settings.role_claim))
        fitting: list[Role] = [role for value, role in settings.roles.items() if value in given]
        role = fitting[0] if fitting else settings.default_role
        if role is None:
            raise NotSignedIn(f"{name} has no role here; {settings.role_claim} decides it")
        identity = f"oidc:{settings.issuer} {subject}"
        return Caller(name=name, id=identity, tenant=self._tenant_of(claims), role=role, means="session")

    def _tenant_of(self, claims: dict[str, Any]) -> str:
        claim, tenants = self._settings.tenant_claim, self._settings.tenants
        if not claim:
            return self._tenant
        found = [tenants.get(value, "") if tenants else value for value in _list_values(claims.get(claim))]
        known = [tenant for tenant in found if tenant]
        if len(set(known)) != 1:
            raise NotSignedIn(f"{claim} names {'no tenant' if not known else 'several tenants'}")
        return known[0]

    # --- the provider

    def _build_client(self) -> Any:
        """Authlib's client, which has no types."""
        return AsyncOAuth2Client(
            client_id=self._settings.client_id,
            client_secret=self._secret,
            scope=" ".join(self._settings.scopes),
            redirect_uri=self._redirect,
            code_challenge_method="S256",
            timeout=TIMEOUT,
        )

    async def _read_description(self) -> dict[str, Any]:
        if time.monotonic() - self._described_at < FRESH:
            return self._described
        issuer = self._settings.issuer
        found = await _fetch(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if found.get("issuer") != issuer:
            raise NotSignedIn(f"the provider at {issuer} calls itself {found.get('issuer')!r}")
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            if not _is_safe(str(found.get(name, ""))):
                raise NotSignedIn(f"the provider has no secure {name}")
        self._described, self._described_at, self._keys = found, time.monotonic(), None
        return found

    async def _decode(self, token: str) -> jwt.Token:
        """Verify the signature. The provider's keys are fetched again if it has signed with an unknown one."""
        known = self._keys is not None
        keys = self._keys or await self._read_keys()
        try:
            return jwt.decode(token, keys, algorithms=ALGORITHMS)
        except (JoseError, ValueError):
            if not known:
                raise
        return jwt.decode(token, await self._read_keys(), algorithms=ALGORITHMS)

    async def _read_keys(self) -> KeySet:
        found: Any = await _fetch((await self._read_description())["jwks_uri"])
        self._keys = KeySet.import_key_set(found)
        return self._keys


def _list_values(claim: Any) -> tuple[str, ...]:
    if isinstance(claim, str):
        return (claim,)
    return tuple(map(str, cast(list[object], claim))) if isinstance(claim, list) else ()


async def _fetch(address: str) -> dict[str, Any]:
    """Fetch JSON from the provider. Redirects are not followed."""
    try:
        async with httpx.AsyncClient(timeout=TIMEOUT) as client:
            answer = await client.get(address)
            answer.raise_for_status()
            found: Any = answer.json()
    except (httpx.HTTPError, ValueError) as trouble:
        raise NotSignedIn(f"the provider does not answer: {type(trouble).__name__}") from trouble
    if not isinstance(found, dict):
        raise NotSignedIn("the provider's answer makes no sense")
    return cast(dict[str, Any], found)
