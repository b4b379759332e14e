"""Costs of model calls, by the prices of genai-prices. A model that it does not know counts as free."""

from decimal import ROUND_UP, Decimal

from genai_prices import Usage, calc_price
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model

from midcourse.domain.budget import Cost

MICRO = 1_000_000


def cost_of(response: ModelResponse, worst: Cost) -> Cost:
    """The reported cost. A provider that reports none is charged the whole reservation."""
    usage = response.usage
    if usage.unmeasured_requests or not usage.total_tokens:
        return worst
    try:
        price = response.cost().total_price
    except LookupError:
        price = Decimal(0)
    return Cost(calls=1, tokens=usage.total_tokens, microusd=_to_micro(price))


def price_of(model: Model, *, tokens_in: int, tokens_out: int) -> int | None:
    """Millionths of a dollar; None if the price is unknown."""
    usage = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
    try:
        return _to_micro(calc_price(usage, model.model_name, provider_id=model.system).total_price)
    except LookupError:
        return None


def affordable(model: Model, *, tokens_in: int, microusd: int) -> int:
    """Tokens of an answer that this amount pays for; without a price, practically unlimited."""
    prompt_price, with_answer = (price_of(model, tokens_in=tokens_in, tokens_out=out) for out in (0, MICRO))
    if prompt_price is None or with_answer is None or with_answer <= prompt_price:
        return MICRO
    return (microusd - prompt_price) * MICRO // (with_answer - prompt_price)


def _to_micro(dollars: Decimal) -> int:
    """Convert to millionths of a dollar, rounded up: a thousand calls for a tenth of a millionth each are not free."""
    return int((dollars * MICRO).to_integral_value(rounding=ROUND_UP))
