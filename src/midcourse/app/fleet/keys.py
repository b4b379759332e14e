"""The keys file of a fleet."""

import base64
import binascii
from pathlib import Path

from midcourse.errors import TaskInvalid
from midcourse.sealing import Key, Seals


def keys_in(file: Path) -> tuple[Key, ...]:
    """One a line: a name, and 16, 24 or 32 bytes in base64. Empty lines and comments (#) do not count."""
    lines = [line.partition("#")[0].split() for line in file.read_text(encoding="utf-8").splitlines()]
    keys: list[Key] = []
    for words in lines:
        if not words:
            continue
        try:
            name, secret = words
            keys.append(Key(id=name, secret=base64.b64decode(secret, validate=True)))
        except (ValueError, binascii.Error):
            raise TaskInvalid(f"keys_file {file}: a key is a line with a name and base64") from None
        if len(keys[-1].secret) not in (16, 24, 32):
            raise TaskInvalid(f"keys_file {file}: the key '{name}' has to have 16, 24 or 32 bytes")
    if not keys:
        raise TaskInvalid(f"keys_file {file}: there is no key in it")
    return tuple(keys)


def seals_in(file: Path | None) -> Seals | None:
    """What seals with these keys; nothing without a file."""
    return Seals(keys_in(file)) if file else None
