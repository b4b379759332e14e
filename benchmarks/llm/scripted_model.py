"""A scripted model behind an OpenAI-compatible endpoint: it knows the task, reads only what the prompt shows, and counts tokens.

with serve_model("shop", encode=tokenizer()) as (url, model): ...
model.spent()
"""

import json
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

from benchmarks.llm.advice import ADVICE
from benchmarks.llm.decisions import LISTED, Element, Move, Page, Policy, decide
from benchmarks.llm.meter import Call, Meter
from benchmarks.llm.sites import SECRET
from midcourse.testing.models import ChatRequest, ModelServer, Says, Usage

Evidence: TypeAlias = Literal["all", "final", "none"]
"""Which submitting clicks get an `expect`: every one, as the prompt asks for; the last one, with a probe; or none."""


# --- what a prompt shows

_ZONE = re.compile(
    r'(?<!\S)(\S+) ([^\s|]+) ("(?:[^"\\]|\\.)*")((?: \S+=(?:"(?:[^"\\]|\\.)*"|\S+))*)|"(?:[^"\\]|\\.)*"|[^|"\s][^|"]*'
)
"""A zone, or the text of a cell in a row of a table."""
_GROUP = re.compile(r'in ("(?:[^"\\]|\\.)*"):$')
_STATE = re.compile(r' (\S+?)=("(?:[^"\\]|\\.)*"|\S+)')
_SURFACE = re.compile(r'surface ("(?:[^"\\]|\\.)*")(?: at ("(?:[^"\\]|\\.)*"))?')


def read_page(text: str) -> Page:
    page = Page()
    for name in ("SCREEN", "CHANGES"):
        group = ""
        for line in _fence(text, name).splitlines():
            if begins := _GROUP.match(line):
                group = json.loads(begins[1])
                continue
            group = group if line.startswith(" ") else ""
            _read_line(line, group, page)
    page.finished = _fence(text, "FINISHED") + _fence(text, "FINISHED_HERE")
    if f"$secret.{SECRET}" in _fence(text, "VALUES"):
        page.password = f"$secret.{SECRET}"
    return page


def _read_line(line: str, group: str, page: Page) -> None:
    if surface := _SURFACE.match(line):
        page.title, page.address = json.loads(surface[1]), json.loads(surface[2] or '""')
    elif line.startswith("gone: "):
        for gone in line.split()[1:]:
            page.elements.pop(gone, None)
    elif line.startswith(("|", "table:")):
        found = [*_ZONE.finditer(line.removeprefix("table:"))]
        row = next((each[0].strip().strip('"') for each in found if not each[1]), "")
        for n, each in enumerate(found):
            if each[1]:
                _read_zone(each, row, page)
            else:  # the text of a cell, which has no id
                name = f"cell {len(page.elements)} {n}"
                page.elements[name] = Element(id=name, role="cell", name=each[0].strip().strip('"'), within=row)
    elif (zone := _ZONE.match(line.strip())) and zone[1]:
        _read_zone(zone, group, page)


def _read_zone(zone: re.Match[str], within: str, page: Page) -> None:
    state = {name: json.loads(value) if value[0] == '"' else value for name, value in _STATE.findall(zone[4])}
    page.elements[zone[1]] = Element(
        id=zone[1],
        role=zone[2],
        name=json.loads(zone[3]),
        value=state.get("value", ""),
        within=state.get("within", within),
        covered=state.get("covered") == "true",
    )


def _fence(text: str, name: str) -> str:
    found = re.search(rf"<<<{name}\n(.*?)\n{name}>>>", text, re.DOTALL)
    return found[1] if found else ""


# --- how an answer is written


def write(moves: list[Move], evidence: Evidence) -> dict[str, Any]:
    if moves[0].kind == "done":
        return {"verdict": "done", "reason": moves[0].says}
    steps = [_step(move, evidence) for move in moves]
    return {"steps": steps, "final": True} if moves[-1].final and evidence != "none" else {"steps": steps}


def _step(move: Move, evidence: Evidence) -> dict[str, Any]:
    match move.kind:
        case "wait":
            text = move.says.split(" is ")[0]
            return {"skill": "wait_for", "arguments": _list(text=text, seconds="1")}
        case "navigate":
            return {"skill": "navigate", "arguments": _list(url=move.value)}
        case "click" | "done":
            assert move.element
            step: dict[str, Any] = {"zone": move.element.id, "skill": "click"}
            if move.then:
                step["says"] = move.says
            if evidence == "none" or not (move.final or (evidence == "all" and move.then)):
                return step
            step["expect"] = {"page": move.then}
            if move.final:
                path, text = LISTED[move.says]
                step["probe"] = {"name": "page_shows", "arguments": _list(url=path, text=text)}
            return step
        case "type" | "select":
            assert move.element
            name = "text" if move.kind == "type" else "option"
            return {"zone": move.element.id, "skill": move.kind, "arguments": _list(**{name: move.value})}


def _list(**values: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]


# --- the model


class ScriptedModel:
    """Answers as a script of `ModelServer`. Without `encode` it counts calls only."""

    def __init__(
        self,
        app: str,
        *,
        policy: Policy = "trusting",
        evidence: Evidence = "all",
        encode: Callable[[str], list[int]] | None = None,
    ) -> None:
        self.app = app
        self.policy: Policy = policy
        self.evidence: Evidence = evidence
        self._meter = Meter(encode)

    @property
    def calls(self) -> list[Call]:
        return self._meter.calls

    def __call__(self, request: ChatRequest) -> Says:
        page = read_page(request.text)
        answer = json.dumps(ADVICE.get(request.role, write(decide(self.app, self.policy, page), self.evidence)))
        call = self._meter.count(request, answer)
        return Says(answer, usage=Usage(call.tokens_in, call.tokens_out, call.cached))

    def spent(self) -> dict[str, float]:
        return self._meter.spent()


@contextmanager
def serve_model(
    app: str,
    *,
    policy: Policy = "trusting",
    evidence: Evidence = "all",
    encode: Callable[[str], list[int]] | None = None,
) -> Generator[tuple[str, ScriptedModel]]:
    """The endpoint's base URL, and the model behind it with what it was asked and counted."""
    model = ScriptedModel(app, policy=policy, evidence=evidence, encode=encode)
    with ModelServer(model) as server:
        yield server.url, model
