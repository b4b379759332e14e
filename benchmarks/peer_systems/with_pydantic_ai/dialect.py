"""The requests of pydantic-ai with Playwright's MCP server: a transcript of its tools, whose answers link to a snapshot of the page."""

import re
from dataclasses import replace
from typing import Any

from benchmarks.llm.decisions import Move, Page
from benchmarks.llm.meter import read_text
from benchmarks.peer_systems.dialects import Message, find_origin, make_tool_calls
from benchmarks.peer_systems.snapshots import calls_since, find_last_page
from midcourse.testing.models import ChatRequest

TYPES = {"type": "textbox", "select": "combobox"}


class PlaywrightMcp:
    def read(self, request: ChatRequest) -> Page | list[Move] | Message:
        last = request.messages[-1]
        shown = find_last_page(request)
        if _hides_the_page(last, request) and shown:
            return [Move(kind="wait")]
        if last["role"] == "user" or shown is None:
            address = re.search(r"Go to (\S+?)\.? ", request.text)
            assert address
            opened = any(message["role"] == "tool" for message in request.messages)
            return [Move(kind="wait")] if opened else [Move(kind="navigate", value=address[1])]
        page, number = shown
        for arguments in calls_since(request, number):
            for each in arguments.get("fields", ()):
                if element := page.elements.get(each["target"]):
                    page.elements[element.id] = replace(element, value=each["value"])
        return page

    def select_fitting(self, moves: list[Move]) -> list[Move]:
        """A form at once, without the button that sends it."""
        return [move for move in moves if move.kind in TYPES] or moves[:1]

    def write(self, moves: list[Move], page: Page, request: ChatRequest) -> Message:
        first = moves[0]
        match first.kind:
            case "done":
                return {"content": f"Done: {first.says}"}
            case "navigate":
                there = first.value if "://" in first.value else find_origin(page.address) + first.value
                return make_tool_calls([("browser_navigate", {"url": there})], request)
            case "click":
                assert first.element
                target = {"element": first.element.name, "target": first.element.id}
                return make_tool_calls([("browser_click", target)], request)
            case "type" | "select":
                return make_tool_calls([("browser_fill_form", {"fields": [_field(move) for move in moves]})], request)
            case _:
                return make_tool_calls([("browser_snapshot", {})], request)


def _hides_the_page(last: Any, request: ChatRequest) -> bool:
    """Whether the last tool changed the page and shows no snapshot of it, or failed."""
    if last["role"] != "tool":
        return False
    names = {
        call["id"]: call["function"]["name"] for message in request.messages for call in message.get("tool_calls") or ()
    }
    name = names.get(last["tool_call_id"])
    return "```yaml" not in read_text(last) and name != "browser_fill_form"


def _field(move: Move) -> dict[str, str]:
    assert move.element
    return {"name": move.element.name, "type": TYPES[move.kind], "target": move.element.id, "value": move.value}
