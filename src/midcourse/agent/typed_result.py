"""A result whose output is an object of a type in Python."""

from dataclasses import dataclass, fields
from typing import Generic, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from midcourse.domain.result import Result
from midcourse.errors import OutputInvalid

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class TypedResult(Result, Generic[T]):
    """A `Result` whose `output` is an object of `output_type`."""

    output_type: type[T]

    @property
    def output(self) -> T:
        """The output. Raises `OutputInvalid` if the run failed, or if its values are not those of the type."""
        if not self.success:
            raise OutputInvalid(f"there is no output, because the run failed: {self.final_detail}")
        try:
            return TypeAdapter(self.output_type).validate_python(cast(object, super().output))
        except ValidationError as error:
            lacking = f"; missing: {', '.join(self.missing)}" if self.missing else ""
            raise OutputInvalid(f"the output is not a {self.output_type.__name__}{lacking}: {error}") from None


def with_type(result: Result, output_type: type[T]) -> TypedResult[T]:
    given = {field.name: getattr(result, field.name) for field in fields(Result)}
    return TypedResult(**given, output_type=output_type)
