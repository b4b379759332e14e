"""Which models do what, as the settings have it. The only module that imports `llm`, and only when a model is to be asked."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from midcourse.app.settings import Settings
from midcourse.app.spelling import unknown
from midcourse.errors import TaskInvalid
from midcourse.ports.closeness import ClosenessJudge
from midcourse.ports.detour import DetourPlanner
from midcourse.ports.extractor import Extractor
from midcourse.ports.judge import ProgressJudge
from midcourse.ports.monitor import Monitor
from midcourse.ports.outliner import Outliner
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext
from midcourse.ports.reader import Reader
from midcourse.ports.reflector import Reflector
from midcourse.ports.vault import Secrets
from midcourse.ports.verifier import Verifier
from midcourse.redact import redactor

if TYPE_CHECKING:
    from midcourse.llm.mind import Mind

EXTRA = "pip install 'midcourse[llm]'"
ROLES = (
    "planner",
    "verifier",
    "extractor",
    "reader",
    "detour_planner",
    "closeness_judge",
    "outliner",
    "judge",
    "monitor",
    "reflector",
)
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
        from midcourse.llm.cassette import Player, Recorder
        from midcourse.llm.closeness_judge import ModelClosenessJudge
        from midcourse.llm.detour_planner import ModelDetourPlanner
        from midcourse.llm.extractor import ModelExtractor
        from midcourse.llm.judge import ModelJudge
        from midcourse.llm.mind import Mind
        from midcourse.llm.monitor import ModelMonitor
        from midcourse.llm.outliner import ModelOutliner
        from midcourse.llm.planner import ROLE, ModelPlanner
        from midcourse.llm.reader import ModelReader
        from midcourse.llm.reflector import ModelReflector
        from midcourse.llm.taping import models_on_tape
        from midcourse.llm.template import template_at
        from midcourse.llm.tracing import Tracing
        from midcourse.llm.verifier import ModelVerifier
    except ImportError as error:
        raise TaskInvalid(f"to work with a model, {EXTRA}: {error}") from error
    if settings.record and settings.cassette:
        raise TaskInvalid("record and cassette: what is played from a cassette cannot be recorded at once")
    mask = redactor((*secrets, *_keys()))
    recorder = Recorder(settings.record, mask) if settings.record else None
    player = Player(settings.cassette, mask) if settings.cassette else None
    where = base_url or settings.model_base_url
    tracing = Tracing(run=run, content=settings.trace_content, mask=mask)

    def mind(role: str) -> "Mind":
        models = models_on_tape(names[role], base_url=where, recorder=recorder, player=player)
        return Mind(models, answer_tokens=settings.answer_tokens, tracing=tracing)

    note, told = recorder.situation if recorder else None, template_at(wording, ROLE) if wording else None
    return Minds(
        planner=planner or ModelPlanner(mind("planner"), note=note, wording=told),
        verifier=ModelVerifier(mind("verifier")) if names["verifier"] else None,
        extractor=ModelExtractor(mind("extractor")) if names["extractor"] else None,
        reader=ModelReader(mind("reader")) if settings.vision and names["reader"] else None,
        detour_planner=ModelDetourPlanner(mind("detour_planner")) if settings.detours else None,
        closeness_judge=ModelClosenessJudge(mind("closeness_judge"))
        if settings.detours and names["closeness_judge"]
        else None,
        outliner=ModelOutliner(mind("outliner")) if names["outliner"] and settings.outline != "off" else None,
        judge=ModelJudge(mind("judge")) if names["judge"] and settings.outline != "off" else None,
        monitor=ModelMonitor(mind("monitor")) if names["monitor"] and settings.monitor != "off" else None,
        reflector=ModelReflector(mind("reflector")) if names["reflector"] else None,
    )


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


def _keys() -> Secrets:
    """A provider's error may quote the key that it turned away."""
    return tuple((name, value) for name, value in sorted(os.environ.items()) if name.endswith("_API_KEY") and value)
