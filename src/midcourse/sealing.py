"""Seals bytes with the keys of a fleet, by AES-GCM. The first key seals; any of the keys opens.

This needs the package `cryptography`, which comes with `pip install 'midcourse[temporal]'`.
"""

import base64
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

NONCE_BYTES = 12
MARK = "sealed"
"""The word with which a sealed text begins."""


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key of a fleet. Its `id` is stored in plain text beside what it has sealed; its `secret` is 16, 24 or 32 bytes."""

    id: str
    secret: bytes = field(repr=False)


class SealBroken(ValueError):
    """The sealed data was changed, was sealed for something else, or was sealed with another key of the same id."""


class Seals:
    """Seals and opens data with the keys of a fleet.

    To replace a key, put the new one first, and drop the old one when nothing needs it any more.
    """

    def __init__(self, keys: Sequence[Key]) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self.first = keys[0].id
        self._ciphers = {key.id: AESGCM(key.secret) for key in keys}

    def seal(self, data: bytes, associated_data: bytes) -> bytes:
        """Seal data with the first key. Opening it needs the same `associated_data`, which the result does not contain."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + self._ciphers[self.first].encrypt(nonce, data, associated_data)

    def open(self, key: str, data: bytes, associated_data: bytes) -> bytes:
        """Open data that was sealed with this key. Raise `LookupError` if there is no such key, `SealBroken` if the seal is broken."""
        from cryptography.exceptions import InvalidTag

        cipher = self._ciphers.get(key)
        if cipher is None:
            raise LookupError(f"something is sealed with the key '{key}', which is not among the known keys")
        try:
            return cipher.decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], associated_data)
        except (InvalidTag, ValueError):
            raise SealBroken(f"it was changed or is for another run, or the key '{key}' is another one here") from None

    def seal_text(self, text: str, what: str) -> str:
        """Seal a text into a text that names its key. Opening it needs the same `what`."""
        data = self.seal(text.encode(), _build_associated_data(self.first, what))
        return f"{MARK} {self.first} {base64.b64encode(data).decode()}"


def open_text(text: str, what: str, seals: Seals | None) -> str:
    """Open a text that `seal_text` sealed. A text that is not sealed was written before any key was set, and is returned unchanged."""
    if not text.startswith(f"{MARK} "):
        return text
    _, key, data = text.split(" ")
    if seals is None:
        raise LookupError(f"something is sealed with the key '{key}', and no keys_file is set")
    return seals.open(key, base64.b64decode(data), _build_associated_data(key, what)).decode()


def _build_associated_data(key: str, what: str) -> bytes:
    return f"{key}\0{what}".encode()
