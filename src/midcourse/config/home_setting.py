"""Finds the home alone, for commands that need no other setting: loading all settings takes longer than listing runs."""

import unicodedata
from difflib import get_close_matches
from pathlib import Path

from midcourse.config.variables import PREFIX, read_variables

HOME = "HOME"
DEFAULT_HOME = ".midcourse"
NAMING_FLEET = ("database_url", "temporal_address", "temporal_profile")
"""Settings that say where a fleet is. If one of them is given, the fleet of the home is not meant."""
NEAR = 0.72


def find_home(given: str | None) -> Path | None:
    """Find the home that `Settings` would have. None: all settings must be loaded, which also reports what is wrong.

    `given` is the value from the command line.
    """
    variables = _variables()
    if any(name != HOME and get_close_matches(name, [HOME], cutoff=NEAR) for name in variables):
        return None
    named = given.strip() if given is not None else variables.get(HOME) or DEFAULT_HOME
    return Path(named) if named and not any(unicodedata.category(char) == "Cc" for char in named) else None


def may_have_fleet(home: Path) -> bool:
    """Whether a fleet is configured, or was started in this home."""
    variables = _variables()
    return any(variables.get(name.upper()) for name in NAMING_FLEET) or (home / "up" / "up.json").is_file()


def _variables() -> dict[str, str]:
    """Our variables, without their prefix."""
    return {name.removeprefix(PREFIX): value for name, value in read_variables().items() if name.startswith(PREFIX)}
