"""Settings from environment variables (`MIDCOURSE_MAX_CALLS`) and from the `.env` file of the current directory."""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict

PREFIX = "MIDCOURSE_"


class VariableSettings(BaseModel):
    """Settings whose values come from variables where they are not given.

    pydantic-settings does this, too, but it examines the type of every field for every source, at each load.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False, populate_by_name=True)

    def __init__(self, **values: Any) -> None:
        super().__init__(**{**_find_values(type(self)), **values})


def read_variables() -> dict[str, str]:
    """All variables that are not empty, with upper-case names. Those of the environment win over the file."""
    return {name: value for source in _read_sources() for name, value in source.items()}


def variable_of(name: str) -> str:
    return f"{PREFIX}{name.upper()}"


def aliases(kind: type[BaseModel]) -> dict[str, str]:
    """The other environment variable of each setting that has one."""
    known = {name: field.validation_alias for name, field in kind.model_fields.items()}
    return {name: str(also.choices[1]) for name, also in known.items() if isinstance(also, AliasChoices)}


def _find_values(kind: type[BaseModel]) -> dict[str, str]:
    names = _names(kind).items()
    return {name: source[variable] for source in _read_sources() for variable, name in names if variable in source}


@cache
def _names(kind: type[BaseModel]) -> dict[str, str]:
    """The setting of each variable. A setting's own variable comes after its other one, and so wins."""
    others = {other: name for name, other in aliases(kind).items()}
    return others | {variable_of(name): name for name in kind.model_fields}


def _read_sources() -> tuple[dict[str, str], dict[str, str]]:
    """Variables that are not empty, with upper-case names: of the file, then of the environment, which wins."""
    return _without_empty(_read_dotenv()), _without_empty(os.environ)


def _without_empty(variables: Mapping[str, str | None]) -> dict[str, str]:
    return {name.upper(): value for name, value in variables.items() if value}


def _read_dotenv() -> Mapping[str, str | None]:
    file = Path(".env")
    if not file.is_file():
        return {}
    from dotenv import dotenv_values

    return dotenv_values(file, encoding="utf-8")
