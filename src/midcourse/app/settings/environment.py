"""Finds misspelt environment variables. They are ignored, so a warning names the setting that was probably meant."""

import warnings
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from midcourse.app.defaults import SECRET_PREFIX
from midcourse.app.settings.variables import PREFIX, VariableSettings, aliases, read_variables, variable_of

ALIAS_PREFIX = "AUTO_REPLANNING_"
NEAR = 0.72
"""The minimum similarity. With less, variables of other programs would match: MIDCOURSE_DRIFT_LESSONS and `lessons` have 0.70."""


class MisspeltVariable(UserWarning):
    """An environment variable that is ignored and nearly has the name of a setting."""


def warn_of_misspelt_variables() -> None:
    """Issue a `MisspeltVariable` for each such variable of the process or of the `.env` file."""
    for name, meant in sorted(find_misspelt(read_variables())):
        problem = f"{name} is not a setting and is ignored; did you mean {meant}?"
        # Issued from this line (`stacklevel=1`), so that each is shown once per process.
        warnings.warn(problem, MisspeltVariable, stacklevel=1)


class IneffectiveSetting(UserWarning):
    """A setting given by its other environment variable that can never take effect together with the other settings."""


def is_given_by_other_name(other: str, own: str) -> bool:
    """Whether a setting comes from its other variable: only that one is in the environment or in the `.env` file."""
    given = read_variables()
    return other in given and own not in given


def find_misspelt(variables: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of a variable and the one that was probably meant. A variable similar to no setting may belong to another program."""
    from midcourse.app.fleet.settings import FleetSettings
    from midcourse.app.settings.run import Settings

    kinds: tuple[type[VariableSettings], ...] = (Settings, FleetSettings)
    own = {variable_of(name) for kind in kinds for name in kind.model_fields}
    others = set(aliases(Settings).values())
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
