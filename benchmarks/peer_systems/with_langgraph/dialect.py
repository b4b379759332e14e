"""The requests of LangChain's agent with our Playwright tools (`arm.py`): a transcript in which tools show the page."""

import re
from dataclasses import replace

from benchmarks.llm.decisions import Move, Page
from benchmarks.llm.meter import read_text
from benchmarks.peer_systems.dialects import Message, find_origin, make_tool_calls
from benchmarks.peer_systems.snapshots import calls_since, find_last_page
from midcourse.testing.models import ChatRequest


class LangGraph:
    def read(self, request: ChatRequest) -> Page | list[Move] | Message:
        last = request.messages[-1]
        shown = find_last_page(request)
        if last["role"] == "tool" and read_text(last).startswith("Error"):
            return [Move(kind="wait")]
        if shown is None or shown[0].address == "about:blank":
            address = re.search(r"Go to (\S+?)\.? ", request.text)
            assert address
            return [Move(kind="navigate", value=address[1])]
        page, number = shown
        for arguments in calls_since(request, number):
            if element := page.elements.get(arguments.get("ref", "")):
                value = arguments.get("text", arguments.get("option", element.value))
                page.elements[element.id] = replace(element, value=value)
        return page

    def select_fitting(self, moves: list[Move]) -> list[Move]:
        """All fields at once; a click changes the page, so it is a turn of its own."""
        return [move for move in moves if move.kind in ("type", "select")] or moves[:1]

    def write(self, moves: list[Move], page: Page, request: ChatRequest) -> Message:
        if moves[0].kind == "done":
            return {"content": f"Done: {moves[0].says}"}
        return make_tool_calls([self._call(move, page) for move in moves], request)

    def _call(self, move: Move, page: Page) -> tuple[str, dict[str, str]]:
        ref = move.element.id if move.element else ""
        match move.kind:
            case "navigate":
                there = move.value if "://" in move.value else find_origin(page.address) + move.value
                return "navigate", {"url": there}
            case "click":
                return "click", {"ref": ref}
            case "type":
                return "fill", {"ref": ref, "text": move.value}
            case "select":
                return "select", {"ref": ref, "option": move.value}
            case _:
                return "look", {}
