"""A LangGraph graph that orders through Midcourse: you approve, and a node that runs again orders nothing twice."""

from pathlib import Path

from langchain.agents import create_agent

from midcourse import Agent
from midcourse.worlds import Functions


def order(product: str) -> None:
    with Path("orders.txt").open("a") as orders:
        orders.write(f"{product}\n")


tool = Agent(Functions(order), model="openai:gpt-5").as_tool("Order it", name="order", inputs={"product": str})
graph = create_agent("openai:gpt-5", [tool.for_langgraph()])
asked = {"messages": [{"role": "user", "content": "Order a desk lamp"}]}
print(graph.invoke(asked, {"configurable": {"thread_id": "chat-1"}})["messages"][-1].text)
