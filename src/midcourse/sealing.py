"""Seals bytes with the keys of a fleet: AES-GCM, by the first key; any of them opens.

Needs `cryptography`, which comes with `pip install 'midcourse[temporal]'`.
"""

import base64
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

NONCE_BYTES = 12
MARK = "sealed"
"""How a sealed text begins."""


@dataclass(frozen=True, kw_only=True)
class Key:
    """`id` stands in clear beside what the key has sealed; `secret` is 16, 24 or 32 bytes."""

    id: str
    secret: bytes = field(repr=False)


class SealBroken(ValueError):
    """What was sealed was changed, was sealed for something else, or with another key of that name."""


class Seals:
    """Put a new key first, and drop an old one when nothing needs it any more."""

    def __init__(self, keys: Sequence[Key]) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self.first = keys[0].id
        self._ciphers = {key.id: AESGCM(key.secret) for key in keys}

    def seal(self, data: bytes, stands_for: bytes) -> bytes:
        """`stands_for` is confirmed by the seal and not part of it."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + self._ciphers[self.first].encrypt(nonce, data, stands_for)

    def open(self, key: str, data: bytes, stands_for: bytes) -> bytes:
        """Raises `LookupError` if there is no such key, and `SealBroken`."""
        from cryptography.exceptions import InvalidTag

        cipher = self._ciphers.get(key)
        if cipher is None:
            raise LookupError(f"something is sealed with the key '{key}', which is not here")
        try:
            return cipher.decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], stands_for)
        except (InvalidTag, ValueError):
            raise SealBroken(f"it was changed or is for another run, or the key '{key}' is another one here") from None

    def seal_text(self, text: str, what: str) -> str:
        """As a text that names its key. the same `what` is needed to open it."""
        data = self.seal(text.encode(), _stands_for(self.first, what))
        return f"{MARK} {self.first} {base64.b64encode(data).decode()}"


def open_text(text: str, what: str, seals: Seals | None) -> str:
    """What `seal_text` sealed. A text that is not sealed was written before there were keys."""
    if not text.startswith(f"{MARK} "):
        return text
    _, key, data = text.split(" ")
    if seals is None:
        raise LookupError(f"something is sealed with the key '{key}', and no keys_file is set")
    return seals.open(key, base64.b64decode(data), _stands_for(key, what)).decode()


def _stands_for(key: str, what: str) -> bytes:
    return f"{key}\0{what}".encode()
