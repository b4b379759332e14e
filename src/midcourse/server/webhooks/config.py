"""The file of webhooks: the address, secret, tenant and events of each."""

import base64
import tomllib
from pathlib import Path
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from midcourse.errors import TaskInvalid

EventType: TypeAlias = Literal["question.asked", "run.ended"]
Name: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
PREFIX = "whsec_"
SLACK = "https://slack.com/api/"
SHORTEST = 24
"""The minimum number of bytes of a secret."""


class WebhookTable(BaseModel):
    """One `[[webhook]]` of the file."""

    model_config = ConfigDict(extra="forbid")

    name: Name
    url: str
    secret_file: str
    tenant: str = ""
    events: tuple[EventType, ...] = ("question.asked", "run.ended")
    allow_private: bool = False


class SlackTable(BaseModel):
    """One `[[slack]]` of the file."""

    model_config = ConfigDict(extra="forbid")

    name: Name
    channel: Annotated[str, Field(pattern=r"^[CDG][A-Z0-9]{2,20}$")]
    """The id of the channel, because its name may change. Slack shows the id in the details of the channel."""
    bot_token_file: str
    app_token_file: str = ""
    tenant: str = ""
    events: tuple[EventType, ...] = ("question.asked", "run.ended")
    details: bool = False
    api: str = SLACK
    allow_private: bool = False


class WebhookFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    webhook: tuple[WebhookTable, ...] = ()
    slack: tuple[SlackTable, ...] = ()


class SlackHook(BaseModel):
    """A channel of Slack that is ready to be used."""

    model_config = ConfigDict(frozen=True)

    name: str
    url: str
    """The address of Slack's API."""
    channel: str
    bot_token: str = Field(repr=False)
    app_token: str = Field(default="", repr=False)
    """The token for socket mode; without it only cards are posted, and commands are not answered."""
    tenant: str
    events: tuple[EventType, ...]
    details: bool = False
    """Whether cards name the goal and the steps. They never contain values."""


class Webhook(BaseModel):
    """A webhook that is ready to be used."""

    model_config = ConfigDict(frozen=True)

    name: str
    url: str
    secret: bytes = Field(repr=False)
    tenant: str
    events: tuple[EventType, ...]
    allow_private: bool = False
    """Whether messages may go to addresses of this machine or its networks, and unencrypted."""


Hook: TypeAlias = Webhook | SlackHook


def read_webhooks(path: Path, tenant: str) -> tuple[Hook, ...]:
    """Parse the file. `tenant` is the tenant of webhooks that name none. Raises `TaskInvalid`."""
    try:
        found = WebhookFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise TaskInvalid(f"{path}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise TaskInvalid(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    names = [table.name for table in (*found.webhook, *found.slack)]
    if len(set(names)) < len(names):
        raise TaskInvalid(f"{path}: two webhooks have the same name")
    return (
        *(_build_webhook(table, path, tenant) for table in found.webhook),
        *(_build_slack_hook(table, path, tenant) for table in found.slack),
    )


def _build_slack_hook(table: SlackTable, path: Path, tenant: str) -> SlackHook:
    if not table.api.startswith("https://") and not table.allow_private:
        raise TaskInvalid(f"{path}: {table.name}.api: http sends the token unencrypted; use https")
    return SlackHook(
        name=table.name,
        url=f"{table.api.rstrip('/')}/",
        channel=table.channel,
        bot_token=_read_token(path.parent / table.bot_token_file, "xoxb-"),
        app_token=_read_token(path.parent / table.app_token_file, "xapp-") if table.app_token_file else "",
        tenant=table.tenant or tenant,
        events=table.events,
        details=table.details,
    )


def _read_token(path: Path, prefix: str) -> str:
    try:
        text = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise TaskInvalid(f"{path}: {error.strerror}") from None
    if not text.startswith(prefix):
        raise TaskInvalid(f"{path}: this token of Slack begins with {prefix}")
    return text


def _build_webhook(table: WebhookTable, path: Path, tenant: str) -> Webhook:
    address = urlsplit(table.url)
    if address.scheme not in ("https", "http") or not address.hostname or address.username or address.fragment:
        raise TaskInvalid(f"{path}: {table.name}.url: write it as https://hooks.example.org/path")
    if address.scheme == "http" and not table.allow_private:
        raise TaskInvalid(f"{path}: {table.name}.url: http sends it unencrypted; use https, or allow_private = true")
    return Webhook(
        name=table.name,
        url=table.url,
        secret=_read_secret(path.parent / table.secret_file),
        tenant=table.tenant or tenant,
        events=table.events,
        allow_private=table.allow_private,
    )


def _read_secret(path: Path) -> bytes:
    """Read a secret: `whsec_` and base64, as the specification defines it."""
    try:
        text = path.read_text(encoding="utf-8").strip()
        secret = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except (OSError, ValueError):
        raise TaskInvalid(f"{path}: a secret is {PREFIX} and base64 of random bytes") from None
    if len(secret) < SHORTEST:
        raise TaskInvalid(f"{path}: the secret is shorter than {SHORTEST} bytes")
    return secret
