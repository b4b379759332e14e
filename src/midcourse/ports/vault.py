"""Secrets by name. A value leaves the vault right before it is used, and is written down nowhere."""

from typing import Protocol


class Vault(Protocol):
    def reveal(self, name: str) -> str | None:
        """The secret's value, or None if there is none of that name."""
        ...
