"""Evaluations that `test_inspect.py` runs in an environment with Inspect. Prints one JSON object for each, by its name."""

import json
import sys
from collections.abc import Callable
from typing import Any, Literal

import inspect_ai
from inspect_ai.approval import ApprovalPolicy, auto_approver
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample
from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import ToolDef, ToolError, ToolInfo

from midcourse.frameworks import inspect_solver

PLAN_PROMPT = "You plan the next steps"


def order_plan(product: str, **more: Any) -> str:
    step = {"skill": "order", "arguments": {"product": product, **more}, "says": f"Order {product}"}
    return json.dumps({"steps": [step], "final": True})


class Shop:
    """A shop whose orders are counted here. `fails` is raised after an order was stored."""

    def __init__(self, fails: Exception | None = None, sold_out: str = "") -> None:
        self.orders: list[str] = []
        self.fails, self.sold_out = fails, sold_out

    def tools(self) -> list[ToolDef]:
        async def order(product: str, notes: list[str] | None = None) -> str:
            if product == self.sold_out:
                raise ToolError(f"{product} is sold out; there is a floor lamp")
            self.orders.append(" ".join([product, *(notes or [])]))
            if self.fails:
                raise self.fails
            return f"ordered {product}"

        async def find_product(words: str) -> str:
            assert words == "lamp", words
            return f"The article for '{words}' is L-{'0' * 500}-7."  # longer than a prompt quotes results

        texts = {"product": "Its name.", "notes": "Notes for the packer."}
        return [
            ToolDef(order, description="Order a product.", parameters=texts),
            ToolDef(
                find_product,
                description=f"Find a product. {'Long. ' * 60}Use the word 'lamp'.",
                parameters={"words": "What to look for."},
            ),
        ]

    def is_ordered(self, product: str) -> bool:
        return product in self.orders


Plans = Callable[[str, list[ChatMessage]], str]
"""Writes the plan, given the prompt and the conversation before it."""


def evaluate(
    shop: Shop,
    plans: Plans,
    *,
    solver: Any = None,
    tools: bool = True,
    inspect_decides: Literal["approve", "reject", "terminate"] = "approve",
    **options: Any,
) -> dict[str, Any]:
    """Run one sample. In Inspect's own loop, the model orders again after an error, at most three times."""

    def answer(messages: list[ChatMessage], tools: list[ToolInfo], choice: Any, _: GenerateConfig) -> ModelOutput:
        last = messages[-1]
        answered = [message for message in messages if message.role == "tool"]
        if tools and choice == "auto" and (not answered or (answered[-1].error and len(answered) < 3)):
            output = ModelOutput.for_tool_call("mockllm/model", "order", {"product": "desk lamp"})
        elif PLAN_PROMPT in last.text:
            output = ModelOutput.from_content("mockllm/model", plans(last.text, messages[:-1]))
        else:
            output = ModelOutput.from_content("mockllm/model", "The lamp is on its way.")
        output.usage = ModelUsage(input_tokens=90, output_tokens=10, total_tokens=100)
        return output

    task = inspect_ai.Task(
        dataset=[Sample("Order a desk lamp", target="on its way")],
        setup=use_tools(shop.tools()) if tools else None,
        solver=solver or inspect_solver(read=["find_*"]),
        scorer=includes(),
        **options,
    )
    model = get_model("mockllm/model", custom_outputs=answer)
    approval = [ApprovalPolicy(auto_approver(inspect_decides), "*")]
    [log] = inspect_ai.eval(task, model=model, approval=approval, display="none")
    assert log.samples, log.error
    return {"orders": shop.orders, "status": log.status, **describe(log.samples[0])}


def describe(sample: EvalSample) -> dict[str, Any]:
    return {
        "run": sample.store.get("midcourse"),
        "error": sample.error.message if sample.error else "",
        "limit": sample.limit.type if sample.limit else "",
        "completion": sample.output.completion,
        "score": {name: score.value for name, score in (sample.scores or {}).items()},
        "roles": [message.role for message in sample.messages],
        "tool_events": [event.function for event in sample.events if event.event == "tool"],
        "model_events": sum(event.event == "model" for event in sample.events),
        "tokens": sum(usage.total_tokens for usage in sample.model_usage.values()),
    }


def always(product: str, **more: Any) -> Plans:
    return lambda prompt, before: order_plan(product, **more)


def find_first(prompt: str, before: list[ChatMessage]) -> str:
    """Looks the product up, and orders the article that the tool's answer names."""
    found = [message.text for message in before if message.role == "tool"]
    if found:
        return order_plan(found[-1].split()[-1].rstrip("."))
    words = prompt.partition("Use the word '")[2].partition("'")[0]
    return json.dumps({"steps": [{"skill": "find_product", "arguments": {"words": words}}]})


def take_another(prompt: str, before: list[ChatMessage]) -> str:
    return order_plan("floor lamp" if "sold out" in prompt else "desk lamp")


def fail_as_a_model(prompt: str, before: list[ChatMessage]) -> str:
    raise RuntimeError("the provider rejected the key")


def run_all() -> dict[str, Any]:
    lost = TimeoutError("504 Gateway Timeout")
    probed = Shop(lost)
    probe = {"order": probed.is_ordered}
    return {
        "ordered": evaluate(Shop(), always("desk lamp", notes='["gift", "blue"]')),
        "looked_up": evaluate(Shop(), find_first),
        "lost_and_found": evaluate(probed, always("desk lamp"), solver=inspect_solver(happened=probe)),
        "lost": evaluate(Shop(lost), always("desk lamp")),
        "lost_and_assumed": evaluate(Shop(lost), always("desk lamp"), solver=inspect_solver(doubt="happened")),
        "crashed": evaluate(Shop(RuntimeError("connection reset")), always("desk lamp")),
        "not_approved": evaluate(Shop(), always("desk lamp"), solver=inspect_solver(approve="none")),
        "rejected_by_inspect": evaluate(Shop(), always("desk lamp"), inspect_decides="reject"),
        "terminated_by_inspect": evaluate(Shop(), always("desk lamp"), inspect_decides="terminate"),
        "sold_out": evaluate(Shop(sold_out="desk lamp"), take_another),
        "error_after_order": evaluate(
            Shop(ToolError("try again")), always("desk lamp"), solver=inspect_solver(absent_on_error=False)
        ),
        "over_limit": evaluate(Shop(), find_first, message_limit=4),
        "model_failed": evaluate(Shop(), fail_as_a_model, fail_on_error=False),
        "without_tools": evaluate(Shop(), always("desk lamp"), tools=False),
        "inspects_own_loop": evaluate(Shop(lost), always("desk lamp"), solver=generate()),
    }


if __name__ == "__main__":
    json.dump(run_all(), sys.stdout)
