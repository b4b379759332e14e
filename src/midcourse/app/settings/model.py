"""The settings of language models: which ones answer, what they are used for, and how their calls are recorded."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field
from pydantic_settings import BaseSettings

from midcourse.app.models.roles import ROLE_NAMES
from midcourse.app.settings.audience import EVERYDAY
from midcourse.domain.budget import Limits


class ModelSettings(BaseSettings):
    model: Annotated[str, EVERYDAY] = Field(
        default="",
        description="The language model that plans if there is no other planner, as `provider:name` (`openai:gpt-5`). After `|` those "
        "to ask if it cannot be reached.",
    )
    model_base_url: Annotated[str, EVERYDAY] = Field(
        default="",
        description="Address of an OpenAI-compatible server of your own, for models of `openai:`.",
    )
    role_models: Annotated[str, EVERYDAY] = Field(
        default="",
        description=f"Other models for single roles ({', '.join(f'`{name}`' for name in ROLE_NAMES)}): "
        "`verifier=openai:gpt-5-mini, reader=openai:gpt-5`. `reflector=rules` has failures explained without a model; `judge`, `monitor` "
        "and `closeness_judge` have rules, too.",
    )
    trace_content: bool = Field(
        default=False,
        description="Puts what models are told and answer, goals, and details of failures into OpenTelemetry spans, without secrets. "
        "Off, the spans have only what a call or a step was for, how it ended and what it took.",
    )
    reads_words: bool | None = Field(
        default=Limits.reads_words,
        description="Whether a model judges expectations and a `done_when` that are only words, and reads from the screen what the "
        "task is to bring back and no skill has brought. `none`: if there is a model.",
    )
    detours: Annotated[bool, EVERYDAY] = Field(
        default=False,
        description="A model looks for a way to steps that are out of reach, and another judges how near it is (`detour_planner` and "
        "`closeness_judge` in `role_models`). A `detour_planner` of your own needs no model.",
    )
    vision: Annotated[bool, EVERYDAY] = Field(
        default=Limits.vision,
        description="A model reads the screenshot of every look, and what it finds beside the world's own zones can be acted on, by its "
        "position. Each look is then a call, the first included.",
    )
    images: Literal["off", "on", "auto"] = Field(
        default="off",
        description="Whether a planning model is also sent the screenshot, with secrets covered and the ids of zones drawn on it. `auto`: if "
        "its profile says that it takes images. Needs `midcourse[vision]`.",
    )
    answer_tokens: int = Field(
        default=8_000,
        ge=64,
        description="Tokens that a model may answer with, thinking included; a longer answer is cut off and counts as garbage.",
    )
    reuse: Annotated[bool, EVERYDAY] = Field(
        default=False,
        description="Does again what worked before in the same task on the same screen, with the inputs of this run and "
        "without asking the planner. What fails is dropped and planned.",
    )
    record: Annotated[Path | None, EVERYDAY] = Field(
        default=None,
        description="Cassette to which every request to a model and its answer is added, without secrets.",
    )
    cassette: Annotated[Path | None, EVERYDAY] = Field(
        default=None,
        description="Cassette that models are played from: no model is asked, and what was not recorded ends the command.",
    )
