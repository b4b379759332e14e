"""Who thinks for a run, by role, as the settings have it."""

from dataclasses import dataclass, fields
from pathlib import Path

from midcourse.app.settings.run import Settings
from midcourse.errors import TaskInvalid
from midcourse.policy.spelling import unknown
from midcourse.ports.closeness import ClosenessJudge
from midcourse.ports.detour import DetourPlanner
from midcourse.ports.embedder import Embedder
from midcourse.ports.extractor import Extractor
from midcourse.ports.judge import ProgressJudge
from midcourse.ports.monitor import Monitor
from midcourse.ports.outliner import Outliner
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext
from midcourse.ports.reader import Reader
from midcourse.ports.reflector import Reflector
from midcourse.ports.vault import Secrets
from midcourse.ports.verifier import Verifier

EXTRA = "pip install 'midcourse[llm]'"
BY_RULES = ("monitor", "reflector")
"""Roles that no model has unless it is named for them: rules do it for nothing."""


@dataclass(frozen=True, kw_only=True)
class Minds:
    """Who thinks for a run, by role. Whom nobody named is not there."""

    planner: Planner
    verifier: Verifier | None = None
    extractor: Extractor | None = None
    reader: Reader | None = None
    detour_planner: DetourPlanner | None = None
    closeness_judge: ClosenessJudge | None = None
    outliner: Outliner | None = None
    judge: ProgressJudge | None = None
    monitor: Monitor | None = None
    reflector: Reflector | None = None


ROLES = tuple(role.name for role in fields(Minds))


def planner_by(
    model: str, settings: Settings, base_url: str = "", secrets: Secrets = (), wording: Path | None = None
) -> Planner:
    """A planner that asks this model. `base_url` is where it is served, if not where the settings say.

    `secrets` are kept out of what is recorded. `wording` is a prompt to use instead of the one that ships.
    """
    return minds_by(settings, model=model, base_url=base_url, secrets=secrets, wording=wording).planner


def minds_by(
    settings: Settings,
    *,
    planner: Planner | None = None,
    model: str = "",
    base_url: str = "",
    secrets: Secrets = (),
    wording: Path | None = None,
    run: str = "",
) -> Minds:
    """The models that are named do what nobody else does, for this run. The rest is as for `planner_by`."""
    names = _names(model or settings.model, settings.role_models)
    if planner is None and not names["planner"]:
        raise TaskInvalid("nobody plans: give a planner, or a model such as model='openai:gpt-5' or MIDCOURSE_MODEL")
    if settings.detours and not names["detour_planner"]:
        raise TaskInvalid("detours: name the model that plans them, with model or role_models")
    if planner is not None and not any(names.values()):
        return Minds(planner=planner)
    try:
        from midcourse.app.models.build import model_minds
    except ImportError as error:
        raise TaskInvalid(f"to work with a model, {EXTRA}: {error}") from error
    return model_minds(settings, names, planner=planner, base_url=base_url, secrets=secrets, wording=wording, run=run)


def _names(model: str, by_role: str) -> dict[str, str]:
    """Which models each role asks: `verifier=openai:gpt-5-mini, reader=openai:gpt-5` over `model`."""
    names: dict[str, str] = {role: "" if role in BY_RULES else model for role in ROLES}
    for pair in filter(None, (part.strip() for part in by_role.split(","))):
        role, equals, name = (part.strip() for part in pair.partition("="))
        if not equals or not name:
            raise TaskInvalid(f"role_models: '{pair}' is written role=provider:name")
        if role not in names:
            raise TaskInvalid(f"role_models: {unknown('role', role, ROLES)}")
        names[role] = name
    return names


def recorded_situations(path: Path) -> tuple[tuple[PlanningContext, PlanDraft], ...]:
    """What planners were told when this cassette was recorded, and what they made of it."""
    from midcourse.llm.cassette import situations

    return tuple((situation.context, situation.draft) for situation in situations(path))


def embedder_for(settings: Settings) -> Embedder | None:
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
