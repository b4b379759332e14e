"""Reads Playwright's accessibility snapshots, which several systems show to their models, and the transcripts that they stand in."""

import json
import re
from dataclasses import replace
from typing import Any

from benchmarks.llm.decisions import Element, Page
from benchmarks.llm.meter import text_of
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
    above: list[tuple[int, str]] = []
    """Indent and id of the elements that the present one stands in."""
    choice = ""
    for n, line in enumerate(snapshot.splitlines()):
        plain = _QUOTED.sub(lambda m: f"{m[1]}- {m[2]}{m[3]}".replace("''", "'"), line)
        if not (found := _LINE.match(plain)):
            continue
        name = json.loads(found["name"]) if found["name"] else ""
        value = _unquoted((found["value"] or "").strip())
        if found["role"] == "option":
            if choice and "[selected]" in found["marks"]:
                page.elements[choice] = replace(page.elements[choice], value=name or value)
            continue
        ref = _REF.search(found["marks"])
        element = Element(
            id=ref[1] if ref else f"#{n}",
            role=found["role"],
            name=name or ("" if found["role"] == "textbox" else value),
            value=value,
            covered=ref is None,  # nothing can be done to it
        )
        above = [(indent, each) for indent, each in above if indent < len(found["indent"])]
        _name_by_content(page, above, element.name)
        if element.role == "text" and above and page.elements[above[-1][1]].role == "textbox":
            page.elements[above[-1][1]] = replace(page.elements[above[-1][1]], value=value)
        groups = [page.elements[each] for _, each in above if page.elements[each].role in GROUPS]
        page.elements[element.id] = replace(element, within=groups[-1].name if groups else "")
        above.append((len(found["indent"]), element.id))
        choice = element.id if element.role in ("combobox", "listbox") else choice


def _name_by_content(page: Page, above: list[tuple[int, str]], name: str) -> None:
    """Controls, rows and dialogs are named by what is in them if they have no name."""
    for _, each in above:
        if page.elements[each].role in ("button", "link", "row", "dialog") and not page.elements[each].name:
            page.elements[each] = replace(page.elements[each], name=name)


def _unquoted(text: str) -> str:
    return json.loads(text) if len(text) > 1 and text[0] == text[-1] == '"' else text


def last_shown(request: ChatRequest) -> tuple[Page, int] | None:
    """The page that a tool showed last, and the number of that message."""
    page = Page()
    for number in reversed(range(len(request.messages))):
        message = request.messages[number]
        said = text_of(message)
        if message["role"] != "tool" or not (address := _ADDRESS.search(said)):
            continue
        title = _TITLE.search(said)
        page.address = page.address or address[1]
        page.title = page.title or (title[1].strip() if title else "")
        if snapshot := _SNAPSHOT.search(said):
            read_snapshot(snapshot[1], page)
            return page, number
    return None


def calls_since(request: ChatRequest, number: int) -> list[dict[str, Any]]:
    """The arguments of all tools that were called after this message."""
    return [
        json.loads(call["function"]["arguments"])
        for message in request.messages[number + 1 :]
        for call in message.get("tool_calls") or ()
    ]
