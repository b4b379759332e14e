"""The settings of language models: which ones answer, what they are used for, and how their calls are recorded."""

from pathlib import Path

from pydantic import Field

from midcourse.app.models.roles import ROLE_NAMES
from midcourse.app.settings.recovery import RecoverySettings
from midcourse.domain.budget import Limits


class ModelSettings(RecoverySettings):
    model: str = Field(
        default="",
        description="The language model that plans where nobody else does, as `provider:name` (`openai:gpt-5`). After `|` those "
        "to ask if it cannot be reached.",
    )
    model_base_url: str = Field(
        default="",
        description="Address of an OpenAI-compatible server of your own, for models of `openai:`.",
    )
    role_models: str = Field(
        default="",
        description=f"Other models for single roles ({', '.join(f'`{name}`' for name in ROLE_NAMES)}): "
        "`verifier=openai:gpt-5-mini, reader=openai:gpt-5`.",
    )
    trace_content: bool = Field(
        default=False,
        description="Puts what models are told and answer into OpenTelemetry spans, without secrets. Off, the spans have only what a "
        "call was for, how it ended and what it took.",
    )
    reads_words: bool | None = Field(
        default=Limits.reads_words,
        description="Whether a model judges expectations and a `done_when` that are only words, and reads from the screen what the "
        "task is to bring back and no skill has brought. `none`: if there is a model.",
    )
    detours: bool = Field(
        default=False,
        description="A model looks for a way to steps that are out of reach, and another judges how near it is (`detour_planner` and "
        "`closeness_judge` in `role_models`). A `detour_planner` of your own needs no model.",
    )
    vision: bool = Field(
        default=Limits.vision,
        description="A model reads the zones from the screenshot of every look, in place of what the world says is there. Each look is "
        "then a call, the first included.",
    )
    answer_tokens: int = Field(
        default=8_000,
        ge=64,
        description="Tokens that a model may answer with, thinking included; a longer answer is cut off and counts as garbage.",
    )
    reuse: bool = Field(
        default=False,
        description="Does again what worked before in the same task on the same screen, with the inputs of this run and "
        "without asking the planner. What fails is dropped and planned.",
    )
    record: Path | None = Field(
        default=None,
        description="Cassette to which everything is added that models are asked and answer, and every situation that they plan "
        "in, without secrets.",
    )
    cassette: Path | None = Field(
        default=None,
        description="Cassette that models are played from: nobody is asked, and what was not recorded ends the command.",
    )
