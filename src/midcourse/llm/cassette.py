"""Cassettes: requests to models and their answers, recorded to a file of JSON lines without secrets, and played from it.

The first line says the format. Each `exchange` is one request to a model with its answer or error, under a digest of the request.
Secrets are taken out of every text before anything is written; pictures cannot be searched for them, so only their digests
are kept. The same secrets are taken out of a request before it is looked up, so it is found with and without them.

`Recorded` and `Played` implement pydantic-ai's `Model`, one level above HTTP. A recording transport below the provider's client would
be less robust: not every library accepts one, it would see keys and session headers, and its recordings would not fit the next version
of that library. Here no key is ever seen, and playing a cassette needs no server and no configuration.

Errors are recorded too, so that a run that waited for a provider waits again.
"""

import asyncio
import difflib
import hashlib
import json
import re
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias, cast

from pydantic_ai import exceptions
from pydantic_ai.exceptions import ModelAPIError, ModelConnectionError, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings

from midcourse.errors import CassetteMiss, FormatUnknown, TaskInvalid
from midcourse.llm.models import build_models, split_names

FORMAT = 1
LONGEST_DIFFERENCE = 12
"""Lines of a difference that a message shows."""
WIDEST = 160
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
THINKING: tuple[Literal["supports_thinking", "thinking_always_enabled", "thinking_enabled_by_default"], ...] = (
    "supports_thinking",
    "thinking_always_enabled",
    "thinking_enabled_by_default",
)
"""What of a model's profile a request depends on besides the mode of the output."""
GIVEN_UP = "GivenUp"
"""The request was cancelled before it was answered."""

Json: TypeAlias = Mapping[str, Any]
Mask: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, kw_only=True)
class Exchange:
    model: str
    """The name by which it was requested."""
    asked: Json
    came: Json
    """An answer, or the name of an error and what it takes to raise it again."""
    profile: tuple[str, ...] = ()
    """What was true of its thinking, by names of a model's profile."""

    @property
    def key(self) -> str:
        return compute_key(self.model, self.asked)


_FACTS = re.compile(r"Today is [A-Z][a-z]+, \d{4}-\d\d-\d\d(?:; [^.\"\\]*)?| ?It is about \d\d:\d\d")
"""What a prompt says of the day, the place and the screen: a recording is played on other days and machines, too."""


def compute_key(model: str, asked: Json) -> str:
    text = _FACTS.sub("", json.dumps([model, asked], sort_keys=True))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Recorder:
    """Appends to a cassette line by line, so that a killed process leaves a readable file."""

    def __init__(self, path: Path, mask: Mask) -> None:
        self._path = path
        self._mask = mask

    def exchange(self, model: str, asked: Json, came: Json, profile: Sequence[str] = ()) -> None:
        asked, came = mask_values(asked, self._mask), mask_values(came, self._mask)
        line = {"kind": "exchange", "key": compute_key(model, asked), "model": model, "asked": asked, "came": came}
        line |= {"profile": list(profile)} if profile else {}
        head = {"kind": "cassette", "format": FORMAT}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            lines = [line] if file.tell() else [head, line]
            file.write("".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in lines))


class Player:
    """Answers from a cassette only. A request that was recorded several times is answered in that order."""

    def __init__(self, path: Path, mask: Mask) -> None:
        self._path = path
        self._mask = mask
        self._recorded = read_exchanges(path)
        self._left: dict[str, deque[Exchange]] = defaultdict(deque)
        for exchange in self._recorded:
            self._left[exchange.key].append(exchange)

    @property
    def left(self) -> int:
        """How many exchanges have not been played yet."""
        return sum(map(len, self._left.values()))

    def find_exchange(self, model: str) -> Exchange | None:
        """Return any exchange with this model, or None if there is none."""
        return next((exchange for exchange in self._recorded if exchange.model == model), None)

    def play(self, model: str, asked: Json) -> Json:
        asked = mask_values(asked, self._mask)
        key = compute_key(model, asked)
        if left := self._left[key]:
            return left.popleft().came
        times = sum(exchange.key == key for exchange in self._recorded)
        if times:
            raise CassetteMiss(f"{self._path}: request {key} was recorded {times} times, and is asked once more")
        raise CassetteMiss(f"{self._path}: request {key} was not recorded. {self._describe_difference(model, asked)}")

    def _describe_difference(self, model: str, asked: Json) -> str:
        """Describe how a request differs from the recorded one that is most similar to it."""
        lines = _format_lines(asked)
        others = [exchange for exchange in self._recorded if exchange.model == model]
        if not others:
            known = ", ".join(sorted({exchange.model for exchange in self._recorded})) or "no model"
            return f"Nothing was recorded of {model}; recorded was {known}."
        nearest = max(others, key=lambda other: _compute_similarity(lines, _format_lines(other.asked)))
        changed = [
            line[:WIDEST]
            for line in difflib.unified_diff(_format_lines(nearest.asked), lines, lineterm="", n=0)
            if not line.startswith(("---", "+++", "@@"))
        ]
        more = [f"… and {len(changed) - LONGEST_DIFFERENCE} lines more"] if len(changed) > LONGEST_DIFFERENCE else []
        shown = "\n".join(changed[:LONGEST_DIFFERENCE] + more)
        return f"From the nearest, {nearest.key}, it differs in (- recorded, + asked):\n{shown}"


def read_exchanges(path: Path) -> tuple[Exchange, ...]:
    """Read a cassette. Raises `TaskInvalid` for a file that is none, and `FormatUnknown` for one of another version."""
    try:
        first, *rest = path.read_text(encoding="utf-8").splitlines() or [""]
        head: object = json.loads(first)
    except OSError as error:
        raise TaskInvalid(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError:
        raise TaskInvalid(f"{path}: is not a cassette") from None
    if not isinstance(head, dict) or cast(Json, head).get("kind") != "cassette":
        raise TaskInvalid(f"{path}: is not a cassette")
    if cast(Json, head)["format"] != FORMAT:
        raise FormatUnknown(f"{path}: is of format {cast(Json, head)['format']}; this version reads {FORMAT}")
    return tuple(
        Exchange(model=line["model"], asked=line["asked"], came=line["came"], profile=tuple(line.get("profile", ())))
        for line in map(json.loads, rest)
        if line["kind"] == "exchange"
    )


def mask_values(value: Any, mask: Mask) -> Any:
    """Mask every text, names of fields too. Numbers are kept: secrets among them were masked when the world was observed."""
    match value:
        case str():
            return mask(value)
        case dict():
            return {mask(name): mask_values(inner, mask) for name, inner in cast(dict[str, Any], value).items()}
        case list():
            return [mask_values(inner, mask) for inner in cast(list[Any], value)]
        case _:
            return value


def _format_lines(asked: Json) -> list[str]:
    return json.dumps(asked, indent=0, ensure_ascii=False, sort_keys=True).replace("\\n", "\n").splitlines()


def _compute_similarity(lines: list[str], other: list[str]) -> float:
    return difflib.SequenceMatcher(None, lines, other, autojunk=False).quick_ratio()


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
        profile = [name for name in THINKING if self.profile.get(name, False)]
        try:
            response = await super().request(messages, model_settings, model_request_parameters)
        except (ModelAPIError, UnexpectedModelBehavior) as error:
            self._recorder.exchange(self._name, asked, _serialize_error(error), profile)
            raise
        except asyncio.CancelledError:
            self._recorder.exchange(self._name, asked, {"trouble": GIVEN_UP}, profile)
            raise
        self._recorder.exchange(self._name, asked, {"answer": _serialize_messages([response])[0]}, profile)
        return response

    def request_stream(self, *_: Any, **__: Any) -> NoReturn:
        raise NotImplementedError("streams are not recorded")


class Played(Model):
    """Plays a cassette, and raises `CassetteMiss` for a request that is not on it."""

    def __init__(self, name: str, player: Player) -> None:
        recorded = player.find_exchange(name)
        mode = recorded.asked["output"]["mode"] if recorded else "native"
        profile = ModelProfile(supports_json_schema_output=mode == "native", supports_tools=mode != "prompted")
        for trait in THINKING:
            profile[trait] = recorded is not None and trait in recorded.profile
        super().__init__(profile=profile)
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


def build_models_with_cassette(
    names: str,
    *,
    base_url: str = "",
    thinks: bool = False,
    recorder: Recorder | None = None,
    player: Player | None = None,
) -> tuple[Model, ...]:
    """The models of `build_models`: recorded if there is a recorder, played if there is a player."""
    if player is not None:
        return tuple(Played(name, player) for name in split_names(names))
    models = build_models(names, base_url=base_url, thinks=thinks)
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
