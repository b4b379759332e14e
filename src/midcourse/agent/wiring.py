"""The composition root: builds the adapters that a job names, and no others. Additional parts for fleets are in `fleet`."""

import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from midcourse.agent.models import build_model_planner, build_roles
from midcourse.agent.roles import RoleModels
from midcourse.config.defaults import user, user_id
from midcourse.config.extras import INSTALL_CHROMIUM, NO_CHROMIUM
from midcourse.config.settings import Settings, format_value
from midcourse.config.task.check import check_against
from midcourse.config.task.file import PlannerSpec, TaskFile, WorldSpec, parse_task_file
from midcourse.config.task.modules import import_named
from midcourse.config.toml_table import read_text
from midcourse.config.variables import explicit_values
from midcourse.domain.argument import Pairs
from midcourse.domain.skill import Catalogue
from midcourse.domain.task import Task
from midcourse.errors import RunUnknown, TaskInvalid
from midcourse.files import atomic_write, private_folder
from midcourse.home.folder import JOB_FILE, run_folder
from midcourse.policy.spelling import describe_unknown, suggest_nearest
from midcourse.ports.driving import Telemetry
from midcourse.ports.planner import Planner
from midcourse.ports.vault import Secrets
from midcourse.ports.world import World
from midcourse.redact import redactor

if TYPE_CHECKING:
    from midcourse.worlds.browser import Browser
    from midcourse.worlds.desktop import Desktop
    from midcourse.worlds.host.wire import Handle
    from midcourse.worlds.remote import RemoteWorld

SIMULATED = {
    "arm": "midcourse.worlds.simulated.arm:Arm",
    "erp": "midcourse.worlds.simulated.erp:Erp",
    "notepad": "midcourse.worlds.simulated.desktop:Desktop",
    "quest": "midcourse.worlds.simulated.quest:Quest",
    "shop": "midcourse.worlds.simulated.shop:Shop",
    "web": "midcourse.worlds.simulated.web:Web",
    "windows": "midcourse.worlds.simulated.application:Windows",
}
"""Worlds that write a log of their effects, by default into the run's folder."""

WORLDS = {
    **SIMULATED,
    "browser": "midcourse.worlds.browser:Browser",
    "desktop": "midcourse.worlds.desktop:Desktop",
    "mcp": "midcourse.worlds.mcp:Mcp",
    "robot": "midcourse.worlds.robot:Robot",
}
"""Worlds that a task file can name."""

BUILT_IN = frozenset(WORLDS.values())

WORLD_METHODS = ("catalogue", "observe", "act", "commit_set")
"""Methods that every world has. A class without them is not a world."""

NOT_TOML = {".yaml": "YAML", ".yml": "YAML", ".json": "JSON"}
TASK_FILE_HINT = "`midcourse examples order` prints one"
_PACKAGED = Path(__file__).parent / "tasks"
_IN_CHECKOUT = Path(__file__).parents[3] / "examples" / "tasks"


@dataclass(frozen=True, kw_only=True)
class Job:
    """A task file with the settings and inputs of one start: everything that a run needs."""

    name: str
    source: str
    overrides: Mapping[str, str]
    inputs: Pairs = ()
    """Inputs that replace those in the file."""
    file: TaskFile
    settings: Settings
    by: str = ""
    """The name of the user who starts it."""
    by_id: str = ""
    """What identifies that user."""
    unfiled: bool = False
    """Whether it was built from a sentence on the command line, so that there is no task file yet."""
    sends: bool = False
    """Whether it must send something, although its task file does not say so."""

    @property
    def task(self) -> Task:
        limits, agreement = self.settings.limits(), self.settings.agreement()
        sends = self.sends or self.file.task.sends
        return replace(self.file.task, limits=limits, agreement=agreement, by=self.by, by_id=self.by_id, sends=sends)


def load_job(reference: str, overrides: Mapping[str, object]) -> Job:
    """Load a task file, or one of the tasks that ship with Midcourse by its name."""
    path = Path(reference)
    if not path.is_file():
        packaged = {task.stem: task for task in _task_files()}
        if reference not in packaged:
            meant = suggest_nearest(reference, packaged)
            raise TaskInvalid(
                f"there is no file '{reference}'; "
                + (f"did you mean {meant}?" if meant else f"tasks that ship: {', '.join(packaged)}")
            )
        path = packaged[reference]
    if path.suffix.lower() in NOT_TOML:
        raise TaskInvalid(
            f"{path.name} is {NOT_TOML[path.suffix.lower()]}; a task file is written in TOML ({TASK_FILE_HINT})"
        )
    return _with_cassette(parse_job(read_text(path), path.stem, overrides, file=path.name), path)


def _with_cassette(job: Job, path: Path) -> Job:
    """The job with the cassette that its file names, relative to the file, unless a model or a recording is requested.

    The cassette was recorded under the settings of the file, so these override those of the environment.
    """
    named = job.file.settings.get("cassette")
    if not isinstance(named, str) or "cassette" in job.overrides:
        return job
    if {"model", "record"} & job.overrides.keys():
        now: dict[str, object] = {"cassette": "none"}
    else:
        plain = {name: value for name, value in job.file.settings.items() if not isinstance(value, tuple)}
        now = {**plain, "cassette": str((path.parent / named).absolute())}
    return parse_job(job.source, job.name, {**now, **job.overrides}, file=path.name)


def parse_job(source: str, name: str, overrides: Mapping[str, object], *, file: str = "") -> Job:
    """Build a job from the text of a task file, started by this user. `file` is its name in error messages."""
    return replace(_build_job(name, source, overrides, file=file), by=user(), by_id=user_id())


def packaged_tasks() -> tuple[str, ...]:
    return tuple(task.stem for task in _task_files())


def _task_files() -> list[Path]:
    """The task files that ship: beside this module in an installed package, in the examples of a checkout."""
    folder = _PACKAGED if _PACKAGED.is_dir() else _IN_CHECKOUT
    return sorted(folder.glob("*.toml"))


def _build_job(name: str, source: str, overrides: Mapping[str, object], inputs: Pairs = (), file: str = "") -> Job:
    given = {name: value if isinstance(value, str) else format_value(value) for name, value in overrides.items()}
    read = parse_task_file(source, file or f"{name}.toml", inputs)
    settings = Settings.load(task=read.settings, overrides=given)
    return Job(name=name, source=source, overrides=given, inputs=inputs, file=read, settings=settings)


def with_inputs(job: Job, inputs: Pairs) -> Job:
    """The same job with other inputs."""
    return replace(job, inputs=inputs, file=parse_task_file(job.source, f"{job.name}.toml", inputs))


# --- the folder of a run


def save_job(job: Job, folder: Path) -> None:
    """Write the job into the run's folder, so that another process can resume the run by its name."""
    private_folder(folder)
    atomic_write(folder / JOB_FILE, encode_job(job))


def load_saved_job(folder: Path) -> Job:
    try:
        return decode_job((folder / JOB_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunUnknown(
            f"run {folder.name} was started by a program, not from a task file; continue it there with agent.resume_sync('{folder.name}'). "
            "If its task has a key, starting it again continues it, too"
        ) from None


def load_saved_name(folder: Path) -> str:
    """The name of the task that the run in this folder was started from, or an empty string. Does not parse the task."""
    try:
        return str(json.loads((folder / JOB_FILE).read_text(encoding="utf-8"))["name"])
    except (FileNotFoundError, ValueError, KeyError):
        return ""


def encode_job(job: Job) -> str:
    saved = {
        "name": job.name,
        "overrides": dict(job.overrides),
        "inputs": [list(pair) for pair in job.inputs],
        "source": job.source,
        "by": job.by,
        "by_id": job.by_id,
        "unfiled": job.unfiled,
        "sends": job.sends,
    }
    return json.dumps(saved)


def decode_job(text: str) -> Job:
    saved = json.loads(text)
    inputs = tuple((name, value) for name, value in saved["inputs"])
    job = _build_job(saved["name"], saved["source"], saved["overrides"], inputs)
    asked = {
        name: saved.get(name, default)
        for name, default in (("by", ""), ("by_id", ""), ("unfiled", False), ("sends", False))
    }
    return replace(job, **asked)


def make_portable(job: Job) -> Job:
    """The same job for another machine: settings from this environment become overrides of the job, except the home."""
    named = {name: format_value(value) for name, value in explicit_values(job.settings).items() if name != "home"}
    return replace(job, overrides=named)


def with_current_settings(job: Job, settings: Settings) -> Job:
    """The job as it was started, with the home of these settings and, if they set it, their step delay."""
    now = {"home": str(settings.home)}
    if "step_delay_seconds" in settings.model_fields_set:
        now["step_delay_seconds"] = str(settings.step_delay_seconds)
    return replace(job, settings=job.settings.with_overrides(now))


def load_run_job(settings: Settings, run_id: str) -> Job:
    return with_current_settings(load_saved_job(run_folder(settings, run_id)), settings)


# --- adapters


def model_settings(job: Job) -> Settings:
    """The settings of the job, with the address that the task gives for its model, if any."""
    where = job.file.planner.base_url
    return job.settings.with_overrides({"model_base_url": where}) if where else job.settings


def build_job_roles(job: Job, secrets: Secrets = (), run: str = "") -> RoleModels:
    """Build the models of the job's roles. Recordings and traces leave out the `secrets`."""
    spec = job.file.planner
    planner = None if spec.name == "model" else build_planner(spec)
    return build_roles(model_settings(job), planner=planner, model=spec.model, secrets=secrets, run=run)


def build_telemetry(run_id: str, task: Task, settings: Settings, secrets: Secrets) -> Telemetry | None:
    """OpenTelemetry for a run, if this program has imported it; it is never imported only for this."""
    if "opentelemetry.trace" not in sys.modules:
        return None
    from midcourse.telemetry import RunTelemetry

    return RunTelemetry(run_id, goal=task.goal, content=settings.trace_content, mask=redactor(secrets))


def check_job(job: Job) -> None:
    """Load and build what the job names, as far as this process can. Raises `TaskInvalid`."""
    check_against(job.file, expected_catalogue(job.file.world))
    build_job_roles(job)


def expected_catalogue(spec: WorldSpec) -> Catalogue:
    """The skills of a world in another process, as far as they are known before it is open."""
    kind = _load_world_class(world_class(spec))
    if spec.name not in WORLDS:
        return Catalogue()
    options = _build_options(spec)
    options.pop("effects", None)
    return _construct("world", spec.name, kind, options).catalogue()  # built only for this call, so no log is written


def world_class(spec: WorldSpec) -> str:
    """The class of a world as 'package.module:Class'."""
    if ":" not in spec.name and spec.name not in WORLDS:
        raise TaskInvalid(f"{describe_unknown('world', spec.name, WORLDS)}; write your own as 'package.module:Class'")
    return WORLDS.get(spec.name, spec.name)


def world_classes(names: Iterable[str]) -> tuple[str, ...]:
    """The classes of these worlds as 'package.module:Class'. Raises `TaskInvalid` if one cannot be loaded."""
    places = tuple(world_class(WorldSpec(name=name)) for name in names)
    for place in places:
        _load_world_class(place)
    return places


def _build_options(spec: WorldSpec, folder: Path | None = None) -> dict[str, object]:
    options = {**spec.options, **({"faults": [dict(fault) for fault in spec.faults]} if spec.faults else {})}
    if folder is not None:
        for option, name in getattr(_load_name("world", world_class(spec)), "keeps", {}).items():
            options.setdefault(option, str((folder / name).absolute()))
    return options


def build_world(spec: WorldSpec, folder: Path) -> World:
    if spec.process:
        return build_remote_world(spec, folder)
    return _construct("world", spec.name, _load_world_class(world_class(spec)), _build_options(spec, folder))


async def require_chromium() -> None:
    """Raise `TaskInvalid`, with the command to type, if there is no Chromium to start."""
    from midcourse.worlds.browser.chromium import find_chromium

    if await find_chromium() is None:
        raise TaskInvalid(f"{NO_CHROMIUM}. Type: {INSTALL_CHROMIUM}")


def build_browser(address: str, options: Mapping[str, object]) -> "Browser":
    """A browser at this address, for looking only."""
    from midcourse.worlds.browser import Browser

    return _construct("world", "browser", Browser, {"start": address, **options})


def build_desktop(program: str, options: Mapping[str, object]) -> "Desktop":
    """A desktop for looking only: this program on a separate display, or the user's display if none is named."""
    from midcourse.worlds.desktop import Desktop

    if program:
        return _construct("world", "desktop", Desktop, {"start": program, **options})
    display = os.environ.get("DISPLAY", "")
    if not display:
        raise TaskInvalid("there is no display here (DISPLAY is not set); name a program to start on one of its own")
    return _construct("world", "desktop", Desktop, {"display": display, **options})


def build_remote_world(spec: WorldSpec, folder: Path, *, host: "Handle | None" = None, key: str = "") -> "RemoteWorld":
    """A world that outlives the worker: the session with this key at the host, or a separate process."""
    from midcourse.worlds.remote import RemoteWorld

    where = world_class(spec)
    if host is not None:  # the host chooses the folder for what a session writes
        return RemoteWorld(where, options=_inline_policy_file(spec), host=host, key=key)
    return RemoteWorld(where, options=_build_options(spec, folder), folder=folder / "world")


def _inline_policy_file(spec: WorldSpec) -> dict[str, object]:
    """The options with the contents of the policy file in place of its name: the host does not have the file."""
    options = _build_options(spec)
    if spec.name == "browser" and isinstance(options.get("origins"), str):
        from midcourse.worlds.browser.egress.policy import read_policy_tables

        options["origins"] = dict(read_policy_tables(str(options["origins"])))
    return options


def build_planner(spec: PlannerSpec, settings: Settings | None = None, secrets: Secrets = ()) -> Planner:
    """Build the planner. `settings` name the model if the task does not. Recordings leave out the `secrets`."""
    if spec.name == "model":
        settings = settings or Settings.load()
        return build_model_planner(spec.model or settings.model, settings, spec.base_url, secrets)
    if spec.name == "playbook":
        from midcourse.planners import Playbook

        return Playbook(spec.rules)
    if spec.name == "same_plan":
        from midcourse.planners import SamePlan

        return SamePlan(spec.steps, final=spec.final)
    return _construct("planner", spec.name, _load_name("planner", spec.name), spec.options)


def _construct(what: str, name: str, make: Any, options: Mapping[str, object]) -> Any:
    try:
        return make(**options)
    except TypeError as error:
        raise TaskInvalid(f"{what} '{name}' does not take these options: {error}") from error


def _load_world_class(where: str) -> Any:
    """Load the class of a world. Anything else is refused before it is called: a task must not run it by naming it."""
    found = _load_name("world", where)
    missing = [name for name in WORLD_METHODS if not callable(getattr(found, name, None))]
    if missing:
        raise TaskInvalid(f"world '{where}' is not a world: it has no {', '.join(missing)}; see docs/your-own-world.md")
    return found


def _load_name(what: str, where: str) -> Any:
    module, _, name = where.partition(":")
    try:
        return getattr(import_named(module), name)
    except (ImportError, AttributeError) as error:
        raise TaskInvalid(f"{what} '{where}' cannot be loaded: {error}") from error
