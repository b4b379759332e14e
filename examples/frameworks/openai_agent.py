"""An agent of the OpenAI Agents SDK that orders through Midcourse: you approve, and a repeated call orders nothing twice."""

from pathlib import Path

from agents import Agent as Assistant
from agents import RunConfig, Runner

from midcourse import Agent
from midcourse.worlds import Functions


def order(product: str) -> None:
    with Path("orders.txt").open("a") as orders:
        orders.write(f"{product}\n")


tool = Agent(Functions(order), model="openai:gpt-5").as_tool("Order it", name="order", inputs={"product": str})
assistant = Assistant(name="Buyer", model="gpt-5", tools=[tool.for_openai_agents()])
print(Runner.run_sync(assistant, "Order a desk lamp", run_config=RunConfig(group_id="chat-1")).final_output)
