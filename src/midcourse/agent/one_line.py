"""`await midcourse.do(...)` and `midcourse do`: a task from one sentence, the page where it begins, and a model."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, cast

from midcourse.agent.agent import build_agent
from midcourse.agent.start import new_run_id
from midcourse.agent.typed_result import with_type
from midcourse.agent.wiring import Job, require_chromium, save_job
from midcourse.config.defaults import DenyAll, EnvironmentVault, check_secrets, user, user_id
from midcourse.config.extras import require_extras
from midcourse.config.output import parse_fields, read_output_schema, read_output_type
from midcourse.config.settings import Settings, format_value
from midcourse.config.task.file import PlannerSpec, TaskFile, WorldSpec
from midcourse.config.toml_text import toml_text
from midcourse.domain.approval import Decision, Question
from midcourse.domain.argument import Scalar
from midcourse.domain.budget import Approvals
from midcourse.domain.result import Result
from midcourse.domain.skill import Parameter
from midcourse.domain.task import Task
from midcourse.errors import TaskInvalid
from midcourse.home.folder import run_folder
from midcourse.ports.approver import Approver
from midcourse.signatures import takes
from midcourse.terminal.approver import TerminalApprover

SAVED = """\
# Without this, 'done' is what the planner claims, unless a probe found the effect. Which page shows that it is done?
# [done_when]
# surface_matches = "Thank you*"
"""
LONGEST_NAME = 24
_DOLLAR = re.compile(r"\$(?:input\.(\w+))?")
"""A dollar sign, or a reference to an input."""


@dataclass(frozen=True)
class OneLineTask:
    """A goal and its options: the arguments of `do`, from Python and from the command line."""

    goal: str
    _: KW_ONLY
    at: str
    """The page where it begins."""
    model: str = ""
    """The model that plans; if empty, the model in the settings."""
    inputs: Mapping[str, Scalar] | None = None
    secrets: Iterable[str] = ()
    """Names of secrets, each with `@` and the origin where it may be typed; by default that is the origin of `at`."""
    files: Iterable[str | Path] = ()
    """Files that may be uploaded. The model knows them as `$file.NAME`."""
    uploads: str | Path = ""
    """A folder with files that may be uploaded."""
    origins: str | Mapping[str, object] | None = None
    """A policy file, or the contents of one."""
    max_cost: float | None = None
    """The maximum cost in US dollars."""
    approvals: Approvals | None = None
    headed: bool = False
    output: Iterable[str | Parameter] = ()
    """The values to return: `name:type` for each, such as `total:number`."""
    output_schema: str | Path = ""
    """A file with the JSON schema of the values to return."""
    output_type: Any = None
    """A Pydantic model, a dataclass or a TypedDict: the type of `result.output`."""
    sends: bool = False
    """Whether it is done only if something was sent."""
    record: str | Path | None = None
    """A file in which to record what models are asked and answer."""
    approver: Approver | None = None
    run_id: str = ""


@takes(OneLineTask)
async def do(task: OneLineTask) -> Result:
    """Let a model carry out a goal in a browser, which starts at the page `at`.

    `secrets` are names, such as `password` or `password@https://shop.example`; their values are in the environment
    (`MIDCOURSE_SECRET_PASSWORD`). Without an `approver` you are asked in the terminal, and without a terminal nothing irreversible
    is sent. With `sends` a run that sent nothing but a sign-in fails. The approver `DryRun()` drops the first irreversible request
    and keeps it in `dropped`. With `output`, `output_schema` or `output_type` the result has values, as `result.output`. The run is stored in the home: `midcourse show`, `resume` and `init task --from` find it.
    """
    approver = task.approver or TerminalApprover()
    job = job_for(task)
    await require_chromium()
    run_id = task.run_id or new_run_id()
    folder = run_folder(job.settings, run_id)
    live = build_agent(job, folder, approver).start(job.task, run_id=run_id)
    save_job(job, folder)
    result = await live.result()
    return result if task.output_type is None else with_type(result, task.output_type)


def job_for(one_line: OneLineTask, overrides: Mapping[str, str] | None = None) -> Job:
    """Build the job of this task. Raises `TaskInvalid` if it cannot be run, for example because a secret is missing.

    Its source is the same as a task file: the run's folder keeps it, and `midcourse init task --from` prints it.
    """
    require_extras("`do`", "browser", "llm")
    from midcourse.worlds.browser.egress.policy import read_policy_tables

    if not one_line.goal.strip():
        raise TaskInvalid('give a goal, such as midcourse do "Order one desk lamp" --at https://shop.example')
    inputs = {name: value for name, value in (one_line.inputs or {}).items() if value is not None}
    start = _parse_origin(one_line.at, "the start URL")
    secrets = _bind_secrets(one_line.secrets, start)
    elsewhere = {origin: {"allowed": True} for origin in secrets.values() if origin != start}
    origins = {**elsewhere, **read_policy_tables(one_line.origins)}
    files, uploads = _check_files(one_line.files, one_line.uploads)
    options = {"start": one_line.at, "headed": one_line.headed, "origins": origins, "uploads": uploads}
    options = {name: value for name, value in options.items() if value}
    settings = {"max_cost_usd": one_line.max_cost, "approvals": one_line.approvals}
    settings = {name: value for name, value in settings.items() if value is not None}
    output = _read_output(one_line)
    bound = [f"{name}@{origin}" for name, origin in secrets.items()]

    def fill_in(found: re.Match[str]) -> str:
        return format_value(inputs[found[1]]) if found[1] in inputs else found[0]

    file = TaskFile(
        task=Task(
            goal=_DOLLAR.sub(fill_in, one_line.goal),
            world="browser",
            inputs=inputs,
            secrets=bound,
            files=files,
            sends=one_line.sends,
            output=output,
        ),
        world=WorldSpec(name="browser", options=options),
        planner=PlannerSpec(name="model", model=one_line.model),
        settings=settings,
    )
    source = {
        "goal": _escape(one_line.goal, inputs),
        "sends": one_line.sends or None,
        "secrets": bound or None,
        "files": [*files] or None,
        "inputs": inputs,
        "output": {field.name: _escape(_write_field(field)) for field in output},
        "world": {"name": "browser", "options": _escape(options)},
        "planner": {"model": one_line.model or None},
        "settings": settings,
    }
    given = {name: str(value) for name, value in settings.items()} | dict(overrides or {})
    if one_line.record:  # an absolute path, because the run may be resumed in another folder
        given["record"] = str(Path(one_line.record).absolute())
    if isinstance(one_line.approver, DryRun):  # it is asked about everything irreversible, so that it can drop it
        given |= {"approvals": "always", "approval_policy": "none"}
    job = Job(
        name=_derive_name(one_line.goal),
        source=f"{toml_text(source)}\n{SAVED}",
        overrides=given,
        file=file,
        settings=Settings.load(task=settings, overrides=given),
        by=user(),
        by_id=user_id(),
        unfiled=True,
    )
    if not (one_line.model or job.settings.model):
        raise TaskInvalid("no model is named to plan: name one, such as openai:gpt-5, with --model or MIDCOURSE_MODEL")
    check_secrets(job.task.secrets, EnvironmentVault())
    return job


def _check_files(named: Iterable[str | Path], folder: str | Path) -> tuple[tuple[str, ...], str]:
    """The absolute paths of the files and of the folder: the run may be resumed in another one. Raises `TaskInvalid` for one that is missing."""
    files, uploads = [Path(file).absolute() for file in named], Path(folder).absolute() if folder else None
    if uploads and not uploads.is_dir():
        raise TaskInvalid(f"--files {folder}: there is no such folder")
    for file in files:
        if not file.is_file():
            raise TaskInvalid(f"--file {file}: there is no such file")
        if uploads and not file.resolve().is_relative_to(uploads.resolve()):
            raise TaskInvalid(f"--file {file}: with --files {folder}, only files in that folder may be uploaded")
    return tuple(map(str, dict.fromkeys(files))), str(uploads or "")


def _read_output(one_line: OneLineTask) -> tuple[Parameter, ...]:
    given = [*one_line.output]
    schema, kind = one_line.output_schema, one_line.output_type
    if sum(map(bool, (given, schema, kind is not None))) > 1:
        raise TaskInvalid("say once what is to be returned: as output, as output_schema or as output_type")
    if kind is not None:
        return read_output_type(kind)
    if schema:
        try:
            return read_output_schema(Path(schema).read_text(encoding="utf-8"), str(schema))
        except (OSError, UnicodeDecodeError) as error:
            raise TaskInvalid(f"output schema {schema} cannot be read: {error}") from None
    made = tuple(each for each in given if isinstance(each, Parameter))
    return parse_fields(each for each in given if isinstance(each, str)) + made


def _write_field(field: Parameter) -> dict[str, object]:
    """The field as a table of a task file."""
    more = {"required": None if field.required else False, "choices": [*field.choices] or None}
    written = {"type": field.type, "description": field.description or None, **more}
    return {name: value for name, value in written.items() if value is not None}


class DryRun:
    """An approver that lets nothing irreversible happen: the first such request is kept in `dropped`, and the run ends.

    Any other question goes to `otherwise`; without one it stays unanswered.
    """

    def __init__(self, otherwise: Approver | None = None) -> None:
        self.otherwise: Approver = otherwise or DenyAll()
        self.dropped: Question | None = None

    async def ask(self, question: Question) -> Decision | None:
        irreversible = any(consequence.effect == "irreversible" for consequence in question.consequences)
        if not irreversible or question.about not in ("approve", "repeat"):
            return await self.otherwise.ask(question)
        self.dropped = question
        return Decision(verdict="rejected", by="the dry run")


def _bind_secrets(secrets: Iterable[str], start: str) -> dict[str, str]:
    """Find the origin of each secret, by name; `start` for those that name none."""
    found: dict[str, str] = {}
    for secret in secrets:
        name, at, where = secret.partition("@")
        if not re.fullmatch(r"[A-Za-z]\w*", name) or (at and not where):
            example = "password, or password@https://shop.example"
            raise TaskInvalid(f"secret '{secret}': write its name, and after an @ the origin it belongs to: {example}")
        found[name] = _parse_origin(where, f"secret '{secret}'") if at else start
    return found


def _parse_origin(address: str, what: str) -> str:
    from midcourse.worlds.browser.egress.address import AddressRefused, parse

    try:
        return parse(address).origin
    except AddressRefused as refused:
        raise TaskInvalid(f"{what}: {refused}") from None


def _escape(value: object, inputs: Container[str] = ()) -> object:
    """Double each dollar sign in the texts of a value, as task files need it, except in references to these inputs."""
    match value:
        case str():
            return _DOLLAR.sub(lambda found: found[0] if found[1] in inputs else f"${found[0]}", value)
        case Mapping():
            return {name: _escape(inner) for name, inner in cast(Mapping[str, object], value).items()}
        case list() | tuple():
            return [_escape(inner) for inner in cast(Sequence[object], value)]
        case _:
            return value


def _derive_name(goal: str) -> str:
    """A file name for a goal: 'Order one desk lamp' becomes order-one-desk-lamp."""
    words = re.sub(r"[^a-z0-9]+", "-", goal.lower()).strip("-")
    short = words if len(words) <= LONGEST_NAME else words[:LONGEST_NAME].rpartition("-")[0] or words[:LONGEST_NAME]
    return short or "task"
