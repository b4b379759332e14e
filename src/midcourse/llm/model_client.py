"""Client of the models of one role: one request, one answer of a known shape, and its cost, without retries.

Each try is a command of the director with its own reservation, so the retries of provider libraries are switched off. If there
are several models, each try asks the next one. Prices are those of genai-prices; a model that it does not know counts as free.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from functools import cache
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast

from genai_prices import Usage, calc_price
from pydantic import BaseModel
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    UnexpectedModelBehavior,
)
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings, ThinkingEffort
from pydantic_ai.tools import ToolDefinition

from midcourse.domain.budget import FREE, Cost, without_call
from midcourse.errors import TaskInvalid
from midcourse.llm.answer_parser import Unreadable, parse_answer
from midcourse.llm.models import connect
from midcourse.llm.prompt.schema import compact_schema, find_obstacle
from midcourse.llm.prompt.template import Prompt, estimate_tokens
from midcourse.llm.tracing import Tracing
from midcourse.policy.spending import MICRO
from midcourse.ports.metering import current_meter

CALL_TOKENS = 60_000
"""Tokens of a call without a reservation, answer included."""

IMAGE_TOKENS = 6_000
"""Tokens that a picture may count as: providers split it into tiles, up to a few thousand tokens."""
PATIENCE = 10.0
"""Seconds to wait for a provider that limits the rate without saying for how long."""
SHORTEST_PROMPT = 2_000
"""Tokens, by the upper estimate: a shorter prompt could not hold a task."""
SHORTEST_ANSWER = 32
"""Tokens that the shortest answer needs."""

REJECTIONS = (
    ModelRequestRejectedError,
    ModelAuthenticationError,
    ModelNotFoundError,
    ModelContextWindowExceededError,
    ModelQuotaExceededError,
)
UNBILLED = (500, 503, 529)
"""Status codes of a provider that did not answer. A gateway's 502 or 504 says nothing about the model behind it."""

A = TypeVar("A", bound=BaseModel)

Trouble: TypeAlias = Literal["refused", "rejected", "garbage", "transport"]
"""`rejected`: the provider does not take the request, such as for a wrong key. Asking it again would not help."""


@dataclass(frozen=True, kw_only=True)
class Answered(Generic[A]):
    answer: A
    repairs: tuple[str, ...]
    cost: Cost
    model: str


@dataclass(frozen=True, kw_only=True)
class Unanswered:
    """No usable answer. `wait` is in seconds until the next try: 0 if another model can be asked, None if unknown."""

    why: Trouble
    detail: str
    cost: Cost
    model: str
    wait: float | None = None

    @property
    def seconds_until_retry(self) -> float | None:
        """Seconds until a try by the director may succeed, 0 if unknown. None: the provider was not out of service."""
        return (self.wait or 0.0) if self.why == "transport" else None


class ModelClient:
    """The models of one role, in the order in which they are asked."""

    def __init__(
        self,
        models: Sequence[Model],
        *,
        answer_tokens: int,
        thinking_tokens: int = 0,
        effort: str = "",
        output: str = "",
        tracing: Tracing | None = None,
        timeout: float | None = None,
    ) -> None:
        """`thinking_tokens`: those of a model that thinks, besides `answer_tokens`. `effort`: how hard it thinks, or "off"; empty: its own default.
        `output`: how it is made to answer in form; empty: by its profile. `timeout`: seconds that a request may take; None: the client's own
        limit, which is ten minutes for OpenAI.
        """
        assert models, "a role needs a model"
        self.timeout = timeout
        self.models = tuple(models)
        self.answer_tokens = answer_tokens
        self.thinking_tokens = thinking_tokens
        self._effort = effort
        self._output = output
        self.tracing = tracing or Tracing()

    def worst(self, tokens: int) -> Cost:
        """Upper limit of the cost of a call with this many tokens (0: the default), for the most expensive of the models."""
        answer = self.answer_tokens
        thinking = self.thinking_tokens if any(map(self._thinks, self.models)) else 0
        tokens = tokens or CALL_TOKENS + thinking
        if tokens < answer + SHORTEST_PROMPT:
            raise TaskInvalid(f"plan_tokens = {tokens} leaves no room for a prompt beside answer_tokens = {answer}")
        prices: list[int] = []
        for model in self.models:
            out = answer + self._count_thinking_tokens(model, tokens)
            prices.append(compute_price(model, tokens_in=tokens - out, tokens_out=out) or 0)
        return Cost(calls=1, tokens=tokens, microusd=max(prices))

    def room(self, worst: Cost, answer: type[BaseModel]) -> int:
        """Tokens that a prompt may have within the reservation of the call, whichever model is asked."""
        tokens = self._count_reserved_tokens(worst)
        thinking = max(self._count_thinking_tokens(model, tokens) for model in self.models)
        return tokens - self.answer_tokens - thinking - _count_schema_tokens(answer)

    def _count_reserved_tokens(self, worst: Cost) -> int:
        thinking = self.thinking_tokens if any(map(self._thinks, self.models)) else 0
        return worst.tokens or CALL_TOKENS + thinking

    def _thinks(self, model: Model) -> bool:
        """Whether the model thinks before it answers, as far as its profile and the effort say."""
        profile = model.profile
        if profile.get("thinking_always_enabled", False):
            return True
        wanted = profile.get("thinking_enabled_by_default", False) if not self._effort else self._effort != "off"
        return wanted and profile.get("supports_thinking", False)

    def _count_thinking_tokens(self, model: Model, tokens: int) -> int:
        """Tokens that the model may think with, in a call of this many: at most half of what the answer and a short prompt leave."""
        spare = (tokens - self.answer_tokens - SHORTEST_PROMPT) // 2
        return max(0, min(self.thinking_tokens, spare)) if self._thinks(model) else 0

    def accepts_images(self, turn: int = 0) -> bool:
        """Whether the model that is asked at this turn takes pictures, as far as its profile says."""
        return bool(self.models[turn % len(self.models)].profile.get("supports_image_input", True))

    async def ask(
        self,
        prompt: Prompt,
        answer: type[A],
        *,
        worst: Cost,
        version: int = 0,
        turn: int = 0,
        images: Sequence[bytes] = (),
    ) -> Answered[A] | Unanswered:
        """Send one request. `worst` is its reservation. Without an answer, what may have been spent counts as spent. `version` is the plan's."""
        model = self.models[turn % len(self.models)]
        prompt_tokens = estimate_tokens(prompt.text) + IMAGE_TOKENS * len(images)
        most = self._limit_answer(model, prompt_tokens, answer, worst)
        thinking = self._count_thinking_tokens(model, self._count_reserved_tokens(worst))
        if most < SHORTEST_ANSWER + thinking:
            detail = "the prompt is longer than its budget allows"
            return Unanswered(why="garbage", detail=detail, cost=FREE, model=model.model_name)
        at_most = _estimate_cost(model, prompt_tokens + _count_schema_tokens(answer), most, worst)
        meter = current_meter()
        before = meter.cost or FREE
        meter.cost = before.plus(at_most)  # the caller may stop waiting
        with self.tracing.call(model, prompt, version=version, most=most) as call:
            response = await self._send_request(model, _build_request(prompt, images), answer, prompt.role, most)
            if isinstance(response, Exception):
                call.record_failure(type(response).__name__, str(response))
                failed = self._classify_error(model, response, at_most, turn)
                meter.cost = before.plus(failed.cost)
                return failed
            cost = compute_cost(response, worst)
            meter.cost = before.plus(cost)
            call.record_answer(response, cost)
        return _parse_response(response, answer, cost, model.model_name)

    async def _send_request(
        self, model: Model, request: ModelRequest, answer: type[BaseModel], role: str, most: int
    ) -> ModelResponse | ModelAPIError | UnexpectedModelBehavior:
        settings = ModelSettings(max_tokens=most)
        if self._effort and model.profile.get("supports_thinking", False):
            settings["thinking"] = False if self._effort == "off" else cast(ThinkingEffort, self._effort)
        if self.timeout is not None and "timeout" not in model.unsupported_settings:
            settings["timeout"] = self.timeout
        if "max_retries" not in model.unsupported_settings:
            settings["max_retries"] = 0
        try:
            await connect(model)
            return await model_request(
                model,
                [request],
                model_settings=settings,
                model_request_parameters=_build_parameters(model, role, answer, self._output),
            )
        except (ModelAPIError, UnexpectedModelBehavior) as error:
            return error

    def _classify_error(
        self, model: Model, error: ModelAPIError | UnexpectedModelBehavior, at_most: Cost, turn: int
    ) -> Unanswered:
        detail = self.tracing.mask(f"{type(error).__name__}: {error.message}")
        if isinstance(error, ModelConnectionError):
            detail = self.tracing.mask(f"no model answers at {model.base_url or model.model_name}: {error.message}")
        if isinstance(error, ContentFilterError):
            return Unanswered(why="refused", detail=detail, cost=at_most, model=model.model_name)
        if isinstance(error, UnexpectedModelBehavior):
            return Unanswered(why="transport", detail=detail, cost=without_call(at_most), model=model.model_name)
        rejected = isinstance(error, REJECTIONS)
        unsent = (
            rejected
            or isinstance(error, ModelRateLimitError)
            or (isinstance(error, ModelConnectionError) and error.phase in ("pool", "connect"))
            or (isinstance(error, ModelHTTPError) and error.status_code in UNBILLED)
        )
        another = (turn + 1) % len(self.models) != 0
        patience = PATIENCE if isinstance(error, ModelRateLimitError) else None
        return Unanswered(
            why="rejected" if rejected else "transport",
            detail=detail,
            cost=FREE if unsent else without_call(at_most),
            model=model.model_name,
            wait=0.0 if another else error.retry_after or patience,
        )

    def _limit_answer(self, model: Model, prompt_tokens: int, answer: type[BaseModel], worst: Cost) -> int:
        """Return how many tokens thinking and answer may have, so that the call stays within its reservation."""
        most = self.answer_tokens + min(0, self.room(worst, answer) - prompt_tokens)
        most += self._count_thinking_tokens(model, self._count_reserved_tokens(worst))
        if not worst.microusd:
            return most
        return min(
            most,
            count_affordable_tokens(
                model, tokens_in=prompt_tokens + _count_schema_tokens(answer), microusd=worst.microusd
            ),
        )


class ModelRole:
    """Base of the ports that models fill. The maximum cost of a call is reserved before the call."""

    def __init__(self, client: ModelClient) -> None:
        self.client = client

    def worst(self, tokens: int) -> Cost:
        return self.client.worst(tokens)


def _build_request(prompt: Prompt, images: Sequence[bytes]) -> ModelRequest:
    """Build the request, with a cache point after each part but the last: up to there the next prompt may be the same."""
    content: list[UserContent] = []
    for part in prompt.parts:
        if content:
            content.append(CachePoint())
        content.append(part)
    content += [BinaryContent(data=image, media_type="image/png") for image in images]
    return ModelRequest(parts=[UserPromptPart(content=content)], instructions=prompt.instructions)


def _build_parameters(model: Model, role: str, answer: type[BaseModel], mode: str) -> ModelRequestParameters:
    """Build the parameters that request this shape of the answer: in this mode, or in the strictest that the model supports."""
    schema = _build_schema(answer)
    if mode in ("", "auto"):
        native, tool = (
            model.profile.get("supports_json_schema_output", False),
            model.profile.get("supports_tools", True),
        )
        mode = "native" if native else "tool" if tool else "prompted"
    if mode == "native":
        return ModelRequestParameters(
            output_mode="native", output_object=OutputObjectDefinition(json_schema=schema, name=role)
        )
    if mode == "tool":
        tool = ToolDefinition(name=role, parameters_json_schema=schema, kind="output")
        return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)
    return ModelRequestParameters(
        output_mode="prompted", output_object=OutputObjectDefinition(json_schema=schema, name=role)
    )


@cache
def _build_schema(answer: type[BaseModel]) -> dict[str, Any]:
    schema = compact_schema(answer.model_json_schema())
    assert not (obstacle := find_obstacle(schema)), f"{answer.__name__}: {obstacle}"
    return schema


@cache
def _count_schema_tokens(answer: type[BaseModel]) -> int:
    return estimate_tokens(json.dumps(_build_schema(answer)))


def _parse_response(response: ModelResponse, answer: type[A], cost: Cost, model: str) -> Answered[A] | Unanswered:
    if response.finish_reason == "content_filter":
        detail = "the provider's filter held the answer back"
        return Unanswered(why="refused", detail=detail, cost=cost, model=model)
    if response.finish_reason == "length":
        return Unanswered(why="garbage", detail="the answer was cut off: it was too long", cost=cost, model=model)
    tool_calls = [part.args_as_json_str() for part in response.parts if isinstance(part, ToolCallPart)]
    texts = [part.content for part in response.parts if isinstance(part, TextPart)]
    found = parse_answer(tool_calls[0] if tool_calls else "".join(texts), answer)
    if isinstance(found, Unreadable):
        return Unanswered(why="garbage", detail=found.why, cost=cost, model=model)
    return Answered(answer=found.answer, repairs=found.repairs, cost=cost, model=model)


def _estimate_cost(model: Model, tokens_in: int, tokens_out: int, worst: Cost) -> Cost:
    """The most that a request may cost whose answer is never seen: what is sent, and the longest answer."""
    tokens, price = tokens_in + tokens_out, compute_price(model, tokens_in=tokens_in, tokens_out=tokens_out) or 0
    return Cost(
        calls=1,
        tokens=min(tokens, worst.tokens or tokens),
        microusd=min(price, worst.microusd or price),
        at_most=True,
    )


def compute_cost(response: ModelResponse, worst: Cost) -> Cost:
    """The reported cost. A provider that reports none is charged the whole reservation."""
    usage = response.usage
    if usage.unmeasured_requests or not usage.total_tokens:
        return worst
    try:
        price = response.cost().total_price
    except LookupError:
        price = Decimal(0)
    return Cost(calls=1, tokens=usage.total_tokens, microusd=_convert_to_micro(price))


def compute_price(model: Model, *, tokens_in: int, tokens_out: int) -> int | None:
    """Millionths of a dollar; None if the price is unknown."""
    usage = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
    try:
        return _convert_to_micro(calc_price(usage, model.model_name, provider_id=model.system).total_price)
    except LookupError:
        return None


def count_affordable_tokens(model: Model, *, tokens_in: int, microusd: int) -> int:
    """Tokens of an answer that this amount pays for; without a price, practically unlimited."""
    prompt_price, with_answer = (compute_price(model, tokens_in=tokens_in, tokens_out=out) for out in (0, MICRO))
    if prompt_price is None or with_answer is None or with_answer <= prompt_price:
        return MICRO
    return (microusd - prompt_price) * MICRO // (with_answer - prompt_price)


def _convert_to_micro(dollars: Decimal) -> int:
    """Convert to millionths of a dollar, rounded up: a thousand calls for a tenth of a millionth each are not free."""
    return int((dollars * MICRO).to_integral_value(rounding=ROUND_UP))
