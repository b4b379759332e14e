"""The requests of Magentic's manager and of its one agent, which has the same tools as LangChain's agent (`arm.py`)."""

import json
import re

from benchmarks.llm.decisions import Move, Page
from benchmarks.llm.meter import read_text
from benchmarks.peer_systems.dialects import Message
from benchmarks.peer_systems.with_langgraph.dialect import LangGraph
from midcourse.testing.models import ChatRequest

FACTS = """\
1. GIVEN OR VERIFIED FACTS
{task}
2. FACTS TO LOOK UP
What the pages show.
3. FACTS TO DERIVE
None.
4. EDUCATED GUESSES
The pages say what is left to do."""
PLAN = "- The browser agent carries out the request.\n- It says 'Done' when all of it is done."
ANSWERS = {"pre-survey": FACTS, "rewrite the following fact sheet": FACTS, "bullet-point": PLAN}
"""Answers to the manager's prompts, by words in them. Both prompts about a plan ask for bullet points."""


class Magentic(LangGraph):
    def read(self, request: ChatRequest) -> Page | list[Move] | Message:
        if not request.tools:
            return {"content": answer_as_manager(request)}
        if request.body.get("tool_choice") == "none":  # the last request after 40 turns, or after three errors in a row
            return {"content": "It is not done yet."}
        return super().read(request)


def answer_as_manager(request: ChatRequest) -> str:
    """Answer a prompt of the manager. The request is satisfied if the agent said so in its last message."""
    *earlier, said, prompt = map(read_text, request.messages)
    task = re.search(r"^Go to .+", request.text, re.MULTILINE)
    assert task
    if "pure JSON" in prompt:
        return write_ledger(said.startswith("Done"), said in earlier, task[0])
    if "provide the final answer" in prompt:
        return said
    return next(answer for words, answer in ANSWERS.items() if words in prompt).format(task=task[0])


def write_ledger(satisfied: bool, in_loop: bool, task: str) -> str:
    answers = {
        "is_request_satisfied": ("whether the agent said that it is done", satisfied),
        "is_in_loop": ("whether the agent said the same before", in_loop),
        "is_progress_being_made": ("whether the agent said something new", not in_loop),
        "next_speaker": ("the only one with a browser", "browser"),
        "instruction_or_question": ("the whole request", task),
    }
    return json.dumps({name: {"reason": reason, "answer": answer} for name, (reason, answer) in answers.items()})
