"""Finds the home alone, for commands that need no other setting: loading all settings takes longer than listing runs."""

import os
import unicodedata
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

PREFIX = "MIDCOURSE_"
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
    """Our variables in the environment and in the `.env` file of this folder, without their prefix."""
    return {**_select_ours(_read_dotenv()), **_select_ours(os.environ)}


def _select_ours(variables: Mapping[str, str | None]) -> dict[str, str]:
    named = {name.upper(): value for name, value in variables.items() if value}
    return {name.removeprefix(PREFIX): value for name, value in named.items() if name.startswith(PREFIX)}


def _read_dotenv() -> Mapping[str, str | None]:
    file = Path(".env")
    if not file.is_file():
        return {}
    from dotenv import dotenv_values

    return dotenv_values(file, encoding="utf-8")
