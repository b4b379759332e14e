"""Secrets from the environment: `shop_password` is `MIDCOURSE_SECRET_SHOP_PASSWORD`."""

import os
from collections.abc import Iterable

from midcourse.errors import TaskInvalid
from midcourse.ports.vault import Vault

PREFIX = "MIDCOURSE_SECRET_"


class EnvironmentVault:
    def reveal(self, name: str) -> str | None:
        return os.environ.get(variable_of(name)) or None


def variable_of(secret: str) -> str:
    return PREFIX + secret.upper()


def check_secrets(names: Iterable[str], vault: Vault) -> None:
    """Raises `TaskInvalid` for secrets that have no value, before a run is begun that could not use them."""
    missing = [name for name in names if not vault.reveal(name)]
    if not missing:
        return
    if isinstance(vault, EnvironmentVault):
        variables = [variable_of(name) for name in missing]
        typed = "; ".join(f"read -rs {name} && export {name}" for name in variables)
        raise TaskInvalid(f"{', '.join(variables)}: not set, and the task needs it. Type: {typed}")
    raise TaskInvalid(f"the vault has no value for the secret {', '.join(map(repr, missing))}")
