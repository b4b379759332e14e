"""Reads Playwright's accessibility snapshots, which several systems show to their models, from the transcripts of those systems."""

import json
import re
from dataclasses import replace
from typing import Any

from benchmarks.llm.decisions import Element, Page
from benchmarks.llm.meter import read_text
from midcourse.testing.models import ChatRequest

_LINE = re.compile(
    r'^(?P<indent>\s*)- (?P<role>[a-z]+)(?: (?P<name>"(?:[^"\\]|\\.)*"))?(?P<marks>(?: \[[^\]]*\])*)(?::(?: (?P<value>.*))?)?$'
)
_QUOTED = re.compile(r"^(\s*)- '(.*)'(:?)$")
_REF = re.compile(r"\[ref=(\w+)\]")
_TITLE = re.compile(r"(?:Page Title|title): (.*)")
_ADDRESS = re.compile(r"(?:Page URL|url): (\S+)")
_SNAPSHOT = re.compile(r"```yaml\n(.*?)```", re.DOTALL)
GROUPS = ("row", "listitem", "dialog")


def read_snapshot(snapshot: str, page: Page) -> None:
    ancestors: list[tuple[int, str]] = []
    """Indent and id of the elements around the current one."""
    choice = ""
    for n, line in enumerate(snapshot.splitlines()):
        plain = _QUOTED.sub(lambda m: f"{m[1]}- {m[2]}{m[3]}".replace("''", "'"), line)
        if not (match := _LINE.match(plain)):
            continue
        name = json.loads(match["name"]) if match["name"] else ""
        value = _unquote((match["value"] or "").strip())
        if match["role"] == "option":
            if choice and "[selected]" in match["marks"]:
                page.elements[choice] = replace(page.elements[choice], value=name or value)
            continue
        ref = _REF.search(match["marks"])
        element = Element(
            id=ref[1] if ref else f"#{n}",
            role=match["role"],
            name=name or ("" if match["role"] == "textbox" else value),
            value=value,
            covered=ref is None,  # nothing can be done to it
        )
        ancestors = [(indent, ancestor) for indent, ancestor in ancestors if indent < len(match["indent"])]
        _name_by_content(page, ancestors, element.name)
        if element.role == "text" and ancestors and page.elements[ancestors[-1][1]].role == "textbox":
            page.elements[ancestors[-1][1]] = replace(page.elements[ancestors[-1][1]], value=value)
        groups = [page.elements[ancestor] for _, ancestor in ancestors if page.elements[ancestor].role in GROUPS]
        page.elements[element.id] = replace(element, within=groups[-1].name if groups else "")
        ancestors.append((len(match["indent"]), element.id))
        choice = element.id if element.role in ("combobox", "listbox") else choice


def _name_by_content(page: Page, ancestors: list[tuple[int, str]], name: str) -> None:
    """Name controls, rows and dialogs without a name by their content."""
    for _, ancestor in ancestors:
        if page.elements[ancestor].role in ("button", "link", "row", "dialog") and not page.elements[ancestor].name:
            page.elements[ancestor] = replace(page.elements[ancestor], name=name)


def _unquote(text: str) -> str:
    return json.loads(text) if len(text) > 1 and text[0] == text[-1] == '"' else text


def find_last_page(request: ChatRequest) -> tuple[Page, int] | None:
    """Return the page that a tool showed last, and the number of that message."""
    page = Page()
    for number in reversed(range(len(request.messages))):
        message = request.messages[number]
        text = read_text(message)
        if message["role"] != "tool" or not (address := _ADDRESS.search(text)):
            continue
        title = _TITLE.search(text)
        page.address = page.address or address[1]
        page.title = page.title or (title[1].strip() if title else "")
        if snapshot := _SNAPSHOT.search(text):
            read_snapshot(snapshot[1], page)
            return page, number
    return None


def calls_since(request: ChatRequest, number: int) -> list[dict[str, Any]]:
    """Return the arguments of all tool calls after this message."""
    return [
        json.loads(call["function"]["arguments"])
        for message in request.messages[number + 1 :]
        for call in message.get("tool_calls") or ()
    ]
