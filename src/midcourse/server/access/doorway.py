"""The doorway: finds the caller of a request from its credentials."""

import hmac
import sqlite3
import time
from dataclasses import dataclass, replace
from pathlib import Path

from starlette.datastructures import Headers

from midcourse.files import private_file, private_folder
from midcourse.server.access.identity import RIGHTS, Caller, Role, check_name
from midcourse.server.access.keys import KeyRing, digest_of, new_secret

COOKIE = "midcourse_session"
SESSION_SECONDS = 12 * 3600.0
BEARER = "bearer "


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """A reverse proxy that authenticates users, and proves its own identity with a secret."""

    user_header: str
    secret: str
    tenant: str
    """The role of users for whom the proxy names none."""
    role: Role = "viewer"
    role_header: str = ""
    tenant_header: str = ""


SECRET_HEADER = "X-Midcourse-Proxy-Secret"


class Doorway:
    """Checks tokens, keys, browser sessions and the proxy. Sessions are stored, so they outlive a restart and can be revoked."""

    def __init__(
        self,
        folder: Path,
        *,
        token: str = "",
        owner: Caller | None = None,
        keys: KeyRing | None = None,
        proxy: Proxy | None = None,
    ) -> None:
        """Open the database of sessions in `folder`. `owner` signs in with `token` on loopback."""
        private_folder(folder)
        path = folder / "server.db"
        private_file(path)
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS browser_sessions "
            "(digest TEXT PRIMARY KEY, name TEXT, tenant TEXT, role TEXT, key TEXT, ends REAL, identity TEXT)"
        )
        if "identity" not in [column[1] for column in self._db.execute("PRAGMA table_info(browser_sessions)")]:
            # Nothing says who opened the sessions of earlier versions, so they end. They last half a day at most.
            self._db.execute("ALTER TABLE browser_sessions ADD COLUMN identity TEXT")
            self._db.execute("DELETE FROM browser_sessions WHERE key = ''")
        self._token = digest_of(token) if token else ""
        self._owner = owner
        self._keys = keys or KeyRing()
        self._proxy = proxy

    def close(self) -> None:
        self._db.close()

    def caller_of(self, headers: Headers, cookies: dict[str, str]) -> Caller | None:
        """The caller of a request; None if it has no valid credentials. A valid cookie does not replace a wrong key.

        Raises `NotSignedIn` if the proxy names a user whose name cannot be shown.
        """
        authorization = headers.get("authorization", "")
        if authorization:
            return self.sign_in(authorization[len(BEARER) :]) if authorization.lower().startswith(BEARER) else None
        if self._proxy and (user := headers.get(self._proxy.user_header, "")):
            return self._read_proxy_caller(self._proxy, user, headers)
        return self._load_session(cookies.get(COOKIE, ""))

    def sign_in(self, secret: str) -> Caller | None:
        """The owner of this token or key; None if it is not valid."""
        found = digest_of(secret)
        if self._owner and self._token and hmac.compare_digest(found, self._token):
            return self._owner
        return self._keys.caller_of(found)

    def _read_proxy_caller(self, proxy: Proxy, user: str, headers: Headers) -> Caller | None:
        if not hmac.compare_digest(digest_of(headers.get(SECRET_HEADER, "")), digest_of(proxy.secret)):
            return None
        role = headers.get(proxy.role_header, "") if proxy.role_header else proxy.role
        tenant = headers.get(proxy.tenant_header, "") if proxy.tenant_header else proxy.tenant
        if role not in RIGHTS:
            return None
        name = check_name(user)
        return Caller(name=name, id=f"proxy:{name}", tenant=tenant, role=role, means="proxy")

    # --- browser sessions

    def open_session(self, caller: Caller, secret: str = "") -> str:
        """Open a session and return the value of its cookie. A session that was opened with a key ends when the key is removed."""
        value = new_secret()
        key = digest_of(secret) if caller.means == "key" else ""
        self._db.execute("DELETE FROM browser_sessions WHERE ends < ?", (time.time(),))
        self._db.execute(
            "INSERT INTO browser_sessions (digest, name, tenant, role, key, ends, identity) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (digest_of(value), caller.name, caller.tenant, caller.role, key, time.time() + SESSION_SECONDS, caller.id),
        )
        return value

    def close_session(self, value: str) -> None:
        self._db.execute("DELETE FROM browser_sessions WHERE digest = ?", (digest_of(value),))

    def _load_session(self, value: str) -> Caller | None:
        if not value:
            return None
        sql = "SELECT name, identity, tenant, role, key FROM browser_sessions WHERE digest = ? AND ends > ?"
        found = self._db.execute(sql, (digest_of(value), time.time())).fetchone()
        if not found:
            return None
        name, identity, tenant, role, key = found
        if not key:
            return Caller(name=name, id=identity, tenant=tenant, role=role, means="session")
        owner = self._keys.caller_of(key)
        return replace(owner, means="session") if owner else None
