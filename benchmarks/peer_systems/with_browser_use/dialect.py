"""browser-use's requests, which show a page as indented lines such as `[12]<input type=text />`, and its answers with up to five actions."""

import json
import re
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from benchmarks.llm.decisions import Element, Move, Page
from benchmarks.llm.meter import read_text
from benchmarks.peer_systems.dialects import Message, find_origin
from midcourse.testing.models import ChatRequest

MOST_ACTIONS = 5
ROLES = {"a": "link", "button": "button", "input": "textbox", "textarea": "textbox", "select": "combobox"}
FIELDS = ("textbox", "combobox")
ARIA_ROLES = (*FIELDS, "button", "link", "dialog")
TITLES = {
    "/admin/login/": "Sign in",
    "/admin/pages/add/": "New: Article",
    r"/admin/pages/\d+/edit/": "Editing Article",
    "/admin/pages/2/$": "Exploring: Gazette",
}
"""Of Wagtail's pages, by their addresses: their headings are other than their titles, but not those of error pages."""
_ELEMENT = re.compile(r"^(?:\|[^|]*\|)?\*?\[(\d+)\]<(\w+)([^>]*)>")
_ATTRIBUTE = re.compile(r"([\w-]+)=(.*?)(?= [\w-]+=|\s*/?$)")
_TAB = re.compile(r"^Tab (\w+): (\S+) - (.*)$", re.MULTILINE)


class BrowserUse:
    def read(self, request: ChatRequest) -> Page | list[Move] | Message:
        states = [read_text(message) for message in request.messages if "<browser_state>" in read_text(message)]
        state = states[-1][states[-1].rindex("<browser_state>") :]
        page = Page()
        _read_tab(state, page)
        _, _, listed = state.partition("Interactive elements")
        lines = listed.splitlines()[1:]
        _read_lines([line.strip().lstrip("*").strip() for line in lines], page)
        if not page.title or "://" in page.title or page.title.startswith("127.0.0.1"):  # the tab has no title yet
            heading = next((line for line in lines if line and line[0] not in "\t[|<*"), "")
            path = urlsplit(page.address).path
            titles = {} if re.match(r"5\d\d ", heading) else TITLES
            page.title = next((title for start, title in titles.items() if re.match(start, path)), heading)
        if not any(element.role in ("link", "button") for element in page.elements.values()):
            address = re.search(r"Go to (\S+?)\.? ", request.text)
            assert address
            shown = urlsplit(page.address)
            if shown.scheme == "http" and shown.path != urlsplit(address[1]).path:
                return [Move(kind="wait", says="the page is loading")]
            return [Move(kind="navigate", value=address[1], says="Open the site")]
        return page

    def select_fitting(self, moves: list[Move]) -> list[Move]:
        return moves[:MOST_ACTIONS]

    def write(self, moves: list[Move], page: Page, request: ChatRequest) -> Message:
        schema = json.dumps(request.body.get("response_format") or request.body.get("tools") or "")
        said = {
            "thinking": f"The page is '{page.title}'. {moves[-1].says}.",
            "evaluation_previous_goal": "The last actions led to the present page. Verdict: Success",
            "memory": f"On page '{page.title}'; next: {moves[-1].says}.",
            "next_goal": "; ".join(move.says for move in moves),
        }
        wanted = {name: text for name, text in said.items() if f'"{name}"' in schema}
        return {"content": json.dumps({**wanted, "action": [_action(move, page) for move in moves]})}


def _read_tab(state: str, page: Page) -> None:
    current = re.search(r"Current tab: (\w+)", state)
    for tab, address, title in _TAB.findall(state):
        if not page.address or (current and tab == current[1]):
            page.address, page.title = address, title.strip()


def _read_lines(lines: list[str], page: Page) -> None:
    labels = [""]
    """The text before the last field, and those after it."""
    row = ""
    for n, line in enumerate(lines):
        found = _ELEMENT.match(line)
        if found is None:
            if line and line[0] not in "<[|":
                labels += [line] if line != "required" else []  # pretix marks its fields so, after their labels
                row = row or line
                page.elements[f"#{n}"] = Element(id=f"#{n}", role="text", name=line)
            continue
        inner = next((each for each in lines[n + 1 : n + 2] if each and each[0] not in "[<|"), "")
        row = "" if found[2] == "tr" else row
        element = _element(found, labels, inner)
        labels = labels[-1:] if element.role in FIELDS else labels
        page.elements[found[1]] = replace(element, within=row)


def _element(found: re.Match[str], labels: list[str], inner: str) -> Element:
    has = {name: value.strip() for name, value in _ATTRIBUTE.findall(found[3].strip())}
    role = ROLES.get(found[2], found[2])
    if found[2] == "input" and has.get("type") in ("submit", "button"):
        role = "button"
    if has.get("role") in ARIA_ROLES:
        role = has["role"]
    own = has.get("aria-label") or has.get("ax_name") or ""
    label = next((each for each in labels if each.lower() == has.get("name")), labels[-1])  # a help text may follow it
    name = own or (label if role in FIELDS else inner or has.get("value", "")) or ("dialog" if role == "dialog" else "")
    value = has.get("value") or has.get("current_value") or has.get("selected") or ""
    return Element(id=found[1], role=role, name=name, value=value or (inner if found[2] == "textarea" else ""))


def _action(move: Move, page: Page) -> dict[str, Any]:
    index = int(move.element.id) if move.element else 0
    match move.kind:
        case "done":
            return {"done": {"text": move.says, "success": True, "files_to_display": []}}
        case "navigate":
            there = move.value if "://" in move.value else find_origin(page.address) + move.value
            return {"navigate": {"url": there, "new_tab": False}}
        case "click":
            return {"click": {"index": index}}
        case "select":
            return {"select_dropdown": {"index": index, "text": move.value}}
        case "type":
            return {"input": {"index": index, "text": move.value, "clear": True}}
        case _:
            return {"wait": {"seconds": 1}}
