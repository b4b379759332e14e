"""`--set NAME=VALUE` as names and values."""

from collections.abc import Sequence
from pathlib import Path

from midcourse.app.fleet.settings import FleetSettings
from midcourse.app.settings.run import Settings
from midcourse.errors import TaskInvalid

HOME = "home"


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


def fleet_with(texts: Sequence[str]) -> tuple[Path, FleetSettings]:
    """The home, and where the fleet is that this command is for. Raises `FleetUnavailable` if nothing says so."""
    overrides = pairs(texts)
    home = Settings.load(overrides={name: value for name, value in overrides.items() if name == HOME}).home
    settings = FleetSettings.load(home, {name: value for name, value in overrides.items() if name != HOME})
    settings.check_complete(home)
    return home, settings


def places_with(texts: Sequence[str], *changeable: str) -> tuple[Settings, FleetSettings | None]:
    """Both places where a run may be: this home, and the fleet if there is one."""
    of_runs, of_fleets = split(texts)
    settings = settings_with(of_runs, *changeable)
    fleet = FleetSettings.load(settings.home, of_fleets)
    return settings, fleet if fleet.is_somewhere else None


def split(texts: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """What is said about runs, as it was, and what is said about the fleet."""
    of_fleets = {name: value for name, value in pairs(texts).items() if name in FleetSettings.model_fields}
    return [text for text in texts if text.partition("=")[0].strip() not in of_fleets], of_fleets
