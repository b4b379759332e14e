"""A LangGraph graph that plans: Midcourse carries the plan out, with approval and once."""

from pathlib import Path

from langchain.agents import create_agent

from midcourse import Agent, TerminalApprover
from midcourse.frameworks import LangGraphPlanner
from midcourse.worlds import Functions


def order(product: str) -> None:
    with Path("orders.txt").open("a") as orders:
        orders.write(f"{product}\n")


planner = LangGraphPlanner(create_agent("openai:gpt-5"))
agent = Agent(Functions(order), planner, approver=TerminalApprover())
print(agent.run_sync("Order a desk lamp").final_reason)
