"""Gives each role its model. Imported only when a model is to be asked."""

import os
from collections.abc import Mapping
from pathlib import Path

from midcourse.app.models.roles import Minds
from midcourse.app.settings.run import Settings
from midcourse.errors import TaskInvalid
from midcourse.llm.cassette import Player, Recorder
from midcourse.llm.closeness_judge import ModelClosenessJudge
from midcourse.llm.detour_planner import ModelDetourPlanner
from midcourse.llm.extractor import ModelExtractor
from midcourse.llm.judge import ModelJudge
from midcourse.llm.model_client import Mind
from midcourse.llm.monitor import ModelMonitor
from midcourse.llm.outliner import ModelOutliner
from midcourse.llm.planner import ROLE, ModelPlanner
from midcourse.llm.reader import ModelReader
from midcourse.llm.recording import models_on_tape
from midcourse.llm.reflector import ModelReflector
from midcourse.llm.template import template_at
from midcourse.llm.tracing import Tracing
from midcourse.llm.verifier import ModelVerifier
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

    def mind(role: str) -> Mind:
        models = models_on_tape(names[role], base_url=where, recorder=recorder, player=player)
        return Mind(models, answer_tokens=settings.answer_tokens, tracing=tracing)

    note, told = recorder.situation if recorder else None, template_at(wording, ROLE) if wording else None
    outlines = settings.outline != "off"
    return Minds(
        planner=planner or ModelPlanner(mind("planner"), note=note, wording=told),
        verifier=ModelVerifier(mind("verifier")) if names["verifier"] else None,
        extractor=ModelExtractor(mind("extractor")) if names["extractor"] else None,
        reader=ModelReader(mind("reader")) if settings.vision and names["reader"] else None,
        detour_planner=ModelDetourPlanner(mind("detour_planner")) if settings.detours else None,
        closeness_judge=ModelClosenessJudge(mind("closeness_judge"))
        if settings.detours and names["closeness_judge"]
        else None,
        outliner=ModelOutliner(mind("outliner")) if outlines and names["outliner"] else None,
        judge=ModelJudge(mind("judge")) if outlines and names["judge"] else None,
        monitor=ModelMonitor(mind("monitor")) if settings.monitor != "off" and names["monitor"] else None,
        reflector=ModelReflector(mind("reflector")) if names["reflector"] else None,
    )


def _keys() -> Secrets:
    """A provider's error may quote the key that it turned away."""
    return tuple((name, value) for name, value in sorted(os.environ.items()) if name.endswith("_API_KEY") and value)
