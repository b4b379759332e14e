"""Which embedder compares failures, as the settings have it. Nothing is imported before one is named."""

from midcourse.app.settings.run import Settings
from midcourse.errors import TaskInvalid
from midcourse.ports.embedder import Embedder

FOLDER = "folder:"


def embedder_for(settings: Settings) -> Embedder | None:
    """Raises `TaskInvalid` for a name that means nothing, or if what it needs is not installed."""
    name = settings.embedder
    if not name:
        return None
    try:
        if name.startswith(FOLDER):
            from midcourse.llm.minilm import MiniLM

            return MiniLM(name.removeprefix(FOLDER))
        from midcourse.llm.embeddings import ModelEmbedder
    except ImportError as error:
        extra = "embeddings" if name.startswith(FOLDER) else "llm"
        raise TaskInvalid(f"for embedder '{name}', pip install 'midcourse[{extra}]': {error}") from error
    return ModelEmbedder(name, settings.embedder_base_url)
