"""Secrets from the environment: `shop_password` is `MIDCOURSE_SECRET_SHOP_PASSWORD`."""

import os

from midcourse.domain.task import Task
from midcourse.errors import TaskInvalid
from midcourse.ports.vault import Vault

PREFIX = "MIDCOURSE_SECRET_"


class EnvironmentVault:
    def reveal(self, name: str) -> str | None:
        return os.environ.get(variable_of(name)) or None


def variable_of(secret: str) -> str:
    return PREFIX + secret.upper()


def check_secrets(task: Task, vault: Vault) -> None:
    """Raises `TaskInvalid` for secrets that have no value, before a run is begun that could not use them."""
    missing = [name for name in task.secrets if not vault.reveal(name)]
    if not missing:
        return
    if isinstance(vault, EnvironmentVault):
        said = " ".join(f"{variable_of(name)}=..." for name in missing)
        raise TaskInvalid(f"no value for {_several(missing)}: export {said}")
    raise TaskInvalid(f"the vault has no value for {_several(missing)}")


def _several(names: list[str]) -> str:
    return f"the secret{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))}"
