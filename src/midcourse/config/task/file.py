"""Reads a task file: the task, its world, its planner and its settings.

Unknown keys are refused, and so are references to an input, secret or file that the task does not declare, before the run costs anything.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast, get_args

from midcourse.config.output import read_output_schema
from midcourse.config.settings import Settings
from midcourse.config.task.notation import Notation
from midcourse.config.toml_table import Table
from midcourse.config.variables import check_names
from midcourse.domain.argument import Pairs
from midcourse.domain.plan import Draft
from midcourse.domain.skill import Parameter, ValueType
from midcourse.domain.task import Task
from midcourse.errors import TaskInvalid
from midcourse.planners import Rule
from midcourse.policy.arguments import fits_type
from midcourse.policy.spelling import describe_unknown

PLANNERS = ("model", "playbook", "same_plan")


@dataclass(frozen=True, kw_only=True)
class WorldSpec:
    """Which world to act in. The world itself interprets its options and faults."""

    name: str
    """A world that ships with Midcourse, or `package.module:Class`."""
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    faults: tuple[Mapping[str, object], ...] = ()
    process: bool = False
    """Whether it runs in a separate process, so that it survives the process of the run."""


@dataclass(frozen=True, kw_only=True)
class PlannerSpec:
    """Which planner to use: `playbook` with rules, `same_plan` with steps, `model`, or a factory of the user with options."""

    name: str
    model: str = ""
    """Overrides the setting `model` unless it is empty."""
    base_url: str = ""
    rules: tuple[Rule, ...] = ()
    steps: tuple[Draft, ...] = ()
    final: bool | None = None
    options: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, kw_only=True)
class TaskFile:
    task: Task
    """The task, with default limits; `Job.task` adds the limits of the settings."""
    world: WorldSpec
    planner: PlannerSpec
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
    """The settings as written in the file; `Settings.load` validates the values."""

    def named_objects(self) -> list[tuple[str, str]]:
        """List what the file names by its module, such as `shop.worlds:Shop`, each with what it is for."""
        return [
            (what, name) for what, name in (("world", self.world.name), ("planner", self.planner.name)) if ":" in name
        ]


def parse_task_file(text: str, file: str = "task file", inputs: Pairs = ()) -> TaskFile:
    """Parse a task file. `file` is its name in error messages. `inputs` replace those in the file."""
    try:
        root = Table(_parse_toml(text), file=file)
    except tomllib.TOMLDecodeError as error:
        raise TaskInvalid(f"{file}: is not TOML, in which task files are written: {error}") from None
    root.allow(
        "goal",
        "key",
        "sends",
        "secrets",
        "files",
        "inputs",
        "output",
        "output_schema",
        "done_when",
        "world",
        "planner",
        "failures",
        "settings",
    )
    notation = Notation(
        inputs=_read_inputs(root.get_table("inputs"), inputs),
        secrets=tuple(name.partition("@")[0] for name in root.get_texts("secrets")),
        files=root.get_texts("files"),
    )
    if "world" not in root:
        raise root.make_error("", "there is no [world]; add one with at least a name")
    world = _read_world(root.get_table("world"), notation)
    output = root.get_table("output")
    schema = notation.read_text(root, "output_schema", "")
    if schema and output.values:
        raise root.make_error("output_schema", "give either it or [output]")
    return TaskFile(
        task=Task(
            goal=notation.read_text(root, "goal"),
            world=world.name,
            inputs=notation.inputs,
            output=read_output_schema(schema, "output_schema")
            if schema
            else tuple(_read_field(output, name) for name in output),
            done_when=notation.read_condition(root.get_table("done_when")) if "done_when" in root else None,
            sends=bool(root.get_flag("sends")),
            secrets=root.get_texts("secrets"),
            files=notation.files,
            key=notation.read_text(root, "key", ""),
        ),
        world=world,
        planner=_read_planner(root.get_table("planner"), notation) if "planner" in root else PlannerSpec(name="model"),
        settings=_read_settings(root),
    )


@lru_cache(maxsize=8)
def _parse_toml(text: str) -> Mapping[str, object]:
    """Parse TOML. The result is cached, because a batch parses the same file for every row."""
    return tomllib.loads(text)


def _read_inputs(table: Table, overrides: Pairs) -> Pairs:
    written = {name: table.get_scalar(name) for name in table}
    for name, _ in overrides:
        if name not in written:
            raise table.make_error("", describe_unknown("input", name, written))
    return tuple((written | dict(overrides)).items())


def _read_field(table: Table, name: str) -> Parameter:
    """Read a field of the output: only the name of its type, or a table."""
    if isinstance(table.values[name], str):
        return Parameter(name=name, type=_read_type(table, name))
    inner = table.get_table(name)
    inner.allow("type", "description", "required", "choices")
    wanted = _read_type(inner, "type") if "type" in inner else "string"
    required = inner.get_flag("required")
    choices = inner.get_scalars("choices")
    if not all(fits_type(choice, wanted) for choice in choices):
        raise inner.make_error("choices", f"each has to be {wanted}")
    description = inner.get_text("description", "")
    return Parameter(name=name, type=wanted, required=required is not False, choices=choices, description=description)


def _read_type(table: Table, key: str) -> ValueType:
    name = table.get_text(key)
    if name not in get_args(ValueType):
        raise table.make_error(key, describe_unknown("type", name, get_args(ValueType)))
    return cast(ValueType, name)


def _read_world(table: Table, notation: Notation) -> WorldSpec:
    table.allow("name", "process", "options", "faults")
    return WorldSpec(
        name=table.get_text("name"),
        options=notation.read_options(table.get_table("options")),
        faults=tuple(notation.read_options(fault) for fault in table.get_tables("faults")),
        process=bool(table.get_flag("process")),
    )


def _read_planner(table: Table, notation: Notation) -> PlannerSpec:
    name = table.get_text("name", "model")
    if name == "model":
        table.allow("name", "model", "base_url")
        return PlannerSpec(name=name, model=table.get_text("model", ""), base_url=table.get_text("base_url", ""))
    if name == "playbook":
        table.allow("name", "rules")
        rules = tuple(notation.read_rule(rule) for rule in table.get_tables("rules"))
        if not rules:
            raise table.make_error("rules", "a playbook needs at least one rule")
        return PlannerSpec(name=name, rules=rules)
    if name == "same_plan":
        table.allow("name", "steps", "final")
        steps = tuple(notation.read_step(step, zone_is_pattern=False) for step in table.get_tables("steps"))
        if not steps:
            raise table.make_error("steps", "a plan needs at least one step")
        return PlannerSpec(name=name, steps=steps, final=table.get_flag("final"))
    if ":" not in name:
        raise table.make_error(
            "name", f"{describe_unknown('planner', name, PLANNERS)}; write your own as 'package.module:factory'"
        )
    table.allow("name", "options")
    return PlannerSpec(name=name, options=notation.read_options(table.get_table("options")))


def _read_settings(root: Table) -> Mapping[str, object]:
    """Read the settings, including the rules about failures: a setting that is written as separate tables."""
    table = root.get_table("settings")
    try:
        check_names(table.values, Settings)
    except TaskInvalid as error:
        raise table.make_error("", str(error)) from None
    settings: dict[str, object] = {name: table.get_scalar(name) for name in table}
    if "failures" in root:
        settings["failures"] = tuple(dict(rule.values) for rule in root.get_tables("failures"))
    return settings
