"""`--set NAME=VALUE` as names and values."""

from collections.abc import Sequence

from midcourse.app.settings import Settings
from midcourse.errors import TaskInvalid


def pairs(texts: Sequence[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise TaskInvalid(f"--set {text}: write it as NAME=VALUE, such as --set max_calls=10")
        named[name.strip()] = value
    return named


def settings_with(texts: Sequence[str], *changeable: str) -> Settings:
    """The settings of a command that looks at runs begun before, where few can still change anything."""
    overrides = pairs(texts)
    for name in overrides:
        if name not in changeable:
            raise TaskInvalid(
                f"--set {name}: a run keeps the settings it began with; here only {', '.join(changeable)}"
            )
    return Settings.load(overrides=overrides)
