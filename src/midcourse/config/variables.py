"""Settings from environment variables (`MIDCOURSE_MAX_CALLS`) and from the `.env` file of the current directory."""

import os
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from midcourse.errors import TaskInvalid
from midcourse.policy.spelling import suggest_nearest

PREFIX = "MIDCOURSE_"
SECRET_PREFIX = f"{PREFIX}SECRET_"
"""The variables of secrets, followed by the name of each."""
ALIAS_PREFIX = "AUTO_REPLANNING_"
NEAR = 0.72
"""The minimum similarity. With less, variables of other programs would match: MIDCOURSE_DRIFT_LESSONS and `lessons` have 0.70."""


class VariableSettings(BaseModel):
    """Settings whose values come from variables where they are not given.

    pydantic-settings does this, too, but it examines the type of every field for every source, at each load.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False, populate_by_name=True)

    def __init__(self, **values: Any) -> None:
        super().__init__(**{**_find_values(type(self)), **values})


S = TypeVar("S", bound=VariableSettings)


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


def explicit_values(settings: VariableSettings) -> dict[str, object]:
    """The settings that were set explicitly, without defaults."""
    return {name: getattr(settings, name) for name in sorted(settings.model_fields_set)}


def check_names(values: Mapping[str, object], kind: type[VariableSettings]) -> None:
    for name in values:
        if name not in kind.model_fields:
            near = suggest_nearest(name, kind.model_fields)
            hint = f"did you mean {near}?" if near else "midcourse settings --all lists them"
            raise TaskInvalid(f"no such setting: '{name}'; {hint}")


def build_settings(kind: type[S], values: dict[str, Any], source: str) -> S:
    """Build settings from these values and the environment. Error messages put `source` before the name of a value."""
    try:
        return kind(**values)
    except ValidationError as error:
        raise TaskInvalid(
            "; ".join(_describe_error(kind, detail, values, source) for detail in error.errors())
        ) from None


def _describe_error(
    kind: type[VariableSettings], detail: ErrorDetails, values: Mapping[str, object], source: str
) -> str:
    name = str(detail["loc"][0])
    where = f"{source}{name}" if name in values else variables_of(name, kind)
    return f"{where} = {detail['input']!r}: {detail['msg'].removeprefix('Value error, ').replace('Input should be', 'has to be')}"


def variables_of(name: str, kind: type[VariableSettings]) -> str:
    """The environment variables of a setting, joined by 'or' if there are two."""
    own = name if name.startswith(PREFIX) else variable_of(name)
    other = aliases(kind).get(own.removeprefix(PREFIX).lower())
    return f"{own} or {other}" if other else own


class MisspeltVariable(UserWarning):
    """An environment variable that is ignored and nearly has the name of a setting."""


def warn_of_misspelt_variables(*kinds: type[VariableSettings]) -> None:
    """Issue a `MisspeltVariable` for each variable of the process or of the `.env` file that nearly names a setting of these kinds."""
    for name, meant in sorted(find_misspelt(read_variables(), *kinds)):
        problem = f"{name} is not a setting and is ignored; did you mean {meant}?"
        # Issued from this line (`stacklevel=1`), so that each is shown once per process.
        warnings.warn(problem, MisspeltVariable, stacklevel=1)


class IneffectiveSetting(UserWarning):
    """A setting given by its other environment variable that can never take effect together with the other settings."""


def is_given_by_other_name(other: str, own: str) -> bool:
    """Whether a setting comes from its other variable: only that one is in the environment or in the `.env` file."""
    given = read_variables()
    return other in given and own not in given


def find_misspelt(variables: Iterable[str], *kinds: type[VariableSettings]) -> Iterator[tuple[str, str]]:
    """Pairs of a variable and the one that was probably meant. A variable similar to no setting may belong to another program."""
    own = {variable_of(name) for kind in kinds for name in kind.model_fields}
    others = {other for kind in kinds for other in aliases(kind).values()}
    for variable in variables:
        name = variable.upper()  # settings are read regardless of case
        if name in own or name in others or name.startswith(SECRET_PREFIX):
            continue
        for prefix, known in ((PREFIX, own), (ALIAS_PREFIX, others)):
            if name.startswith(prefix) and (meant := _nearest(name, prefix, known)):
                yield variable, meant


def _nearest(name: str, prefix: str, known: Iterable[str]) -> str:
    """The most similar known name, or an empty string. Names are compared without their common prefix."""
    bare = {other.removeprefix(prefix): other for other in sorted(known)}
    near = get_close_matches(name.removeprefix(prefix), bare, n=1, cutoff=NEAR)
    return bare[near[0]] if near else ""


# --- the users of a setting, written beside its type: `max_calls: Annotated[int, EVERYDAY]`


class Audience(StrEnum):
    """The users of a setting: all (`everyday`), experienced users (`advanced`), or only our benchmarks (`benchmarks`)."""

    EVERYDAY = "everyday"
    ADVANCED = "advanced"
    BENCHMARKS = "benchmarks"


EVERYDAY, BENCHMARKS = Audience.EVERYDAY, Audience.BENCHMARKS


def audience_of(field: FieldInfo) -> Audience:
    """The audience of a setting; a setting without a mark is advanced."""
    return next((mark for mark in field.metadata if isinstance(mark, Audience)), Audience.ADVANCED)


def names_for(kind: type[BaseModel], *audiences: Audience) -> list[str]:
    return [name for name, field in kind.model_fields.items() if audience_of(field) in audiences]


# --- the home alone, for commands that need no other setting: loading all settings takes longer than listing runs

HOME = "HOME"
DEFAULT_HOME = ".midcourse"
NAMING_FLEET = ("database_url", "temporal_address", "temporal_profile")
"""Settings that say where a fleet is. If one of them is given, the fleet of the home is not meant."""


def find_home(given: str | None) -> Path | None:
    """Find the home that `Settings` would have. None: all settings must be loaded, which also reports what is wrong.

    `given` is the value from the command line.
    """
    variables = _own_variables()
    if any(name != HOME and get_close_matches(name, [HOME], cutoff=NEAR) for name in variables):
        return None
    named = given.strip() if given is not None else variables.get(HOME) or DEFAULT_HOME
    return Path(named) if named and not any(unicodedata.category(char) == "Cc" for char in named) else None


def may_have_fleet(home: Path) -> bool:
    """Whether a fleet is configured, or was started in this home."""
    variables = _own_variables()
    return any(variables.get(name.upper()) for name in NAMING_FLEET) or (home / "up" / "up.json").is_file()


def _own_variables() -> dict[str, str]:
    """Our variables, without their prefix."""
    return {name.removeprefix(PREFIX): value for name, value in read_variables().items() if name.startswith(PREFIX)}
