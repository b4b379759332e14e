"""An evaluation in Inspect: the evaluated model plans, and Midcourse makes each irreversible call once."""

from pathlib import Path

import inspect_ai
from inspect_ai.dataset import Sample
from inspect_ai.solver import use_tools
from inspect_ai.tool import ToolDef

from midcourse.frameworks import inspect_solver


async def order(product: str) -> None:
    with Path("orders.txt").open("a") as orders:  # noqa: ASYNC230
        orders.write(f"{product}\n")


setup = use_tools(ToolDef(order, description="Order a product.", parameters={"product": "Its name."}))
task = inspect_ai.Task([Sample("Order a desk lamp")], setup=setup, solver=inspect_solver())
print(inspect_ai.eval(task, model="openai/gpt-5")[0].samples[0].output.completion)
