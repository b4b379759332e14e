"""The name of a guarded function, with which its keys begin: one in every process that runs its file, and another for each function.

Module and qualified name identify most functions. They do not identify one that is made inside another, in a notebook, in an
interactive session or by `-c`, so such a function must be given a name. See design/0037.
"""

import inspect
import os
import sys
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import Path, PurePath
from string import Formatter
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any
from uuid import UUID

from midcourse.errors import SkillInvalid

SCRIPTS = ("__main__", "__mp_main__")
"""Module names of the file that a program was started with, in its process and in children of `multiprocessing`."""
WITHOUT_FILE = (*SCRIPTS, "<run_path>", "builtins")
"""Module names that say nothing about the file."""
FOLDERS = 3
"""How many folders around a script are looked at as packages that it may be imported from."""
NAMEABLE = (str, int, float, Decimal, UUID, PurePath, date, Enum)
"""Types whose text is the same in every process, so that a name may contain it."""


@dataclass(frozen=True, kw_only=True)
class FunctionName:
    """The name of a guarded function, and what else is known about where the function comes from."""

    text: str
    """What its keys begin with."""
    given: str = ""
    """As it was given, with placeholders. Empty: it is module and qualified name."""
    qualified: str
    file: str
    """The file that defines it, as an absolute path; empty if there is none, as in a notebook."""
    program: str = ""
    """The same for a script without a given name: scripts of one name may be different programs."""
    earlier: tuple[str, ...] = ()
    """What versions up to 0.2.0 called this function: its records under these names count."""
    shared: tuple[str, ...] = ()
    """What versions up to 0.2.0 called this function and others made by the same factory."""
    otherwise_started: tuple[str, ...] = ()
    """What a process calls it that was started differently with the same file: `python shop/orders.py`, `python -m shop.orders`."""
    variables: tuple[tuple[str, object], ...] = ()
    """What it uses of the functions around it."""
    missing: str = ""
    """Why it must be given a name before it is called, and which."""


def name_function(call: Callable[..., Any], given: str) -> FunctionName:
    """Find the name of a function. Raises `SkillInvalid` if the given one cannot be filled in."""
    function = inspect.unwrap(call)
    before = _name_until_0_2(call)
    file = _file_of(function)
    variables = tuple(_variables(function))
    unnamed = FunctionName(text=before, qualified=call.__qualname__, file=file, variables=variables)
    if given:
        return _fill(unnamed, given)
    if why := _why_unidentified(call, function, file):
        return replace(unnamed, missing=f"{call.__name__} {why}{_suggest(before, variables)}")
    module = call.__module__
    if module not in WITHOUT_FILE:
        return replace(unnamed, otherwise_started=_otherwise_started(module, call, file))
    spec = _globals(function).get("__spec__")
    module = spec.name if spec and spec.name != "__main__" else Path(file).stem
    text = f"{module}.{call.__qualname__}"
    earlier = dict.fromkeys(name for name in (before, f"__mp_main__.{call.__qualname__}") if name and name != text)
    otherwise = _otherwise_started(module, call, file)
    return replace(unnamed, text=text, program=file, earlier=tuple(earlier), otherwise_started=otherwise)


def _otherwise_started(module: str, call: Callable[..., Any], file: str) -> tuple[str, ...]:
    if not file:
        return ()
    if "." in module:
        return (f"{Path(file).stem}.{call.__qualname__}",)
    folders = Path(file).parts[-1 - FOLDERS : -1]
    dotted = (".".join((*folders[start:], module)) for start in reversed(range(len(folders))))
    return tuple(
        f"{name}.{call.__qualname__}" for name in dotted if all(part.isidentifier() for part in name.split("."))
    )


def refill(name: FunctionName, call: Callable[..., Any]) -> str:
    """Fill in the placeholders with the present values of the variables."""
    return name_function(call, name.given).text if "{" in name.given else name.text


def _why_unidentified(call: Callable[..., Any], function: Any, file: str) -> str:
    """Why module and qualified name do not identify a function; empty if they do."""
    if call.__module__ in WITHOUT_FILE and not file:
        return "is defined in a notebook, an interactive session or by -c, where no file identifies it: "
    if isinstance(function, MethodType) and not isinstance(function.__self__, type):
        return "is the method of one object, and each object has such a method: "
    if "<locals>" in call.__qualname__:
        return "is defined inside another function, which can make several of them: "
    if "<lambda>" in call.__qualname__:
        return "is a lambda, and a file can have several: "
    return ""


def _suggest(before: str, variables: tuple[tuple[str, object], ...]) -> str:
    kept = before.replace("{", "{{").replace("}", "}}")
    advice = f"give it a name, @guarded(name='{kept}', …); this one keeps the records that it has"
    parts = [f"{{{name}}}" if isinstance(value, NAMEABLE) else f"{{{name}.…}}" for name, value in _data(variables)]
    if not parts:
        return advice
    several = f"name='{kept}.{'.'.join(parts)}'"
    return f"{advice}. If several are made, the name must contain the variables in which they differ: {several}"


# --- names with placeholders


def _fill(unnamed: FunctionName, given: str) -> FunctionName:
    """Fill in `"orders.{shop}"` from the variables that the function uses of the functions around it."""
    known = dict(reversed(unnamed.variables))
    try:
        fields = [field for _, field, _, _ in Formatter().parse(given) if field is not None]
        if not fields:
            text = given.format()
            return replace(unnamed, text=text, given=given, earlier=() if text == given else (given,))
        for field in fields:
            value, _ = Formatter().get_field(field, (), known)
            if not isinstance(value, NAMEABLE) or not str(value).strip():
                raise SkillInvalid(
                    f"name '{given}': {{{field}}} is {_describe(value)}, which does not identify anything in another process; "
                    f"name a text or number of it, as {{{field}.url}}"
                )
        text = Formatter().vformat(given, (), known)
    except (LookupError, AttributeError, ValueError) as error:
        used = ", ".join(name for name, _ in _data(unnamed.variables)) or "none"
        raise SkillInvalid(
            f"name '{given}' cannot be filled in ({error}): in braces are variables that {unnamed.qualified} uses of the "
            f"functions around it (here: {used}); write other braces as {{{{ and }}}}"
        ) from None
    beginning = given[: given.index("{")].rstrip(" .:/_-")
    shared = dict.fromkeys(name for name in (given, unnamed.text, beginning) if name)
    return replace(unnamed, text=text, given=given, shared=tuple(shared))


def _describe(value: object) -> str:
    if isinstance(value, CellType):
        return "not set yet where the function is decorated"
    return "empty" if isinstance(value, NAMEABLE) else f"a {type(value).__name__}"


# --- where a function comes from


def _name_until_0_2(call: Callable[..., Any]) -> str:
    """The name by which versions up to 0.2.0 called it if none was given. Records are stored under it."""
    module = call.__module__
    if module == "__main__":
        spec = getattr(sys.modules[module], "__spec__", None)
        module = spec.name if spec else ""
        with suppress(TypeError):
            module = module or Path(inspect.getfile(call)).stem
    return f"{module}.{call.__qualname__}"


def _globals(function: Any) -> dict[str, Any]:
    return getattr(function, "__globals__", {})


def _file_of(function: Any) -> str:
    """The file that defines a function, as it was started or imported: absolute, but links are not resolved.

    A deployment that switches a link, as `/srv/app/current`, keeps its path.
    """
    code: CodeType | None = getattr(function, "__code__", None)
    file = _globals(function).get("__file__") or ""
    if code is None or not file or file.startswith("<"):
        return ""
    file = os.path.abspath(file)
    if function.__module__ not in WITHOUT_FILE or _without_suffix(file) == _without_suffix(code.co_filename):
        return file
    return ""  # typed after `python -i script.py`, or executed by a script from a text


def _without_suffix(file: str) -> str:
    """The same for a module and its compiled form."""
    return os.path.splitext(os.path.realpath(file))[0]


def is_same_file(one: str, other: str) -> bool:
    return one == other or os.path.realpath(one) == os.path.realpath(other)


def _variables(function: Any, visited: tuple[CodeType, ...] = ()) -> Iterator[tuple[str, object]]:
    """What a function uses of the functions around it, by name. Of a function among these, also what that one uses.

    A variable without a value yet counts as its cell: no other closure has the same one.
    """
    if isinstance(function, MethodType):
        yield "self", function.__self__
    code: CodeType | None = getattr(function, "__code__", None)
    if code is None or code in visited:
        return
    cells: tuple[Any, ...] = function.__closure__ or ()
    for name, cell in zip(code.co_freevars, cells, strict=False):
        try:
            value: object = cell.cell_contents
        except ValueError:  # no value yet
            value = cell
        value = inspect.unwrap(value) if isinstance(value, FunctionType) else value
        if name == function.__name__ and (value is cell or value is function):
            continue  # it calls itself
        if isinstance(value, FunctionType):
            yield name, value.__code__
            yield from _variables(value, (*visited, code))
        else:
            yield name, value


def _data(variables: tuple[tuple[str, object], ...]) -> list[tuple[str, object]]:
    """The variables that a name can contain, which leaves out functions and modules."""
    return list({name: value for name, value in variables if not isinstance(value, CodeType | ModuleType)}.items())


# --- two functions under one name

_DECORATED: dict[Hashable, tuple[FunctionName, object]] = {}


def register(name: FunctionName, *records: object) -> None:
    """Note that a function of this process has this name. `records` says where its records are.

    Raises `SkillInvalid` if another one has it: each would return what the other did. A function that is defined again, as in
    a reloaded module or a cell that is run again, is the same one.
    """
    place = (name.text, *(each if isinstance(each, str) else id(each) for each in records))
    earlier, _ = _DECORATED.get(place, (name, records))
    if earlier.qualified != name.qualified or (
        earlier.file and name.file and not is_same_file(earlier.file, name.file)
    ):
        raise SkillInvalid(
            f"the name '{name.text}' belongs to {earlier.qualified}{_in(earlier.file)}, and so cannot be that of "
            f"{name.qualified}{_in(name.file)}: each would return what the other did. Give one of them another name"
        )
    if differing := _differing(earlier, name):
        listed, parts = ", ".join(differing), ".".join(f"{{{each}}}" for each in differing)
        known = name.given or name.text.replace("{", "{{").replace("}", "}}")
        raise SkillInvalid(
            f"the name '{name.text}' belongs to another {name.qualified}, made with another {listed}: each would return what "
            f"the other did. Name what they differ in, as name='{known}.{parts}', or make the function once. Under such a "
            f"name, a call whose key has a record under '{name.text}' is refused, as the record does not say which of them made it"
        )
    _DECORATED[place] = (name, records)  # which keeps them alive, so that no other object gets the same id


def _in(file: str) -> str:
    return f" in {file}" if file else ""


def _differing(one: FunctionName, other: FunctionName) -> list[str]:
    """The variables in which two functions of one factory differ, but for those of which their name has an attribute.

    One that is defined again with other code may use other variables, so only those of both are compared.
    """
    fields = (field for _, field, _, _ in Formatter().parse(other.given) if field)
    named = {field.partition(".")[0] for field in fields if "." in field}
    mine = dict(reversed(one.variables))
    its = dict(reversed(other.variables))
    return [name for name in its if name in mine and name not in named and not _is_same(mine[name], its[name])]


def _is_same(one: object, other: object) -> bool:
    """Whether two variables have the same value. Objects that can change are the same only if they are one object."""
    if one is other:
        return True
    if type(one) is not type(other) or not isinstance(one, (*NAMEABLE, bytes, tuple, frozenset, CodeType)):
        return False
    if isinstance(one, CodeType) and isinstance(other, CodeType) and "<lambda>" not in one.co_qualname:
        return one.co_qualname == other.co_qualname  # code may have been edited and loaded again
    return bool(one == other)
