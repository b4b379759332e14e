"""Stagehand's requests: those of its agent, whose tools take instructions in words, and those that find the element for an instruction."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from benchmarks.llm.decisions import Element, Move, Page
from benchmarks.llm.meter import read_text
from benchmarks.peer_systems.dialects import Message, find_origin, make_tool_calls
from benchmarks.peer_systems.snapshots import calls_since
from midcourse.testing.models import ChatRequest

TREE = "Accessibility Tree:"
_LINE = re.compile(r"^\s*\[(\d+-\d+)\] ([\w-]+(?:, \w+)*)(?:: (.*))?$")
_ACTION = re.compile(r"(type|select|click) (.*?) ?(?:into|in|on) the .*? \w+ \(id (\d+-\d+)\)")
METHODS = {"type": "fill", "select": "selectOptionFromDropdown", "click": "click"}
ROLES = {"select": "combobox"}
KINDS = {"type": "textbox", "select": "dropdown", "click": "element"}


class Stagehand:
    def read(self, request: ChatRequest) -> Page | list[Move] | Message:
        if not request.tools:
            return _found(request)
        trees = [n for n, each in enumerate(request.messages) if each["role"] == "tool" and TREE in read_text(each)]
        changed = [n for n, each in enumerate(request.messages) if _changes_the_page(each)]
        address = re.findall(r"Go to (https?://\S+?)\.? ", request.text)[-1]
        if not changed:
            return [Move(kind="navigate", value=address)]
        if not trees or trees[-1] < changed[-1]:
            return [Move(kind="wait")]
        page = _read_tree(read_text(request.messages[trees[-1]]))
        page.address = address
        for arguments in calls_since(request, trees[-1]):
            for action in (arguments.get("action", ""), *(field["action"] for field in arguments.get("fields", ()))):
                for kind, value, ref in _ACTION.findall(action):
                    if kind != "click" and ref in page.elements:
                        page.elements[ref] = replace(page.elements[ref], value=value)
        return page

    def select_fitting(self, moves: list[Move]) -> list[Move]:
        """All texts at once; an option or a click is a turn of its own."""
        return [move for move in moves if move.kind == "type"] or moves[:1]

    def write(self, moves: list[Move], page: Page, request: ChatRequest) -> Message:
        first = moves[0]
        match first.kind:
            case "done":
                return make_tool_calls([("done", {"reasoning": first.says, "taskComplete": True})], request)
            case "navigate":
                there = first.value if "://" in first.value else find_origin(page.address) + first.value
                return make_tool_calls([("goto", {"url": there})], request)
            case "type":
                fields = [{"action": _describe(move)} for move in moves]
                return make_tool_calls([("fillForm", {"fields": fields})], request)
            case "select" | "click":
                return make_tool_calls([("act", {"action": _describe(first)})], request)
            case _:
                return make_tool_calls([("ariaTree", {})], request)


def _changes_the_page(message: Mapping[str, Any]) -> bool:
    made = [call["function"] for call in message.get("tool_calls") or ()]
    return any(call["name"] == "goto" or '"click ' in call["arguments"] for call in made)


def _describe(move: Move) -> str:
    assert move.element
    what = {"type": f"{move.value} into", "select": f"{move.value} in", "click": "on"}[move.kind]
    return f"{move.kind} {what} the {move.element.name} {KINDS[move.kind]} (id {move.element.id})"


def _found(request: ChatRequest) -> Message:
    """The elements that an instruction names."""
    instruction = read_text(request.messages[-1]).partition(TREE)[0]
    elements = [
        {
            "elementId": ref,
            "description": value or kind,
            "method": METHODS[kind],
            "arguments": [] if kind == "click" else [value],
        }
        for kind, value, ref in _ACTION.findall(instruction)
    ]
    if '"twoStep"' in json.dumps(request.body):
        return {"content": json.dumps({"action": elements[0], "twoStep": False})}
    return {"content": json.dumps({"elements": elements})}


def _read_tree(text: str) -> Page:
    """The text of a tool's answer, which is a list of parts as JSON."""
    page = Page()
    for line in "\n".join(part["text"] for part in json.loads(text)).splitlines():
        if not (found := _LINE.match(line)):
            continue
        role, name = found[2].split(", ")[-1], (found[3] or "").strip()
        if role == "RootWebArea":
            page.title = name
        page.elements[found[1]] = Element(id=found[1], role=ROLES.get(role, role), name=name)
    return page
