"""The tool policy of an MCP server: which of its tools are harmless, and how to find out whether one had its effect.

trusted = true                      # believe what the server says about its tools; without it, every tool is irreversible

[tools.git_commit]
effect = "irreversible"             # read, set_state, reversible or irreversible
definition = "sha256:1f0c…"         # the definition you have read; if the server changes it, a person is asked
settles_after = 2.0                 # seconds until the probe sees the effect
[tools.git_commit.probe]
tool = "git_log"                    # a tool that reads
arguments = { repo_path = "{repo_path}" }
contains = "{message}"              # in its result, if the effect is there

[tools.git_commit.undo]
tool = "git_revert"                 # the tool that reverts it; it gets arguments, else fields of the result, of the same names
arguments = { commit = "{sha}" }    # and these: `{name}` is an argument or a field of the result

[tools."git_*"]                     # names match like file names; the first that fits decides
offered = false                     # the planner does not get these
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as validated

from midcourse.domain.argument import Scalar
from midcourse.domain.skill import Effect
from midcourse.errors import TaskInvalid
from midcourse.json_schema import as_mapping


@validated(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class ProbeRule:
    """A tool that reads, and the text in its result that shows the effect. `{name}` is an argument of the call that is checked."""

    tool: str
    contains: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


@validated(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class UndoRule:
    """The tool that reverts a call. A value `{name}` stands for the argument of that name, or else for the field of the result."""

    tool: str
    arguments: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])


@validated(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class ToolRule:
    """The user's rule for the tools that match one pattern."""

    effect: Effect | None = None
    definition: str = ""
    """The digest of the definition that this rule was written for."""
    probe: ProbeRule | None = None
    settles_after: float = 0.0
    absent_on_error: bool = False
    """Whether a result that is marked as an error means that nothing was done."""
    offered: bool = True
    undo: UndoRule | None = None


@dataclass(frozen=True, kw_only=True)
class Hints:
    """The hints of a server about a tool. None means that it gives no such hint."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None


@validated(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class ToolPolicy:
    trusted: bool = False
    """Whether the hints of the server count."""
    tools: Mapping[str, ToolRule] = field(default_factory=dict[str, ToolRule])

    def find_rule(self, tool: str) -> ToolRule:
        fitting = (rule for pattern, rule in self.tools.items() if fnmatchcase(tool, pattern))
        return next(fitting, ToolRule())

    def choose_effect(self, rule: ToolRule, hints: Hints) -> Effect:
        """Return the effect that the user declared, or else that of the hints, if they count."""
        if rule.effect is not None:
            return rule.effect
        if self.trusted and hints.read_only:
            return "read"
        # A call that may be repeated may still destroy something: harmless twice does not mean harmless once.
        return "set_state" if self.trusted and hints.idempotent and hints.destructive is False else "irreversible"


def read_policy(policy: str | Mapping[str, object] | None) -> ToolPolicy:
    """Read the policy from a file or a mapping of the same form. Raise `TaskInvalid` if it is not valid."""
    if policy is None:
        return ToolPolicy()
    if isinstance(policy, str):
        try:
            values: Mapping[str, object] = tomllib.loads(Path(policy).read_text(encoding="utf-8"))
        except (OSError, ValueError) as problem:
            raise TaskInvalid(f"tool policy: {policy}: {problem}") from problem
    else:
        values = policy
    policies: TypeAdapter[ToolPolicy] = TypeAdapter(ToolPolicy)
    try:
        return policies.validate_python(values)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise TaskInvalid(f"tool policy: {where}: {first['msg']}") from wrong


def fill_in(template: Any, arguments: Mapping[str, Scalar]) -> Any:
    """Replace `{name}` by an argument in every text of the template. Raise `KeyError` for an argument that is not there."""
    if isinstance(template, str):
        return template.format_map(arguments)
    named = as_mapping(template)
    return {name: fill_in(value, arguments) for name, value in named.items()} if named else template
