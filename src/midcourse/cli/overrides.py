"""Settings from the command line: `--set NAME=VALUE` and the options that abbreviate it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from midcourse.config.home_setting import find_home, may_have_fleet
from midcourse.errors import TaskInvalid
from midcourse.home.folder import AtHome, Home

if TYPE_CHECKING:
    from midcourse.config.fleet_settings import FleetSettings
    from midcourse.config.settings import Settings

HOME = "home"
Overrides: TypeAlias = Sequence[str] | None
"""The texts given with `--set`, as written."""


def parse_overrides(texts: Overrides) -> dict[str, str]:
    """Parse the overrides into values by name. Raises `TaskInvalid` for a text that is not NAME=VALUE."""
    named: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise TaskInvalid(f"--set {text}: write it as NAME=VALUE, such as --set max_calls=10")
        named[name.strip()] = value
    return named


def with_options(texts: Overrides, **options: object) -> list[str]:
    """The overrides, extended by those of `options` that were given. An option takes precedence over `--set`."""
    return [*(texts or ()), *(f"{name}={value}" for name, value in options.items() if value not in ("", None))]


def load_home(texts: Overrides) -> AtHome:
    """Load the home, for a command that needs no other setting. `--set` may name it."""
    overrides = parse_overrides(texts)
    home = find_home(overrides.get(HOME)) if overrides.keys() <= {HOME} else None
    return Home(home) if home else load_settings(texts, HOME)


def load_home_and_fleet(texts: Overrides) -> "tuple[AtHome, FleetSettings | None]":
    """Load the home like `load_home`, and the settings of the fleet if one is configured."""
    overrides = parse_overrides(texts)
    home = find_home(overrides.get(HOME)) if overrides.keys() <= {HOME} else None
    return load_both_settings(texts, HOME) if home is None or may_have_fleet(home) else (Home(home), None)


def load_settings(texts: Overrides, *changeable: str) -> "Settings":
    """Load the settings of a command for existing runs. Runs keep their settings, so only the `changeable` ones may be set."""
    overrides = parse_overrides(texts)
    for name in overrides:
        if name not in changeable:
            raise TaskInvalid(
                f"--set {name}: a run keeps the settings it began with; here only {', '.join(changeable)}"
            )
    from midcourse.config.settings import Settings

    return Settings.load(overrides=overrides)


def load_fleet_settings(texts: Overrides) -> "tuple[Path, FleetSettings]":
    """The home, and the settings of the fleet. Raises `FleetUnavailable` if none is configured."""
    from midcourse.config.fleet_settings import FleetSettings

    settings, of_fleet = split_home(texts)
    fleet = FleetSettings.load(settings.home, of_fleet)
    fleet.check_complete(settings.home)
    return settings.home, fleet


def load_both_settings(texts: Overrides, *changeable: str) -> "tuple[Settings, FleetSettings | None]":
    """The settings for runs in this home, and those of the fleet if one is configured."""
    from midcourse.config.fleet_settings import FleetSettings

    of_runs, of_fleet = split_fleet(texts)
    settings = load_settings(of_runs, *changeable)
    fleet = FleetSettings.load(settings.home, of_fleet)
    return settings, fleet if fleet.is_somewhere else None


def split_fleet(texts: Overrides) -> tuple[list[str], dict[str, str]]:
    """Split the overrides into those for runs, as written, and those for the fleet, by name."""
    from midcourse.config.fleet_settings import FleetSettings

    of_fleet = {name: value for name, value in parse_overrides(texts).items() if name in FleetSettings.model_fields}
    return [text for text in texts or () if text.partition("=")[0].strip() not in of_fleet], of_fleet


def split_home(texts: Overrides) -> "tuple[Settings, dict[str, str]]":
    """Load the settings with the home that `--set` names, and return every other override by name."""
    from midcourse.config.settings import Settings

    overrides = parse_overrides(texts)
    home = {HOME: overrides.pop(HOME)} if HOME in overrides else {}
    return Settings.load(overrides=home), overrides
