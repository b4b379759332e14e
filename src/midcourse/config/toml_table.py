"""One table of a TOML file. It returns values by name and type; its errors name the file, the key and what to do."""

from collections.abc import Iterator, Mapping
from datetime import date, time
from math import isfinite
from pathlib import Path
from typing import TypeGuard, cast

from midcourse.domain.argument import Scalar
from midcourse.errors import TaskInvalid
from midcourse.policy.spelling import describe_unknown


class Table:
    """Reads values by type, without interpreting them. `path` is its place in the file, such as `planner.rules#2`."""

    def __init__(self, values: Mapping[str, object], *, file: str, path: str = "") -> None:
        self.values = values
        self.file = file
        self.path = path

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def make_error(self, key: str, problem: str) -> TaskInvalid:
        """Return the error to raise for a key, or for the table itself if the key is empty."""
        return TaskInvalid(": ".join(part for part in (self.file, self.join_path(key), problem) if part))

    def allow(self, *known: str) -> None:
        """Raise if there is any other key: its author expects it to have an effect."""
        for key in self.values:
            if key not in known:
                raise self.make_error("", describe_unknown("key", key, known))

    def get_text(self, key: str, default: str | None = None) -> str:
        """Return a text. It may be empty only if the key has a default."""
        value = self._get(key, default)
        if not isinstance(value, str):
            raise self.make_error(key, f"has to be text in quotes, not {_describe_value(value)}")
        if not value and default is None:
            raise self.make_error(key, "is empty")
        return value

    def get_texts(self, key: str, *, one_will_do: bool = False) -> tuple[str, ...]:
        """Return a list of texts, none of them empty. With `one_will_do`, a single text counts as a list."""
        value = self.values.get(key, [])
        if one_will_do and isinstance(value, str):
            value = [value]
        if not _is_list(value) or not all(isinstance(each, str) for each in value):
            wanted = "text in quotes or a list of it" if one_will_do else 'a list of text, such as ["a", "b"]'
            raise self.make_error(key, f"has to be {wanted}, not {_describe_value(value)}")
        if not all(value):
            raise self.make_error(key, "is empty or contains an empty text")
        return cast(tuple[str, ...], tuple(value))

    def get_flag(self, key: str) -> bool | None:
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.make_error(key, f"has to be true or false, not {_describe_value(value)}")
        return value

    def get_seconds(self, key: str) -> float:
        value = self.values.get(key, 0.0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
            raise self.make_error(key, f"has to be a number of seconds, not {_describe_value(value)}")
        return float(value)

    def get_scalar(self, key: str) -> Scalar:
        return self._check_scalar(key, self._get(key))

    def get_scalars(self, key: str) -> tuple[Scalar, ...]:
        value = self.values.get(key, [])
        if not _is_list(value):
            raise self.make_error(key, f"has to be a list, not {_describe_value(value)}")
        return tuple(self._check_scalar(key, each) for each in value)

    def _check_scalar(self, key: str, value: object) -> Scalar:
        if isinstance(value, date | time):
            raise self.make_error(key, "is a date or time; put it in quotes")
        if not isinstance(value, str | bool | int | float):
            raise self.make_error(key, f"has to be text, a number, true or false, not {_describe_value(value)}")
        if isinstance(value, float) and not isfinite(value):
            raise self.make_error(key, "has to be a finite number")
        return value

    def get_table(self, key: str) -> "Table":
        """Return the table under this key, or an empty one."""
        value = self.values.get(key, {})
        if not _is_table(value):
            raise self.make_error(key, f"has to be a table, not {_describe_value(value)}")
        return Table(value, file=self.file, path=self.join_path(key))

    def get_tables(self, key: str, *, one_will_do: bool = False) -> tuple["Table", ...]:
        """Return the tables of a list, counted from 1 in error messages. With `one_will_do`, a single table counts as a list."""
        value = self.values.get(key, [])
        if one_will_do and _is_table(value):
            return (self.get_table(key),)
        if not _is_list(value):
            raise self.make_error(
                key, f"has to be a list of tables ([[{self.join_path(key)}]]), not {_describe_value(value)}"
            )
        found: list[Table] = []
        for number, each in enumerate(value, start=1):
            if not _is_table(each):
                raise self.make_error(f"{key}#{number}", f"has to be a table, not {_describe_value(each)}")
            found.append(Table(each, file=self.file, path=self.join_path(f"{key}#{number}")))
        return tuple(found)

    def _get(self, key: str, default: object = None) -> object:
        value = self.values.get(key, default)
        if value is None:
            raise self.make_error(key, "is missing")
        return value

    def join_path(self, key: str) -> str:
        return ".".join(part for part in (self.path, key) if part)


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _is_table(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _describe_value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case dict():
            return "a table"
        case list():
            return "a list"
        case _:
            return repr(value)


def read_text(path: Path) -> str:
    """Read the text of a file that the user names. Raises `TaskInvalid`."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise TaskInvalid(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise TaskInvalid(f"{path}: is not a text file in UTF-8") from None
    except ValueError as error:  # a null character in its name
        raise TaskInvalid(f"{path}: cannot be read: {error}") from None
