"""The base of all models, and names that several of them use."""

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

RunId: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="null")
