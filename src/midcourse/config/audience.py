"""The audience of a setting, written beside its type: `max_calls: Annotated[int, EVERYDAY]`."""

from enum import StrEnum

from pydantic import BaseModel
from pydantic.fields import FieldInfo


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
