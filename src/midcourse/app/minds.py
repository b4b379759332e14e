"""Which models do what, as the settings have it. The only module that imports `llm`, and nothing imports it before it is used."""

import os
from pathlib import Path

from midcourse.app.settings import Settings
from midcourse.errors import TaskInvalid
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext
from midcourse.ports.vault import Secrets
from midcourse.redact import redactor

EXTRA = "pip install 'midcourse[llm]'"


def planner_by(
    model: str, settings: Settings, base_url: str = "", secrets: Secrets = (), wording: Path | None = None
) -> Planner:
    """A planner that asks this model. `base_url` is where it is served, if not where the settings say.

    `secrets` are kept out of what is recorded. `wording` is a prompt to use instead of the one that ships.
    """
    if not model:
        raise TaskInvalid("nobody plans: give a planner, or a model such as model='openai:gpt-5' or MIDCOURSE_MODEL")
    try:
        from midcourse.llm.cassette import Player, Recorder
        from midcourse.llm.mind import Mind
        from midcourse.llm.planner import ROLE, ModelPlanner
        from midcourse.llm.taping import models_on_tape
        from midcourse.llm.template import template_at
    except ImportError as error:
        raise TaskInvalid(f"to plan with a model, {EXTRA}: {error}") from error
    if settings.record and settings.cassette:
        raise TaskInvalid("record and cassette: what is played from a cassette cannot be recorded at once")
    mask = redactor((*secrets, *_keys()))
    recorder = Recorder(settings.record, mask) if settings.record else None
    player = Player(settings.cassette, mask) if settings.cassette else None
    base_url = base_url or settings.model_base_url
    models = models_on_tape(model, base_url=base_url, recorder=recorder, player=player)
    mind = Mind(models, answer_tokens=settings.answer_tokens)
    note = recorder.situation if recorder else None
    return ModelPlanner(mind, note=note, wording=template_at(wording, ROLE) if wording else None)


def recorded_situations(path: Path) -> tuple[tuple[PlanningContext, PlanDraft], ...]:
    """What planners were told when this cassette was recorded, and what they made of it."""
    from midcourse.llm.cassette import situations

    return tuple((situation.context, situation.draft) for situation in situations(path))


def _keys() -> Secrets:
    """A provider's error may quote the key that it turned away."""
    return tuple((name, value) for name, value in sorted(os.environ.items()) if name.endswith("_API_KEY") and value)
