"""Port of the vault: secrets by name. A value is read right before it is used, and never stored."""

from collections.abc import Iterable
from typing import Protocol, TypeAlias

Secrets: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values, for code that must mask the values."""


class Vault(Protocol):
    def reveal(self, name: str) -> str | None:
        """The secret's value, or None if there is none of that name."""
        ...


def reveal_all(vault: Vault, names: Iterable[str]) -> Secrets:
    """The secrets among these names that have a value."""
    return tuple((name, secret) for name in names if (secret := vault.reveal(name)))
