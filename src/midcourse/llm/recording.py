"""Models that record to a cassette, and models that play one back.

Both implement pydantic-ai's `Model`, one level above HTTP. A recording transport below the provider's client would be less robust: not
every library accepts one, it would see keys and session headers, and its recordings would not fit the next version of that
library. Here no key is ever seen, and playing a cassette needs no server and no configuration.

Errors are recorded too, so that a run that waited for a provider waits again.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, cast

from pydantic_ai import exceptions
from pydantic_ai.exceptions import ModelAPIError, ModelConnectionError, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings

from midcourse.llm.cassette import Json, Player, Recorder
from midcourse.llm.model_names import build_models, split_names

IRRELEVANT_FIELDS = ("timestamp", "run_id", "conversation_id", "metadata")
"""Fields of a message that do not affect the answer."""
CLIENT_SETTINGS = ("max_retries", "timeout", "request_timeout", "first_event_timeout")
"""Settings of the client that are not sent to the model."""
REPLAYABLE_ERRORS = tuple(
    name
    for name in exceptions.__all__
    if isinstance(kind := getattr(exceptions, name), type)
    and issubclass(kind, ModelAPIError | UnexpectedModelBehavior)
    and name not in ("ModelHTTPError", "ModelRequestTimeout")
)
"""Names of exceptions that can be raised again from their message alone."""
GIVEN_UP = "GivenUp"
"""The request was cancelled before it was answered."""


class Recorded(WrapperModel):
    """Wraps a model and records every exchange."""

    def __init__(self, wrapped: Model, name: str, recorder: Recorder) -> None:
        super().__init__(wrapped)
        self.unsupported_settings = wrapped.unsupported_settings  # pyrefly: ignore[read-only]  # of the class, but each model wraps another
        self._name = name
        self._recorder = recorder

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        asked = _serialize_request(messages, model_settings, model_request_parameters)
        try:
            response = await super().request(messages, model_settings, model_request_parameters)
        except (ModelAPIError, UnexpectedModelBehavior) as error:
            self._recorder.exchange(self._name, asked, _serialize_error(error))
            raise
        except asyncio.CancelledError:
            self._recorder.exchange(self._name, asked, {"trouble": GIVEN_UP})
            raise
        self._recorder.exchange(self._name, asked, {"answer": _serialize_messages([response])[0]})
        return response

    def request_stream(self, *_: Any, **__: Any) -> NoReturn:
        raise NotImplementedError("streams are not recorded")


class Played(Model):
    """Plays a cassette, and raises `CassetteMiss` for a request that is not on it."""

    def __init__(self, name: str, player: Player) -> None:
        recorded = player.find_exchange(name)
        mode = recorded.asked["output"]["mode"] if recorded else "native"
        super().__init__(
            profile=ModelProfile(supports_json_schema_output=mode == "native", supports_tools=mode != "prompted")
        )
        self._name = name
        self._player = player

    @property
    def model_name(self) -> str:
        return self._name.partition(":")[2]

    @property
    def system(self) -> str:
        return self._name.partition(":")[0]

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        recorded = self._player.play(self._name, _serialize_request(messages, model_settings, model_request_parameters))
        if "trouble" in recorded:
            raise _rebuild_error(recorded)
        (response,) = ModelMessagesTypeAdapter.validate_python([recorded["answer"]])
        return cast(ModelResponse, response)


def models_with_cassette(
    names: str, *, base_url: str = "", recorder: Recorder | None = None, player: Player | None = None
) -> tuple[Model, ...]:
    """The models of `build_models`: recorded if there is a recorder, played if there is a player."""
    if player is not None:
        return tuple(Played(name, player) for name in split_names(names))
    models = build_models(names, base_url=base_url)
    if recorder is None:
        return models
    return tuple(Recorded(model, name, recorder) for name, model in zip(split_names(names), models, strict=True))


def _serialize_request(
    messages: Sequence[ModelMessage], settings: ModelSettings | None, parameters: ModelRequestParameters
) -> Json:
    """The parts of a request that can affect the answer, in a form that does not depend on the library's version."""
    tools = [*parameters.function_tools, *parameters.output_tools]
    schema = parameters.output_object.json_schema if parameters.output_object else None
    return {
        "messages": _keep_relevant(_serialize_messages(messages)),
        "output": {
            "mode": parameters.output_mode,
            "schema": schema,
            "tools": [[tool.name, tool.parameters_json_schema] for tool in tools],
        },
        "settings": {
            name: value for name, value in sorted(cast(Json, settings or {}).items()) if name not in CLIENT_SETTINGS
        },
    }


def _serialize_messages(messages: Sequence[ModelMessage]) -> list[Json]:
    return json.loads(ModelMessagesTypeAdapter.dump_json(list(messages)))


def _keep_relevant(value: Any) -> Any:
    match value:
        case {"kind": "binary", "data": str(data)}:
            return {"picture": hashlib.sha256(data.encode()).hexdigest()}
        case dict():
            kept = {
                name: _keep_relevant(inner)
                for name, inner in cast(Json, value).items()
                if name not in IRRELEVANT_FIELDS
            }
            return {name: inner for name, inner in kept.items() if inner is not None}
        case list():
            return [_keep_relevant(inner) for inner in cast(list[Any], value)]
        case _:
            return value


def _serialize_error(error: ModelAPIError | UnexpectedModelBehavior) -> Json:
    kind = next((base.__name__ for base in type(error).__mro__ if base.__name__ in REPLAYABLE_ERRORS), "ModelAPIError")
    return {
        "trouble": kind,
        "message": error.message,
        "retry_after": error.retry_after if isinstance(error, ModelAPIError) else None,
        "phase": error.phase if isinstance(error, ModelConnectionError) else None,
    }


def _rebuild_error(recorded: Mapping[str, Any]) -> Exception:
    if recorded["trouble"] == GIVEN_UP:
        return TimeoutError("this request was cancelled when it was recorded")
    kind: Any = getattr(exceptions, recorded["trouble"])
    if not issubclass(kind, ModelAPIError):
        return kind(recorded["message"])
    more = {"phase": recorded["phase"]} if issubclass(kind, ModelConnectionError) else {}
    return kind("recorded", recorded["message"], retry_after=recorded["retry_after"], **more)
