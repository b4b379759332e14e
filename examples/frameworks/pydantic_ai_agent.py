"""A pydantic-ai agent that orders through Midcourse: you approve, and a repeated call orders nothing twice."""

from pathlib import Path

from pydantic_ai import Agent as Assistant

from midcourse import Agent
from midcourse.worlds import Functions


def order(product: str) -> None:
    with Path("orders.txt").open("a") as orders:
        orders.write(f"{product}\n")


tool = Agent(Functions(order), model="openai:gpt-5").as_tool("Order it", name="order", inputs={"product": str})
assistant = Assistant("openai-chat:gpt-5", tools=[tool.for_pydantic_ai()])
print(assistant.run_sync("Order a desk lamp", conversation_id="chat-1").output)
