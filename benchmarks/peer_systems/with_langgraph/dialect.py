"""The requests of LangChain's agent with our Playwright tools (`arm.py`): a transcript in which tools show the page."""

import re
from dataclasses import replace

from benchmarks.llm.decisions import Move, Page
from benchmarks.llm.meter import text_of
from benchmarks.peer_systems.dialects import Message, calls, origin_of
from benchmarks.peer_systems.snapshots import calls_since, last_shown
from midcourse.testing.models import ChatRequest


class LangGraph:
    def read(self, request: ChatRequest) -> Page | list[Move] | Message:
        last = request.messages[-1]
        shown = last_shown(request)
        if last["role"] == "tool" and text_of(last).startswith("Error"):
            return [Move(kind="wait")]
        if shown is None or shown[0].address == "about:blank":
            address = re.search(r"Go to (\S+?)\.? ", request.text)
            assert address
            return [Move(kind="navigate", value=address[1])]
        page, number = shown
        for given in calls_since(request, number):
            if element := page.elements.get(given.get("ref", "")):
                value = given.get("text", given.get("option", element.value))
                page.elements[element.id] = replace(element, value=value)
        return page

    def fitting(self, moves: list[Move]) -> list[Move]:
        """All fields at once; a click changes the page, so it is a turn of its own."""
        return [move for move in moves if move.kind in ("type", "select")] or moves[:1]

    def write(self, moves: list[Move], page: Page, request: ChatRequest) -> Message:
        if moves[0].kind == "done":
            return {"content": f"Done: {moves[0].says}"}
        return calls([self._call(move, page) for move in moves], request)

    def _call(self, move: Move, page: Page) -> tuple[str, dict[str, str]]:
        ref = move.element.id if move.element else ""
        match move.kind:
            case "navigate":
                there = move.value if "://" in move.value else origin_of(page.address) + move.value
                return "navigate", {"url": there}
            case "click":
                return "click", {"ref": ref}
            case "type":
                return "fill", {"ref": ref, "text": move.value}
            case "select":
                return "select", {"ref": ref, "option": move.value}
            case _:
                return "look", {}
