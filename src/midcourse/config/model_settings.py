"""The settings of language models: which ones answer, what they are used for, and how their calls are recorded."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from midcourse.config.variables import EVERYDAY, VariableSettings
from midcourse.domain.budget import Limits

ROLE_NAMES = (
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
"""What models can be asked for. `agent/roles.py` says what each role is."""


EFFORTS = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
OUTPUTS = ("auto", "native", "tool", "prompted")


class ModelSettings(VariableSettings):
    model: Annotated[str, EVERYDAY] = Field(
        default="",
        description="The language model that plans if you give no other planner, as `provider:name` (`openai:gpt-5`). Add models to fall back on if "
        "it cannot be reached, each after `|`.",
    )
    model_base_url: Annotated[str, EVERYDAY] = Field(
        default="",
        description="Address of your own OpenAI-compatible server, used for `openai:` models.",
    )
    role_models: Annotated[str, EVERYDAY] = Field(
        default="",
        description=f"Other models for single roles ({', '.join(f'`{name}`' for name in ROLE_NAMES)}): "
        "`verifier=openai:gpt-5-mini, reader=openai:gpt-5`. With `reflector=rules`, rules explain failures instead of a "
        "model; `judge`, `monitor` and `closeness_judge` can use rules, too.",
    )
    trace_content: bool = Field(
        default=False,
        description="Adds content to OpenTelemetry spans, without secrets: what models are told and answer, goals, and details of failures. If off, a "
        "span has only what a call or step was for, how it ended and what it took.",
    )
    reads_words: bool | None = Field(
        default=Limits.reads_words,
        description="Whether a model judges an expectation or a `done_when` that is given only in words, and reads from the screen those outputs of "
        "the task that no skill has returned. `none`: yes, if there is a model.",
    )
    detours: Annotated[bool, EVERYDAY] = Field(
        default=False,
        description="If a step is out of reach, one model looks for a way to it and another judges how near it is (`detour_planner` and "
        "`closeness_judge` in `role_models`). If you give your own `detour_planner`, no model is needed.",
    )
    vision: Annotated[bool, EVERYDAY] = Field(
        default=Limits.vision,
        description="A model reads the screenshot of every look. The planner can use what it finds in addition to the world's own zones; it is acted "
        "on by its position. Each look then costs a call, including the first.",
    )
    images: Literal["off", "on", "auto"] = Field(
        default="off",
        description="Whether the planning model also gets the screenshot, with secrets covered and the ids of zones drawn on it. `auto`: if the "
        "model's profile says that it accepts images, and the names of the controls on the screen do not say enough. Needs `midcourse[vision]`.",
    )
    answer_tokens: int = Field(
        default=8_000,
        ge=64,
        description="The most tokens that a model may answer with. A longer answer is cut off and counts as invalid.",
    )
    thinking_tokens: int = Field(
        default=8_000,
        ge=0,
        description="The tokens that a model that thinks may use for that, in addition to `answer_tokens`. If less than this is left of "
        "`plan_tokens`, it may think less.",
    )
    model_effort: str = Field(
        default="",
        description=f"How hard a model thinks: {', '.join(f'`{name}`' for name in EFFORTS)}, or nothing for the model's own default; "
        "for single roles `low, reflector=high`. Models that do not think ignore it. A server of your own (`model_base_url`) is taken to serve "
        "one that does.",
    )
    model_output: str = Field(
        default="auto",
        description=f"How a model is made to answer in the right form: {', '.join(f'`{name}`' for name in OUTPUTS)}; for single roles "
        "`auto, verifier=prompted`. `auto`: by a schema that the provider enforces (`native`) or as a call of a function (`tool`), as far as the "
        "model's profile says that it can, otherwise the schema is part of the prompt (`prompted`).",
    )
    reuse: Annotated[bool, EVERYDAY] = Field(
        default=False,
        description="Repeats steps that worked before in the same task on the same screen, with the inputs of this run and without asking the "
        "planner. If one of them fails, it is dropped and the planner is asked.",
    )
    record: Annotated[Path | None, EVERYDAY] = Field(
        default=None,
        description="A cassette file. Every request to a model and its answer are added to it, without secrets.",
    )
    cassette: Annotated[Path | None, EVERYDAY] = Field(
        default=None,
        description="A cassette file from which the answers of models are played back. No model is called. A request that was not recorded ends the "
        "command.",
    )
