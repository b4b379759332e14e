"""An agent as a tool: calls are keyed, questions are pending answers, and pydantic-ai's own retries and time-outs do not apply."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent as Assistant
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from midcourse import Agent, Draft, PlanDraft
from midcourse.cli.main import main
from midcourse.errors import TaskInvalid
from midcourse.frameworks import AgentTool, ToolAnswer
from midcourse.settings import Settings
from midcourse.store.memory import MemoryStore
from midcourse.testing import Approves, Rejects
from midcourse.worlds import Functions


class OrderOnce:
    """Plans one order of the task's product."""

    async def plan(self, context: Any) -> PlanDraft:
        product = dict(context.task.inputs)["product"]
        step = Draft(skill="order", arguments={"product": product}, says=f"Order one {product}")
        return PlanDraft(steps=[step], final=True)


class Shop:
    """Orders in the order of their arrival. `answers`: it loses the answer unless it does; `slow`: seconds an order takes."""

    def __init__(self, home: Path, *, answers: bool = True, slow: float = 0.0, **tool: Any) -> None:
        self.home, self.orders, self.answers, self.slow = home, list[str](), answers, slow
        self.tool = self.new_tool(**tool)

    def new_tool(self, *, approver: Any = None, **options: Any) -> AgentTool:
        """As in a process that has just started."""

        async def order(product: str) -> None:
            self.orders.append(product)
            await asyncio.sleep(self.slow)
            if not self.answers:
                raise TimeoutError("504 Gateway Timeout")

        agent = Agent(Functions(order), OrderOnce(), approver=approver, settings=Settings(home=self.home))
        return agent.as_tool("Order a product", name="order", inputs={"product": str}, **options)

    async def call(self, call: str = "1", conversation: str = "chat", **arguments: Any) -> ToolAnswer:
        return await self.tool.call(arguments or {"product": "Lamp"}, conversation=conversation, call=call)

    def decide(self, *words: str) -> None:
        assert main([*words, "--set", f"home={self.home}"]) == 0


async def test_a_repeated_call_starts_nothing_and_another_one_does(tmp_path: Path) -> None:
    shop = Shop(tmp_path, approver=Approves())
    first = await shop.call()
    assert (first.status, first.did) == ("done", ("Order one Lamp",))
    assert (first.says, first.verified) == ("done, and it was accepted", False)
    assert first.next.startswith("Nothing verified it. Tell the user so")
    assert await shop.call() == first
    shop.tool = shop.new_tool(approver=Approves())
    assert await shop.call() == first
    assert shop.orders == ["Lamp"]
    assert (await shop.call("2")).run != first.run
    assert (await shop.call(conversation="another")).status == "done"
    assert shop.orders == ["Lamp"] * 3


async def test_the_same_call_with_other_inputs_is_refused(tmp_path: Path) -> None:
    shop = Shop(tmp_path, approver=Approves())
    await shop.call()
    assert (await shop.call(product="Desk")).status == "refused"
    wrong: list[dict[str, Any]] = [{"product": "Lamp", "price": 1}, {"prod": "x"}, {"": "[]"}]
    for arguments in wrong:
        assert (await shop.call("2", **arguments)).status == "refused"
    assert shop.orders == ["Lamp"]


def test_a_question_is_pending_until_a_person_decides_it(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    pending = asyncio.run(shop.call())
    assert pending.status == "pending"
    assert "May this be done? Order one Lamp" in pending.says
    assert f"midcourse approve {pending.run} --set home={tmp_path}" in pending.next
    for _ in range(2):
        assert asyncio.run(shop.call()) == pending
        assert asyncio.run(shop.call("2", run=pending.run)) == pending
    assert shop.orders == []
    shop.decide("approve", pending.run, "--yes")
    assert shop.orders == []
    done = asyncio.run(shop.call("3", run=pending.run))
    assert (done.status, shop.orders) == ("done", ["Lamp"])
    assert asyncio.run(shop.call()) == done
    assert shop.orders == ["Lamp"]


def test_runs_of_other_conversations_and_tools_cannot_be_continued(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    pending = asyncio.run(shop.call())
    shop.decide("approve", pending.run, "--yes")
    for conversation, run in (("cha", pending.run), ("other", pending.run), ("chat", "no-such-run")):
        answer = asyncio.run(shop.call("2", conversation, run=run))
        assert (answer.status, answer.data) == ("refused", {})
    assert shop.orders == []


async def test_a_refusal_is_an_answer_and_is_not_asked_again_for_the_same_call(tmp_path: Path) -> None:
    shop = Shop(tmp_path, approver=(no := Rejects()))
    assert [(await shop.call()).status for _ in range(2)] == ["rejected"] * 2
    assert (len(no.questions), shop.orders) == (1, [])


def test_an_order_in_doubt_is_a_question_and_ends_as_unknown(tmp_path: Path) -> None:
    shop = Shop(tmp_path, answers=False)
    pending = asyncio.run(shop.call())
    shop.decide("approve", pending.run, "--yes")
    in_doubt = asyncio.run(shop.call(run=pending.run))
    assert (in_doubt.status, shop.orders) == ("pending", ["Lamp"])
    assert f"midcourse answer {pending.run}" in in_doubt.next
    shop.decide("answer", pending.run, "stop")
    unknown = asyncio.run(shop.call())
    assert (unknown.status, unknown.did, shop.orders) == ("unknown", ("Order one Lamp",), ["Lamp"])
    assert asyncio.run(shop.call()) == unknown
    assert shop.orders == ["Lamp"]


async def test_a_business_key_holds_over_conversations(tmp_path: Path) -> None:
    shop = Shop(tmp_path, approver=Approves(), key="{product}")
    assert await shop.call() == await shop.call("2", "another")
    assert shop.orders == ["Lamp"]


async def test_parallel_calls_take_turns_in_the_world(tmp_path: Path) -> None:
    shop = Shop(tmp_path, approver=Approves())
    answers = await asyncio.gather(*(shop.call(call) for call in "1122"))
    assert {answer.status for answer in answers} == {"done"}
    assert shop.orders == ["Lamp", "Lamp"]


async def test_calls_of_derived_agents_take_turns_in_the_world_that_they_share(tmp_path: Path) -> None:
    log = list[str]()

    def order(product: str) -> None:
        log.append(product)

    class World(Functions):
        async def open(self) -> str:
            log.append("open")
            return await super().open()

        async def close(self) -> None:
            log.append("close")
            await super().close()

    agent = Agent(World(order), OrderOnce(), approver=Approves(), settings=Settings(home=tmp_path))
    agents = (agent, agent.with_store(MemoryStore()), replace(agent, approver=Approves()))
    tools = [one.as_tool("Order", name="order", inputs={"product": str}) for one in agents]
    started = (tool.call({"product": "Lamp"}, conversation="chat", call=str(n)) for n, tool in enumerate(tools))
    assert [answer.status for answer in await asyncio.gather(*started)] == ["done"] * 3
    assert log == ["open", "Lamp", "close"] * 3


@pytest.mark.parametrize("options", [{"key": "{order}"}, {"key": "same"}, {"inputs": {"run": str}}])
def test_tools_that_make_no_sense_are_refused(options: dict[str, Any], tmp_path: Path) -> None:
    agent: Any = Shop(tmp_path).tool.agent
    with pytest.raises(TaskInvalid):
        agent.as_tool("Order", name="order", **options)


async def test_a_call_without_a_conversation_is_an_error_of_the_program(tmp_path: Path) -> None:
    with pytest.raises(TaskInvalid, match="did not name the conversation"):
        await Shop(tmp_path).call(conversation="")


async def test_a_call_that_was_given_up_is_not_made_again(tmp_path: Path) -> None:
    shop = Shop(tmp_path, slow=60.0, approver=(yes := Approves()))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await shop.call()
    assert shop.orders == ["Lamp"]
    yes.questions.clear()
    await shop.call()
    assert [question.about for question in yes.questions] == ["happened"]
    assert shop.orders == ["Lamp"]


# --- in pydantic-ai


def calls(*arguments: dict[str, Any]) -> FunctionModel:
    """A model that makes these calls one after the other, and then says what it was answered last."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        number = sum(isinstance(message, ModelResponse) for message in messages)
        if number < len(arguments):
            return ModelResponse(parts=[ToolCallPart("order", arguments[number], tool_call_id=f"call-{number}")])
        returned = [part for message in messages for part in message.parts if part.part_kind == "tool-return"]
        return ModelResponse(parts=[TextPart(str(returned[-1].content))])

    return FunctionModel(answer)


async def test_in_pydantic_ai_a_repeated_conversation_orders_once(tmp_path: Path) -> None:
    shop = Shop(tmp_path, approver=Approves())
    for _ in range(2):
        assistant = Assistant(calls({"product": "Lamp"}), tools=[shop.new_tool(approver=Approves()).for_pydantic_ai()])
        done = json.loads((await assistant.run("Order a lamp", conversation_id="chat")).output)
        assert done["status"] == "done"
    assert shop.orders == ["Lamp"]


async def test_time_outs_and_retries_of_pydantic_ai_do_not_apply(tmp_path: Path) -> None:
    shop = Shop(tmp_path, approver=Approves(), slow=0.3)
    tool = shop.tool.for_pydantic_ai()
    assistant = Assistant(calls({"product": "Lamp"}), tools=[tool], tool_timeout=0.1, retries=3)
    assert json.loads((await assistant.run("Order a lamp")).output)["status"] == "done"
    assert (tool.max_retries, tool.sequential) == (0, True)
    assert shop.orders == ["Lamp"]


async def test_a_model_of_pydantic_ai_cannot_approve(tmp_path: Path) -> None:
    """It tries everything that the tool offers; only a person decides."""
    shop = Shop(tmp_path)
    first = await shop.call("call-0")
    tries = [
        {"product": "Lamp"},
        {"run": first.run},
        {"run": first.run, "approved": True},
        {"product": "Lamp", "verdict": "approved"},
    ]
    assistant = Assistant(calls(*tries), tools=[shop.tool.for_pydantic_ai()])
    await assistant.run("Order a lamp", conversation_id="chat")
    assert shop.orders == []
