"""An agent of the OpenAI Agents SDK that plans: Midcourse carries the plan out, with approval and once."""

from pathlib import Path

from agents import Agent as Assistant

from midcourse import Agent, TerminalApprover
from midcourse.frameworks import OpenAIPlanner
from midcourse.worlds import Functions


def order(product: str) -> None:
    with Path("orders.txt").open("a") as orders:
        orders.write(f"{product}\n")


planner = OpenAIPlanner(Assistant(name="Planner", model="gpt-5"))
agent = Agent(Functions(order), planner, approver=TerminalApprover())
print(agent.run_sync("Order a desk lamp").final_reason)
