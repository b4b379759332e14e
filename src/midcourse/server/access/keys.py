"""API keys: a file with a line `NAME TENANT ROLE SHA256` for each key. A key is 256 random bits, so its plain SHA-256 is safe to store."""

import fcntl
import hmac
import logging
import re
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import cast

from midcourse.errors import TaskInvalid
from midcourse.files import atomic_write, private_folder, private_opener
from midcourse.server.access.identity import RIGHTS, Caller, Role

log = logging.getLogger(__name__)

WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,62}")
"""The pattern of names and tenants."""


def digest_of(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def new_secret() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    digest: str
    caller: Caller


class KeyRing:
    """Keys by their digests. It has no file, so it never changes."""

    def __init__(self, keys: tuple[ApiKey, ...] = ()) -> None:
        self._keys = keys

    def current(self) -> tuple[ApiKey, ...]:
        return self._keys

    def caller_of(self, digest: str) -> Caller | None:
        """The caller who owns the key with this digest. Digests are compared in constant time."""
        return next((key.caller for key in self.current() if hmac.compare_digest(digest, key.digest)), None)


class KeyFile(KeyRing):
    """The keys of a file, read again when it changes: a key that is removed is refused from the next request on."""

    def __init__(self, path: Path) -> None:
        super().__init__(read_api_keys(path))
        self._path = path
        self._version = self._stat()

    def current(self) -> tuple[ApiKey, ...]:
        version = self._stat()
        if version != self._version:
            self._version = version
            self._keys = ()
            try:
                self._keys = read_api_keys(self._path)
            except (OSError, TaskInvalid) as trouble:
                log.error("no API key is accepted until this is corrected: %s", trouble)
        return self._keys

    def _stat(self) -> tuple[int, int, int] | None:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def read_api_keys(path: Path) -> tuple[ApiKey, ...]:
    """Parse a file of keys. Comments begin with #. Raises `TaskInvalid`, which names the line that is not a key."""
    keys: list[ApiKey] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 4 or words[2] not in RIGHTS or not re.fullmatch(r"[0-9a-f]{64}", words[3]):
            raise TaskInvalid(
                f"{path}, line {number}: a key is NAME TENANT ROLE SHA256; `midcourse access add` writes one"
            )
        name, tenant, role, digest = words
        caller = Caller(name=name, id=f"key:{name}", tenant=tenant, role=cast(Role, role), means="key")
        keys.append(ApiKey(digest=digest, caller=caller))
    return tuple(keys)


def add_key(path: Path, name: str, tenant: str, role: Role) -> str:
    """Add a new key to the file, which is created if it does not exist. Returns the key, which is stored nowhere."""
    for what, word in (("name", name), ("tenant", tenant)):
        if not WORD.fullmatch(word):
            raise TaskInvalid(f"{what} '{word}': letters, digits and . _ @ + - only, and 63 of them at most")
    secret = new_secret()
    with _lock(path):
        text = path.read_text(encoding="utf-8") if path.exists() else "# NAME TENANT ROLE SHA256 of the key\n"
        keys = read_api_keys(path) if path.exists() else ()
        if any((key.caller.name, key.caller.tenant) == (name, tenant) for key in keys):
            raise TaskInvalid(f"'{name}' of tenant '{tenant}' has a key; midcourse access remove takes it away")
        if text and not text.endswith("\n"):
            text += "\n"
        atomic_write(path, f"{text}{name} {tenant} {role} {digest_of(secret)}\n")
    return secret


def remove_key(path: Path, name: str, tenant: str) -> None:
    """Remove the key of a caller. Raises `TaskInvalid` if there is none."""
    with _lock(path):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        left = [line for line in lines if line.partition("#")[0].split()[:2] != [name, tenant]]
        if len(left) == len(lines):
            raise TaskInvalid(f"{path} has no key of '{name}' of tenant '{tenant}'")
        atomic_write(path, "".join(left))


@contextmanager
def _lock(path: Path) -> Generator[None]:
    """Lock the file of keys, so that two commands that run at the same time do not lose each other's changes."""
    private_folder(path.parent)
    with open(path.with_name(f".{path.name}.lock"), "w", opener=private_opener) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
