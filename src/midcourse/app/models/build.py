"""Gives each role its model. Imported only when a model is to be asked."""

import os
from collections.abc import Mapping
from pathlib import Path

from midcourse.app.models.roles import Minds
from midcourse.app.settings.run import Settings
from midcourse.errors import TaskInvalid
from midcourse.llm.cassette import Player, Recorder
from midcourse.llm.model_client import ModelClient
from midcourse.llm.prompt.template import template_at
from midcourse.llm.recording import models_with_cassette
from midcourse.llm.roles.closeness_judge import ModelClosenessJudge
from midcourse.llm.roles.detour_planner import ModelDetourPlanner
from midcourse.llm.roles.extractor import ModelExtractor
from midcourse.llm.roles.judge import ModelJudge
from midcourse.llm.roles.monitor import ModelMonitor
from midcourse.llm.roles.outliner import ModelOutliner
from midcourse.llm.roles.planner import ROLE, ModelPlanner
from midcourse.llm.roles.reader import ModelReader
from midcourse.llm.roles.reflector import ModelReflector
from midcourse.llm.roles.verifier import ModelVerifier
from midcourse.llm.tracing import Tracing
from midcourse.ports.planner import Planner
from midcourse.ports.vault import Secrets
from midcourse.redact import redactor


def model_minds(
    settings: Settings,
    names: Mapping[str, str],
    *,
    planner: Planner | None,
    base_url: str,
    secrets: Secrets,
    wording: Path | None,
    run: str,
) -> Minds:
    """`names` has the models of every role, or none. A `planner` that is given plans in place of a model."""
    if settings.record and settings.cassette:
        raise TaskInvalid("record and cassette: what is played from a cassette cannot be recorded at once")
    mask = redactor((*secrets, *_keys()))
    recorder = Recorder(settings.record, mask) if settings.record else None
    player = Player(settings.cassette, mask) if settings.cassette else None
    where = base_url or settings.model_base_url
    tracing = Tracing(run=run, content=settings.trace_content, mask=mask)

    def client(role: str) -> ModelClient:
        models = models_with_cassette(names[role], base_url=where, recorder=recorder, player=player)
        return ModelClient(models, answer_tokens=settings.answer_tokens, tracing=tracing)

    note, told = recorder.situation if recorder else None, template_at(wording, ROLE) if wording else None
    outlines = settings.outline != "off"
    return Minds(
        planner=planner or ModelPlanner(client("planner"), note=note, wording=told),
        verifier=ModelVerifier(client("verifier")) if names["verifier"] else None,
        extractor=ModelExtractor(client("extractor")) if names["extractor"] else None,
        reader=ModelReader(client("reader")) if settings.vision and names["reader"] else None,
        detour_planner=ModelDetourPlanner(client("detour_planner")) if settings.detours else None,
        closeness_judge=ModelClosenessJudge(client("closeness_judge"))
        if settings.detours and names["closeness_judge"]
        else None,
        outliner=ModelOutliner(client("outliner")) if outlines and names["outliner"] else None,
        judge=ModelJudge(client("judge")) if outlines and names["judge"] else None,
        monitor=ModelMonitor(client("monitor")) if settings.monitor != "off" and names["monitor"] else None,
        reflector=ModelReflector(client("reflector")) if names["reflector"] else None,
    )


def _keys() -> Secrets:
    """A provider's error may quote the key that it turned away."""
    return tuple((name, value) for name, value in sorted(os.environ.items()) if name.endswith("_API_KEY") and value)
