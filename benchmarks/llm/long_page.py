"""A page of 500 elements, one of which the task is about, and a scripted model that finds it if the prompt lets it.

The goal either names the order, so that its words are on the page, or describes it in words that no page has: then the model scrolls.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from benchmarks.llm.advice import ADVICE
from benchmarks.llm.decisions import Element
from benchmarks.llm.meter import Call, billed
from benchmarks.llm.scripted_model import read_page
from midcourse.testing.models import ChatRequest, Says
from midcourse.testing.sites.server import Request, Response

ROWS, PER_ROW = 100, 5
"""Orders on the page, and controls of each."""
SCREENS = 1.5
"""How far the model scrolls at a time: what is visible and what is listed after it."""
USUAL, MANY = 3, 700
"""Quantities: of all orders but the wanted one, and of that."""

Named: TypeAlias = Literal["by name", "by description"]
GOALS: dict[Named, str] = {
    "by name": "Remove order {order}.",
    "by description": "Remove the only line with a quantity above 500.",
}


@dataclass
class LongPage:
    """Orders in rows as `benchmarks/capture.py` has them. `removed` is what was really removed."""

    wanted: int
    removed: list[int] = field(default_factory=list[int])

    def answer(self, request: Request) -> Response:
        if request.method == "POST":
            self.removed.append(int(request.path.rsplit("/", 1)[1]))
            return Response(status=303, location="/removed")
        if request.path == "/removed":
            return Response(body="<!doctype html><title>Removed</title><h1>The order was removed</h1>")
        rows = "".join(self._row(n) for n in range(1000, 1000 + ROWS))
        return Response(body=f"<!doctype html><title>Orders</title><h1>Orders</h1><ul>{rows}</ul>")

    def _row(self, n: int) -> str:
        quantity = MANY if n == self.wanted else USUAL
        return (
            f"<li><p>Order {n}, placed a while ago</p><form method=post action='/remove/{n}'><a href='/orders/{n}'>Order {n}</a> "
            f"<label>Quantity <input value={quantity}></label> <label><input type=checkbox> Gift</label> "
            "<select aria-label=Size><option>Small<option>Large</select> <button>Remove</button></form></li>"
        )


class Remover:
    """Answers as a script of `ModelServer`: presses 'Remove' in the wanted row, or scrolls on."""

    def __init__(self, wanted: int, named: Named, encode: Callable[[str], list[int]]) -> None:
        self._wanted, self._named, self._encode = wanted, named, encode
        self.calls: list[Call] = []
        self.screens: list[int] = []
        """Tokens of what each prompt shows of the page."""

    def __call__(self, request: ChatRequest) -> Says:
        answer = json.dumps(ADVICE[request.role] if request.role in ADVICE else self._answer(request.text))
        prompt = billed(request)
        tokens_in, tokens_out = len(self._encode(prompt)), len(self._encode(answer))
        self.calls.append(Call(tokens_in=tokens_in, cached=0, tokens_out=tokens_out, prompt=prompt, answer=answer))
        shown = re.findall(r"<<<(SCREEN|CHANGES)\n(.*?)\n\1>>>", request.text, re.DOTALL)
        self.screens.append(sum(len(self._encode(text)) for _, text in shown))
        return Says(answer)

    def _answer(self, text: str) -> dict[str, Any]:
        page = read_page(text)
        if page.title == "Removed":
            return {"verdict": "done", "reason": "the order was removed"}
        elements = [*page.elements.values()]
        start = next((n for n, element in enumerate(elements) if self._is_wanted(element)), None)
        button = next((each for each in elements[start:] if each.name == "Remove"), None) if start is not None else None
        if button is None:
            arguments = {"direction": "down", "amount": SCREENS}
            return {"steps": [{"zone": "page", "skill": "scroll", "arguments": arguments}]}
        step = {"zone": button.id, "skill": "click", "says": "Remove the order", "expect": {"page": "Removed"}}
        return {"steps": [step], "final": True}

    def _is_wanted(self, element: Element) -> bool:
        if self._named == "by name":
            return element.role == "link" and element.name == f"Order {self._wanted}"
        return element.role == "textbox" and element.value.isdigit() and int(element.value) > 500
