"""Which models do what, as the settings have it. The only module that imports `llm`, and nothing imports it before it is used."""

from midcourse.app.settings import Settings
from midcourse.errors import TaskInvalid
from midcourse.ports.planner import Planner

EXTRA = "pip install 'midcourse[llm]'"


def planner_by(model: str, settings: Settings, base_url: str = "") -> Planner:
    """A planner that asks this model. `base_url` is where it is served, if not where the settings say."""
    if not model:
        raise TaskInvalid("nobody plans: give a planner, or a model such as model='openai:gpt-5' or MIDCOURSE_MODEL")
    try:
        from midcourse.llm.mind import Mind
        from midcourse.llm.named import models_named
        from midcourse.llm.planner import ModelPlanner
    except ImportError as error:
        raise TaskInvalid(f"to plan with a model, {EXTRA}: {error}") from error
    models = models_named(model, base_url=base_url or settings.model_base_url)
    return ModelPlanner(Mind(models, answer_tokens=settings.answer_tokens))
