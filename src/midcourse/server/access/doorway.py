"""The doorway: from the credentials of a request to its caller.

A token or key is 256 random bits, so a plain SHA-256 of it is safe to store; only the hash is stored.
"""

import hmac
import secrets
import sqlite3
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import cast

from starlette.datastructures import Headers

from midcourse.errors import TaskInvalid
from midcourse.files import private_file, private_folder
from midcourse.server.access.identity import RIGHTS, Caller, Role

COOKIE = "midcourse_session"
SESSION_SECONDS = 12 * 3600.0
BEARER = "bearer "


def digest_of(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def new_secret() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    digest: str
    caller: Caller


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """A reverse proxy that authenticates users, and proves itself with a secret."""

    user_header: str
    secret: str
    tenant: str
    role: Role = "viewer"
    role_header: str = ""


SECRET_HEADER = "X-Midcourse-Proxy-Secret"


def read_api_keys(path: Path) -> tuple[ApiKey, ...]:
    """Parse a file of keys: `NAME TENANT ROLE SHA256` a line. Comments begin with #."""
    keys: list[ApiKey] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 4 or words[2] not in RIGHTS or len(words[3]) != 64:
            raise TaskInvalid(
                f"{path}, line {number}: a key is NAME TENANT ROLE SHA256; `midcourse serve --new-key` writes one"
            )
        name, tenant, role, digest = words
        keys.append(ApiKey(digest=digest, caller=Caller(name=name, tenant=tenant, role=cast(Role, role), means="key")))
    return tuple(keys)


class Doorway:
    """Knows tokens, keys, sessions and the proxy. Sessions are stored, so they outlive a restart and can be revoked."""

    def __init__(
        self,
        folder: Path,
        *,
        token: str = "",
        owner: Caller | None = None,
        keys: tuple[ApiKey, ...] = (),
        proxy: Proxy | None = None,
    ) -> None:
        """`token` is what `owner` signs in with on loopback."""
        private_folder(folder)
        path = folder / "server.db"
        private_file(path)
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS sessions (digest TEXT PRIMARY KEY, name TEXT, tenant TEXT, role TEXT, ends REAL)"
        )
        self._token = digest_of(token) if token else ""
        self._owner = owner
        self._keys = keys
        self._proxy = proxy

    def close(self) -> None:
        self._db.close()

    def caller_of(self, headers: Headers, cookies: dict[str, str]) -> Caller | None:
        """Who sends this; None if nothing in it says so. A wrong key is not replaced by a valid cookie."""
        authorization = headers.get("authorization", "")
        if authorization:
            return self.sign_in(authorization[len(BEARER) :]) if authorization.lower().startswith(BEARER) else None
        if self._proxy and (user := headers.get(self._proxy.user_header, "")):
            return self._through_proxy(self._proxy, user, headers)
        return self._session(cookies.get(COOKIE, ""))

    def sign_in(self, secret: str) -> Caller | None:
        """The owner of a token or key."""
        found = digest_of(secret)
        if self._owner and self._token and hmac.compare_digest(found, self._token):
            return self._owner
        return next((key.caller for key in self._keys if hmac.compare_digest(found, key.digest)), None)

    def _through_proxy(self, proxy: Proxy, user: str, headers: Headers) -> Caller | None:
        if not hmac.compare_digest(digest_of(headers.get(SECRET_HEADER, "")), digest_of(proxy.secret)):
            return None
        role = headers.get(proxy.role_header, "") if proxy.role_header else proxy.role
        if role not in RIGHTS:
            return None
        return Caller(name=user, tenant=proxy.tenant, role=role, means="proxy")

    # --- sessions of browsers

    def open_session(self, caller: Caller) -> str:
        """The value of a cookie for this caller."""
        value = new_secret()
        self._db.execute("DELETE FROM sessions WHERE ends < ?", (time.time(),))
        self._db.execute(
            "INSERT INTO sessions VALUES (?, ?, ?, ?, ?)",
            (digest_of(value), caller.name, caller.tenant, caller.role, time.time() + SESSION_SECONDS),
        )
        return value

    def close_session(self, value: str) -> None:
        self._db.execute("DELETE FROM sessions WHERE digest = ?", (digest_of(value),))

    def _session(self, value: str) -> Caller | None:
        if not value:
            return None
        sql = "SELECT name, tenant, role FROM sessions WHERE digest = ? AND ends > ?"
        found = self._db.execute(sql, (digest_of(value), time.time())).fetchone()
        return Caller(name=found[0], tenant=found[1], role=found[2], means="session") if found else None
