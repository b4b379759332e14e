"""The registry of model roles: what each is called, which model answers for it, and what replaces it without a model.

A new role is a file with its prompt in `midcourse/llm/roles`, and one row here. `Agent`, the ports of local and durable runs,
the setting `role_models`, the reserves for calls and the documentation read this registry.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

from midcourse.config.settings import Settings
from midcourse.ports.closeness import ClosenessJudge, WordOverlap
from midcourse.ports.detour import DetourPlanner
from midcourse.ports.extractor import Extractor
from midcourse.ports.judge import ProgressJudge, WordsSeen
from midcourse.ports.monitor import Monitor, Rules
from midcourse.ports.outliner import Outliner
from midcourse.ports.planner import Planner
from midcourse.ports.reader import Reader
from midcourse.ports.reflector import Reflector, RuleReflector
from midcourse.ports.verifier import Verifier


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
    wanted: Callable[[Settings], bool] = lambda settings: True
    """Whether a run with these settings uses the role."""
    by_rules: bool = False
    """Whether the default answers unless `role_models` names a model for the role: `model` alone does not count."""


ROLES: dict[str, Role] = {
    "planner": Role("planner", "ModelPlanner", "PlanAnswer"),
    "verifier": Role("verifier", "ModelVerifier", "VerdictAnswer"),
    "extractor": Role("extractor", "ModelExtractor", "ValuesAnswer"),
    "reader": Role("reader", "ModelReader", "ScreenAnswer", wanted=lambda settings: settings.vision),
    "detour_planner": Role(
        "detour_planner", "ModelDetourPlanner", "TryAnswer", wanted=lambda settings: settings.detours
    ),
    "closeness_judge": Role(
        "closeness_judge",
        "ModelClosenessJudge",
        "ClosenessAnswer",
        default=WordOverlap,
        wanted=lambda settings: settings.detours,
    ),
    "outliner": Role("outliner", "ModelOutliner", "OutlineAnswer", wanted=lambda settings: settings.outline != "off"),
    "progress_judge": Role(
        "judge", "ModelJudge", "JudgementAnswer", default=WordsSeen, wanted=lambda settings: settings.outline != "off"
    ),
    "monitor": Role(
        "monitor",
        "ModelMonitor",
        "MonitorAnswer",
        default=Rules,
        wanted=lambda settings: settings.monitor != "off",
        by_rules=True,
    ),
    "reflector": Role("reflector", "ModelReflector", "ReflectionAnswer", default=RuleReflector),
}
"""Rows by the name of their field in `Agent` and `Ports`, the planner first."""
WITH_RULES = tuple(role.name for role in ROLES.values() if role.default)
"""Roles that can be filled without a model."""


@dataclass(frozen=True, kw_only=True)
class OptionalRoles:
    """Every role except the planner. A role that is None is filled by the model in the settings, else by the default of its row."""

    verifier: Verifier | None = None
    """Judges expectations that are written only in words."""
    extractor: Extractor | None = None
    """Reads values that no skill returned."""
    reader: Reader | None = None
    """Finds zones in screenshots, if the setting `vision` is on."""
    detour_planner: DetourPlanner | None = None
    """Finds a way to steps that are out of reach. Without one, they are planned around."""
    closeness_judge: ClosenessJudge | None = None
    """Judges how near a detour's goal is; by default from the words on the screen."""
    outliner: Outliner | None = None
    """Names coarse goals, if the setting `outline` is not off."""
    progress_judge: ProgressJudge | None = None
    """Judges the progress of an outline; by default from the words on the screen."""
    monitor: Monitor | None = None
    """Reviews the path, if the setting `monitor` is not off; by default with rules."""
    reflector: Reflector | None = None
    """Explains failures to the planner; without a model, it uses rules."""


@dataclass(frozen=True, kw_only=True)
class RoleModels(OptionalRoles):
    """The roles of one run. A role is None if it has neither a model nor an object that the user passed."""

    planner: Planner

    def as_ports(self) -> dict[str, Any]:
        """All roles as arguments of `Ports`, each with its default where it has no model."""
        ports = {port: getattr(self, port) for port in ROLES}
        for port, role in ROLES.items():
            if ports[port] is None and role.default:
                ports[port] = role.default()
        return ports
