"""Reference pages of the site, written from the code: every public module, and every command with its options."""

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from textwrap import dedent
from typing import Annotated, Any, get_args, get_origin

from typer.main import get_command

from midcourse.cli.main import app

MODULES = (
    "midcourse",
    "midcourse.expect",
    "midcourse.worlds",
    "midcourse.worlds.host",
    "midcourse.worlds.simulated",
    "midcourse.planners",
    "midcourse.frameworks",
    "midcourse.roles",
    "midcourse.settings",
    "midcourse.tasks",
    "midcourse.records",
    "midcourse.stores",
    "midcourse.testing",
    "midcourse.testing.conformance",
    "midcourse.testing.models",
    "midcourse.testing.servers",
    "midcourse.testing.sites",
    "midcourse.errors",
)
LONGEST_LINE = 100


def api_pages() -> dict[str, str]:
    """The page of each public module, by file name."""
    return {f"{name}.md": _module(name) for name in MODULES}


def _module(name: str) -> str:
    module = import_module(name)
    names = [each for each in getattr(module, "__all__", None) or dir(module) if not each.startswith("_")]
    if name == "midcourse.errors":
        names = [each for each in names if inspect.isclass(getattr(module, each))]
    parts = [f"# {name}", _text(module)]
    for each in names:
        member = getattr(module, each)
        if not inspect.ismodule(member):
            parts.append(_member(each, member))
    return "\n\n".join(filter(None, parts)) + "\n"


def _member(name: str, member: Any) -> str:
    if inspect.isclass(member):
        return _class(name, member)
    if callable(member):
        return "\n\n".join([f"## {name}", _signature(name, member), _text(member)])
    return "\n\n".join([f"## {name}", f"```python\n{name} = {_shortened(repr(member))}\n```"])


def _class(name: str, member: type) -> str:
    parts = [f"## {name}", _signature(name, member), _text(member)]
    if described := dict(_attributes(member)):
        rows = [f"| `{attribute}` | {_cell(text)} |" for attribute, text in described.items()]
        parts.append("\n".join(["| attribute | |", "|---|---|", *rows]))
    for attribute, value in vars(member).items():
        method = value.__func__ if isinstance(value, staticmethod | classmethod) else value
        if attribute.startswith("_") or not (inspect.isfunction(method) or isinstance(value, property)):
            continue
        text = _text(value)
        if isinstance(value, property):
            parts.append(f"### {name}.{attribute}\n\n{text}" if text else "")
        else:
            parts.append("\n\n".join(filter(None, [f"### {name}.{attribute}", _signature(attribute, method), text])))
    return "\n\n".join(filter(None, parts))


def _attributes(member: type) -> Iterator[tuple[str, str]]:
    """Attributes with the string below them that describes each."""
    try:
        tree = ast.parse(dedent(inspect.getsource(member)))
    except (OSError, TypeError, SyntaxError):
        return
    (body,) = (node.body for node in tree.body if isinstance(node, ast.ClassDef))
    for field, text in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match text:
                case ast.Expr(value=ast.Constant(value=str(described))):
                    yield field.target.id, inspect.cleandoc(described)
                case _:
                    pass


def _signature(name: str, member: Any) -> str:
    try:
        signature = inspect.signature(member)
    except (TypeError, ValueError):
        return ""
    prefix = "async def " if inspect.iscoroutinefunction(member) else "class " if inspect.isclass(member) else "def "
    if getattr(member, "_is_protocol", False):  # implemented, not made
        return ""
    public = [each for each in signature.parameters.values() if each.name != "self" and not each.name.startswith("_")]
    parameters = _parameters(public)
    returned = (
        ""
        if inspect.isclass(member) or signature.return_annotation is inspect.Signature.empty
        else (f" -> {_annotation(signature.return_annotation)}")
    )
    line = f"{prefix}{name}({', '.join(parameters)}){returned}"
    if len(line) > LONGEST_LINE:
        line = f"{prefix}{name}(\n" + "".join(f"    {each},\n" for each in parameters) + f"){returned}"
    return f"```python\n{line}\n```"


def _parameters(parameters: list[inspect.Parameter]) -> list[str]:
    """Each parameter as it is written, with the `*` before those that are given by name only."""
    texts = [_parameter(each) for each in parameters]
    kinds = [each.kind for each in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        texts.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    return texts


def _parameter(parameter: inspect.Parameter) -> str:
    text = str(parameter.replace(annotation=inspect.Parameter.empty, default=inspect.Parameter.empty))
    if parameter.annotation is not inspect.Parameter.empty:
        text += f": {_annotation(parameter.annotation)}"
    if parameter.default is not inspect.Parameter.empty:
        text += f" = {_shortened(_default(parameter.default))}"
    return text


def _annotation(annotation: Any) -> str:
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = re.sub(r"(?:typing\.)?Annotated\[([^][]*), \S*Discriminator\([^)]*\)\]", r"\1", text)
    return re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Z_a-z])", "", text)


def _default(value: Any) -> str:
    text = value.__name__ if inspect.isclass(value) or inspect.isfunction(value) else repr(value)
    return "…" if text.startswith("<") else text


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"


def _text(member: Any) -> str:
    """The docstring. What it draws with boxes or indents keeps its form."""
    text = _of_class(member) if inspect.isclass(member) else inspect.getdoc(member) or ""
    paragraphs = text.split("\n\n")
    return "\n\n".join(f"```text\n{each}\n```" if "├──" in each else each for each in paragraphs)


def _of_class(member: type) -> str:
    """The docstring that we wrote for the class or a class above it: not those of dataclasses, protocols and pydantic."""
    for one in member.__mro__:
        text = inspect.cleandoc(one.__doc__ or "") if "__doc__" in vars(one) else ""
        if one.__module__.startswith("midcourse") and text and not text.startswith(f"{one.__name__}("):
            return text
    return ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def command_page() -> str:
    """Every command, in the order and under the headings of `midcourse --help`."""
    group: Any = get_command(app)
    parts = ["# Commands", "Every command has `--help`. Commands that report something take `--json`."]
    panel = ""
    for name, entry in group.table.items():
        if entry.panel != panel:
            panel = entry.panel
            parts.append(f"## {panel}")
        parts.extend(_command(f"midcourse {name}", group._load(name)))
    return "\n\n".join(parts) + "\n"


def _command(path: str, command: Any) -> Iterator[str]:
    yield f"### {path}"
    yield _help(command)
    if commands := getattr(command, "commands", None):
        table = getattr(command, "table", {})
        for name in table or sorted(commands):
            yield from _command(f"{path} {name}", command._load(name) if table else commands[name])
        return
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    yield f"```text\n{' '.join([path, *(_placeholder(each) for each in arguments), '[OPTIONS]' if options else ''])}\n```"
    rows = [f"| `{_cell(_placeholder(each))}` | {_cell(each.help or '')} |" for each in arguments if each.help]
    rows += [f"| {_flags(each)} | {_cell(each.help or '')} |" for each in options]
    if rows:
        yield "\n".join(["| | |", "|---|---|", *rows])


def _help(command: Any) -> str:
    """The help text without Typer's marks for lines that stay as they are."""
    text = inspect.cleandoc(command.help or command.short_help or "").replace("\f", "")
    paragraphs = text.split("\n\n")
    return "\n\n".join(
        "```text\n" + each.removeprefix("\b").strip("\n") + "\n```" if each.startswith("\b") else each
        for each in paragraphs
    )


def _placeholder(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    name = f"{name}..." if argument.nargs == -1 and not name.endswith("...") else name
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _flags(option: Any) -> str:
    names = ", ".join(f"`{each}`" for each in sorted(option.opts, key=len))
    off = "".join(f", `{each}`" for each in option.secondary_opts)
    value = "" if option.is_flag else f" `{option.metavar or str(option.display_type).upper()}`"
    return _cell(f"{names}{off}{value}")
