"""A tool of an MCP server as a skill: its parameters, its digest, and whether arguments fit its schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any

from midcourse.domain.argument import Argument, Reference, Scalar, json_text
from midcourse.domain.expectation import Probe
from midcourse.domain.skill import ProbeSpec, Skill
from midcourse.worlds.declare import PROBE_SUFFIX, DeclaredProbe, DeclaredSkill
from midcourse.worlds.json_schema import read_schema
from midcourse.worlds.mcp.policy import Hints, ToolPolicy, ToolRule
from midcourse.worlds.signature import Signature

if TYPE_CHECKING:
    from mcp.types import Tool as Definition

LONGEST_DESCRIPTION = 1_000
"""The maximum number of characters of a description that a planner sees. It is text of the server."""


@dataclass(frozen=True, kw_only=True)
class ToolDefinition:
    """A tool as a person reads it before it is pinned."""

    name: str
    digest: str
    description: str
    says: str
    """The effect that the server claims, as a policy that trusts it would read it; empty if the server claims nothing."""


@dataclass(frozen=True)
class Tool:
    """One tool, and what the policy says about it."""

    definition: "Definition"
    policy: ToolPolicy

    @property
    def name(self) -> str:
        return self.definition.name

    @cached_property
    def digest(self) -> str:
        """A digest that identifies the definition: name, description, schemas and hints."""
        written = self.definition.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"icons", "meta"})
        return f"sha256:{sha256(json_text(written).encode()).hexdigest()}"

    @cached_property
    def rule(self) -> ToolRule:
        return self.policy.find_rule(self.name)

    @property
    def changed(self) -> bool:
        """Whether this is not the definition that the rule was written for."""
        return bool(self.rule.definition) and self.rule.definition != self.digest

    @cached_property
    def signature(self) -> Signature:
        return read_schema(self.definition.input_schema)

    @property
    def _hints(self) -> Hints:
        hints = self.definition.annotations
        return Hints(
            read_only=hints.read_only_hint if hints else None,
            destructive=hints.destructive_hint if hints else None,
            idempotent=hints.idempotent_hint if hints else None,
        )

    def describe(self) -> ToolDefinition:
        hints = self._hints
        return ToolDefinition(
            name=self.name,
            digest=self.digest,
            description=self.definition.description or "",
            says="" if hints == Hints() else ToolPolicy(trusted=True).choose_effect(ToolRule(), hints),
        )

    def declare(self) -> DeclaredSkill:
        own, undo = {parameter.name for parameter in self.signature.parameters}, self.rule.undo
        probe = Probe(name=self.name + PROBE_SUFFIX, settles_after=self.rule.settles_after) if self.rule.probe else None
        skill = Skill(
            name=self.name,
            description=_shorten(self.definition.description or ""),
            parameters=self.signature.parameters,
            effect="irreversible" if self.changed else self.policy.choose_effect(self.rule, self._hints),
            asks=self.changed,
            on_zone=False,
            commits="world",
            probe=probe,
            undo=undo.tool if undo else "",
            undo_arguments=tuple((name, _parse_reference(value, own)) for name, value in undo.arguments.items())
            if undo
            else (),
        )
        return DeclaredSkill(skill=skill, signature=self.signature, commit_set=None)

    def declare_probe(self) -> DeclaredProbe | None:
        if self.rule.probe is None:
            return None
        description = f"whether {self.name} happened"
        spec = ProbeSpec(name=self.name + PROBE_SUFFIX, description=description, parameters=self.signature.parameters)
        return DeclaredProbe(spec=spec, signature=self.signature)

    def why_unfit(self, arguments: Mapping[str, Any]) -> str:
        """Return why these arguments do not fit the schema, or an empty string. References to other documents are not followed."""
        validator = _build_validator_class()(self.definition.input_schema, registry=_build_empty_registry())
        try:
            error: Any = _import_jsonschema().exceptions.best_match(validator.iter_errors(dict(arguments)))
        except Exception:  # the schema itself is wrong, so the server decides
            return ""
        return "" if error is None else _shorten(f"{error.json_path}: {error.message}")


def _shorten(text: str) -> str:
    """The text in one line, cut at the end of a word, with a mark."""
    line = " ".join(text.split())
    if len(line) <= LONGEST_DESCRIPTION:
        return line
    head = line[:LONGEST_DESCRIPTION]
    return f"{head.rpartition(' ')[0] or head}…"


def _parse_reference(value: Scalar, own: set[str]) -> Argument:
    """Return `{name}` as a reference to an argument of the tool or to its result, and any other value as it is."""
    if not (isinstance(value, str) and value[:1] == "{" and value[-1:] == "}"):
        return value
    return Reference(source="argument" if value[1:-1] in own else "result", name=value[1:-1])


def _import_jsonschema() -> Any:
    """Import the package `jsonschema`, which has no types."""
    return import_module("jsonschema")


@cache
def _build_validator_class() -> Any:
    """Return a validator class that ignores patterns, since a server could choose one that takes forever."""

    def accept(*_: object) -> tuple[()]:
        return ()

    return _import_jsonschema().validators.extend(_import_jsonschema().Draft202012Validator, {"pattern": accept})


@cache
def _build_empty_registry() -> Any:
    """Return a registry without documents, so that references to other documents are not resolved."""
    return import_module("referencing").Registry()
