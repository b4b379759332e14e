"""The registry of model roles: what each is called, which model answers for it, and what replaces it without a model.

A new role is a file with its prompt in `midcourse/llm/roles`, and one row here. `Agent`, the ports of local and durable runs,
the setting `role_models`, the reserves for calls and the documentation read this registry.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

from midcourse.config.model_settings import ROLE_NAMES
from midcourse.errors import TaskInvalid
from midcourse.policy.spelling import describe_unknown
from midcourse.ports.closeness import ClosenessJudge, WordOverlap
from midcourse.ports.detour import DetourPlanner
from midcourse.ports.extractor import Extractor
from midcourse.ports.judge import ProgressJudge, WordsSeen
from midcourse.ports.memory import Embedder
from midcourse.ports.monitor import Monitor, Rules
from midcourse.ports.outliner import Outliner
from midcourse.ports.planner import Planner
from midcourse.ports.reader import Reader
from midcourse.ports.reflector import Reflector, RuleReflector
from midcourse.ports.vault import Secrets
from midcourse.ports.verifier import Verifier

if TYPE_CHECKING:  # the settings read the names of the roles
    from midcourse.config.settings import Settings

RULES = "rules"
"""Stands for a model in the setting `role_models`: the role is filled without a model."""
EXTRA = "pip install 'midcourse[llm]'"


def _always(settings: "Settings") -> bool:
    return True


@dataclass(frozen=True)
class Role:
    """One row of the registry. Its adapter is in `midcourse.llm.roles.NAME`, with its prompt, `NAME.md`, beside it."""

    name: str
    """Its name in the setting `role_models`, in prompts and in the costs of calls."""
    adapter: str
    """The class that asks a model."""
    answer: str
    """The type of the model's answer, in the adapter's module. It is the same for every task."""
    _: KW_ONLY
    default: Callable[[], object] | None = None
    """Makes an object that fills the role without a model. A role without a model and without a default is left out."""
    wanted: Callable[["Settings"], bool] = _always
    """Whether a run with these settings uses the role."""
    by_rules: bool = False
    """Whether the default answers unless `role_models` names a model for the role: `model` alone does not count."""


_READER = Role("reader", "ModelReader", "ScreenAnswer", wanted=lambda settings: settings.vision)
_DETOUR_PLANNER = Role("detour_planner", "ModelDetourPlanner", "TryAnswer", wanted=lambda settings: settings.detours)
_CLOSENESS_JUDGE = Role(
    "closeness_judge",
    "ModelClosenessJudge",
    "ClosenessAnswer",
    default=WordOverlap,
    wanted=lambda settings: settings.detours,
)
_OUTLINER = Role("outliner", "ModelOutliner", "OutlineAnswer", wanted=lambda settings: settings.outline != "off")
_PROGRESS_JUDGE = Role(
    "judge", "ModelJudge", "JudgementAnswer", default=WordsSeen, wanted=lambda settings: settings.outline != "off"
)
_MONITOR = Role(
    "monitor",
    "ModelMonitor",
    "MonitorAnswer",
    default=Rules,
    wanted=lambda settings: settings.monitor != "off",
    by_rules=True,
)
_REFLECTOR = Role("reflector", "ModelReflector", "ReflectionAnswer", default=RuleReflector)


@dataclass(frozen=True, kw_only=True)
class OptionalRoles:
    """Every role except the planner. A role that is None is filled by the model in the settings, else by the default of its row."""

    verifier: Annotated[Verifier | None, Role("verifier", "ModelVerifier", "VerdictAnswer")] = None
    """Judges expectations that are written only in words."""
    extractor: Annotated[Extractor | None, Role("extractor", "ModelExtractor", "ValuesAnswer")] = None
    """Reads values that no skill returned."""
    reader: Annotated[Reader | None, _READER] = None
    """Finds zones in screenshots, if the setting `vision` is on."""
    detour_planner: Annotated[DetourPlanner | None, _DETOUR_PLANNER] = None
    """Finds a way to steps that are out of reach. Without one, they are planned around."""
    closeness_judge: Annotated[ClosenessJudge | None, _CLOSENESS_JUDGE] = None
    """Judges how near a detour's goal is; by default from the words on the screen."""
    outliner: Annotated[Outliner | None, _OUTLINER] = None
    """Names coarse goals, if the setting `outline` is not off."""
    progress_judge: Annotated[ProgressJudge | None, _PROGRESS_JUDGE] = None
    """Judges the progress of an outline; by default from the words on the screen."""
    monitor: Annotated[Monitor | None, _MONITOR] = None
    """Reviews the path, if the setting `monitor` is not off; by default with rules."""
    reflector: Annotated[Reflector | None, _REFLECTOR] = None
    """Explains failures to the planner; without a model, it uses rules."""


@dataclass(frozen=True, kw_only=True)
class RoleModels(OptionalRoles):
    """The roles of one run. A role is None if it has neither a model nor an object that the user passed."""

    planner: Annotated[Planner, Role("planner", "ModelPlanner", "PlanAnswer")]

    def as_ports(self) -> dict[str, Any]:
        """All roles as arguments of `Ports`, each with its default where it has no model."""
        return {port: self._or_default(port, role) for port, role in ROLES.items()}

    def _or_default(self, port: str, role: Role) -> object:
        given = getattr(self, port)
        return role.default() if given is None and role.default else given


_ROWS: dict[str, Role] = {
    port: get_args(hint)[1] for port, hint in get_type_hints(RoleModels, include_extras=True).items()
}
ROLES = {"planner": _ROWS.pop("planner"), **_ROWS}
"""Rows by the name of their field in `Agent` and `Ports`, the planner first."""
WITH_RULES = tuple(role.name for role in ROLES.values() if role.default)
"""Roles that can be filled without a model."""


def build_planner(model: str, settings: "Settings", base_url: str = "", secrets: Secrets = ()) -> Planner:
    """Build a planner that asks this model. `base_url` is its server, if it is not the one in the settings.

    Recordings leave out the `secrets`.
    """
    return build_roles(settings, model=model, base_url=base_url, secrets=secrets).planner


def build_roles(
    settings: "Settings",
    *,
    planner: Planner | None = None,
    model: str = "",
    base_url: str = "",
    secrets: Secrets = (),
    run: str = "",
) -> RoleModels:
    """Build a model client for every role that has a model. A `planner` replaces the planning model.

    The other parameters are those of `build_planner`. Raises `TaskInvalid` if a role that is needed has no model.
    """
    models = _models_by_role(model or settings.model, settings.role_models)
    if planner is None and not models["planner"]:
        raise TaskInvalid("no planner: pass planner=…, or a model such as model='openai:gpt-5' or MIDCOURSE_MODEL")
    if settings.detours and not models["detour_planner"]:
        raise TaskInvalid("detours: name the model that plans them, with model or role_models")
    if planner is not None and not any(models.values()):
        return RoleModels(planner=planner)
    try:
        from midcourse.agent.models.build import build_model_roles
    except ImportError as error:
        raise TaskInvalid(f"to work with a model, {EXTRA}: {error}") from error
    return build_model_roles(settings, models, planner=planner, base_url=base_url, secrets=secrets, run=run)


def _models_by_role(model: str, by_role: str) -> dict[str, str]:
    """Parse `verifier=openai:gpt-5-mini, reader=openai:gpt-5`; `model` answers for the other roles."""
    models = {role.name: "" if role.by_rules else model for role in ROLES.values()}
    for pair in filter(None, (part.strip() for part in by_role.split(","))):
        role, equals, name = (part.strip() for part in pair.partition("="))
        if not equals or not name:
            raise TaskInvalid(f"role_models: '{pair}' is written role=provider:name")
        if role not in models:
            raise TaskInvalid(f"role_models: {describe_unknown('role', role, ROLE_NAMES)}")
        models[role] = "" if name == RULES and role in WITH_RULES else name
    return models


def embedder_for(settings: "Settings") -> Embedder | None:
    """Build the embedder that the settings name; None means that failures are compared by their text.

    Raises `TaskInvalid` for an unknown name, or if the packages it needs are not installed.
    """
    name = settings.embedder
    if not name:
        return None
    if name.startswith("folder:"):
        raise TaskInvalid(
            f"embedder '{name}': models in a folder are not supported. Leave `embedder` empty to compare failures by their "
            "text, or name a provider's model such as openai:text-embedding-3-small (`embedder_base_url` for a local server)"
        )
    try:
        from midcourse.llm.embeddings import ModelEmbedder
    except ImportError as error:
        raise TaskInvalid(f"for embedder '{name}', pip install 'midcourse[llm]': {error}") from error
    return ModelEmbedder(name, settings.embedder_base_url)
