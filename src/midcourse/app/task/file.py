"""Reads a task file: what to do, in which world, planned by whom, under which settings.

A key that nothing reads is refused, and so is a reference to an input, secret or file that the task does not declare:
found out here, it costs nothing.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast, get_args

from midcourse.app.settings.run import check_names
from midcourse.app.task.notation import Notation
from midcourse.app.toml_table import Table
from midcourse.domain.argument import Pairs
from midcourse.domain.plan import Draft
from midcourse.domain.skill import Parameter, ValueType
from midcourse.domain.task import Task
from midcourse.errors import TaskInvalid
from midcourse.planners import Rule
from midcourse.policy.plan.horizon import fits_type
from midcourse.policy.spelling import describe_unknown

PLANNERS = ("model", "playbook", "same_plan")


@dataclass(frozen=True, kw_only=True)
class WorldSpec:
    """Which world to act in. What its options and faults mean is the world's affair."""

    name: str
    """A world that ships with Midcourse, or `package.module:Class`."""
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    faults: tuple[Mapping[str, object], ...] = ()
    process: bool = False
    """Whether it runs in a separate process, so that it survives the process of the run."""


@dataclass(frozen=True, kw_only=True)
class PlannerSpec:
    """Who plans: `playbook` by its rules, `same_plan` with its steps, `model`, or a factory of the user's with its options."""

    name: str
    model: str = ""
    """As the setting of that name, which is used if this is empty."""
    base_url: str = ""
    rules: tuple[Rule, ...] = ()
    steps: tuple[Draft, ...] = ()
    final: bool | None = None
    options: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, kw_only=True)
class TaskFile:
    task: Task
    """With default limits; `Job.task` adds those of the settings."""
    world: WorldSpec
    planner: PlannerSpec
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
    """As written; `Settings.load` validates the values."""


def parse_task_file(text: str, file: str = "task file", inputs: Pairs = ()) -> TaskFile:
    """Parse a task file. `file` is its name in error messages. `inputs` replace those in the file."""
    try:
        root = Table(_toml(text), file=file)
    except tomllib.TOMLDecodeError as error:
        raise TaskInvalid(f"{file}: is not TOML, in which task files are written: {error}") from None
    root.allow(
        "goal", "key", "secrets", "files", "inputs", "output", "done_when", "world", "planner", "failures", "settings"
    )
    notation = Notation(
        inputs=_inputs(root.table("inputs"), inputs),
        secrets=tuple(name.partition("@")[0] for name in root.texts("secrets")),
        files=root.texts("files"),
    )
    world = _world(_required(root, "world"), notation)
    return TaskFile(
        task=Task(
            goal=notation.text(root, "goal"),
            world=world.name,
            inputs=notation.inputs,
            output=_output(root.table("output")),
            done_when=notation.condition(root.table("done_when")) if "done_when" in root else None,
            secrets=root.texts("secrets"),
            files=notation.files,
            key=notation.text(root, "key", ""),
        ),
        world=world,
        planner=_planner(root.table("planner"), notation) if "planner" in root else PlannerSpec(name="model"),
        settings=_settings(root),
    )


@lru_cache(maxsize=8)
def _toml(text: str) -> Mapping[str, object]:
    """Parse TOML. The result is cached, because a batch parses the same file for every row."""
    return tomllib.loads(text)


def _inputs(table: Table, instead: Pairs) -> Pairs:
    written = {name: table.scalar(name) for name in table}
    for name, _ in instead:
        if name not in written:
            raise table.wrong("", describe_unknown("input", name, written))
    return tuple((written | dict(instead)).items())


def _required(root: Table, key: str) -> Table:
    if key not in root:
        raise root.wrong("", f"there is no [{key}]; add one with at least a name")
    return root.table(key)


def _output(table: Table) -> tuple[Parameter, ...]:
    return tuple(_field(table, name) for name in table)


def _field(table: Table, name: str) -> Parameter:
    """A type's name alone, or a table with more."""
    if isinstance(table.values[name], str):
        return Parameter(name=name, type=_type(table, name))
    inner = table.table(name)
    inner.allow("type", "description", "required", "choices")
    wanted = _type(inner, "type") if "type" in inner else "string"
    required = inner.flag("required")
    choices = inner.scalars("choices")
    if not all(fits_type(choice, wanted) for choice in choices):
        raise inner.wrong("choices", f"each has to be {wanted}")
    description = inner.text("description", "")
    return Parameter(name=name, type=wanted, required=required is not False, choices=choices, description=description)


def _type(table: Table, key: str) -> ValueType:
    name = table.text(key)
    if name not in get_args(ValueType):
        raise table.wrong(key, describe_unknown("type", name, get_args(ValueType)))
    return cast(ValueType, name)


def _world(table: Table, notation: Notation) -> WorldSpec:
    table.allow("name", "process", "options", "faults")
    return WorldSpec(
        name=table.text("name"),
        options=notation.options(table.table("options")),
        faults=tuple(notation.options(fault) for fault in table.tables("faults")),
        process=bool(table.flag("process")),
    )


def _planner(table: Table, notation: Notation) -> PlannerSpec:
    name = table.text("name", "model")
    if name == "model":
        table.allow("name", "model", "base_url")
        return PlannerSpec(name=name, model=table.text("model", ""), base_url=table.text("base_url", ""))
    if name == "playbook":
        table.allow("name", "rules")
        rules = tuple(notation.rule(rule) for rule in table.tables("rules"))
        if not rules:
            raise table.wrong("rules", "a playbook needs at least one rule")
        return PlannerSpec(name=name, rules=rules)
    if name == "same_plan":
        table.allow("name", "steps", "final")
        steps = tuple(notation.draft(step, zone_is_pattern=False) for step in table.tables("steps"))
        if not steps:
            raise table.wrong("steps", "a plan needs at least one step")
        return PlannerSpec(name=name, steps=steps, final=table.flag("final"))
    if ":" not in name:
        raise table.wrong(
            "name", f"{describe_unknown('planner', name, PLANNERS)}; one of your own is 'package.module:factory'"
        )
    table.allow("name", "options")
    return PlannerSpec(name=name, options=notation.options(table.table("options")))


def _settings(root: Table) -> Mapping[str, object]:
    """With the rules about failures, which are a setting, and have tables of their own."""
    table = root.table("settings")
    try:
        check_names(table.values)
    except TaskInvalid as error:
        raise table.wrong("", str(error)) from None
    settings: dict[str, object] = {name: table.scalar(name) for name in table}
    if "failures" in root:
        settings["failures"] = tuple(dict(rule.values) for rule in root.tables("failures"))
    return settings
