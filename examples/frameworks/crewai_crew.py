"""A CrewAI agent that orders through Midcourse: you approve, and a repeated call orders nothing twice."""

from pathlib import Path

from crewai import Agent as Clerk

from midcourse import Agent, Step
from midcourse.expect import Reference
from midcourse.planners import SamePlan
from midcourse.worlds import Functions


def order(product: str) -> None:
    with Path("orders.txt").open("a") as orders:
        orders.write(f"{product}\n")


plan = SamePlan([Step(skill="order", arguments={"product": Reference(source="input", name="product")})])
tool = Agent(Functions(order), plan).as_tool("Order it", name="order", inputs={"product": str}).for_crewai("chat-1")
print(Clerk(role="clerk", goal="orders", backstory="", llm="openai/gpt-5", tools=[tool]).kickoff("Order a desk lamp"))
