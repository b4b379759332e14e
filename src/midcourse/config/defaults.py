"""Defaults for what a program does not pass: approvers that deny or leave questions open, the user's name, and secrets."""

import getpass
import os
from collections.abc import Iterable

from midcourse.config.variables import SECRET_PREFIX
from midcourse.domain.approval import Decision, Question
from midcourse.errors import TaskInvalid
from midcourse.ports.vault import Vault

NO_APPROVER = "no approver"
"""The name in decisions of `DenyAll`."""
NO_APPROVER_BEFORE = "nobody was there to ask"
"""The same in decisions that version 0.2 stored."""

DEMO_PLANNER = "midcourse.demo:RecordedPlanner"
"""The planner of `midcourse demo`. Its shop ends with the demo, so its runs cannot be continued."""
DEMO_PLANNERS = (DEMO_PLANNER, "midcourse.app.demo:RecordedPlanner")
"""With the name that it has in runs of version 0.2 and earlier."""


class DenyAll:
    """The approver of a program that passes none: it denies everything, and confirms no effect that is in doubt."""

    async def ask(self, question: Question) -> Decision:
        return Decision(verdict="rejected" if question.about in ("approve", "repeat") else "stop", by=NO_APPROVER)


class LeaveOpen:
    """An approver that answers nothing: the question stays open in the store, and a decision arrives in the run's inbox."""

    async def ask(self, question: Question) -> None:
        return None


def user() -> str:
    """The name of the account that runs this process."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown user"


def user_id() -> str:
    """What identifies that account in decisions. No sign-in of the server leads to an identity that begins like this."""
    return f"account:{user()}"


class EnvironmentVault:
    """Secrets from the environment: `shop_password` is `MIDCOURSE_SECRET_SHOP_PASSWORD`."""

    def reveal(self, name: str) -> str | None:
        return os.environ.get(variable_of(name)) or None


def variable_of(secret: str) -> str:
    return SECRET_PREFIX + secret.upper()


def check_secrets(names: Iterable[str], vault: Vault) -> None:
    """Raise `TaskInvalid` for secrets without a value, before a run starts that could not use them."""
    missing = [name for name in names if not vault.reveal(name)]
    if not missing:
        return
    if isinstance(vault, EnvironmentVault):
        variables = [variable_of(name) for name in missing]
        typed = "; ".join(f"read -rs {name} && export {name}" for name in variables)
        raise TaskInvalid(f"{', '.join(variables)}: not set, and the task needs it. Type: {typed}")
    raise TaskInvalid(f"the vault has no value for the secret {', '.join(map(repr, missing))}")
