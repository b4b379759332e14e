"""A scripted model behind an OpenAI-compatible endpoint: it knows the task, reads only what the prompt shows, and counts tokens.

    with serve_model("shop", encode=tokenizer()) as (url, model): ...
    model.spent()

Tokens in are everything that a provider bills as text: messages, tools and answer schema. Cached is the longest beginning that an
earlier request of the run had, from 1,024 tokens in steps of 128. Prices are OpenAI's list prices of gpt-5.
"""

import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal, TypeAlias

from benchmarks.llm.advice import ADVICE
from benchmarks.llm.sites import ORDER, OTHER_NAMES, PASSWORD, POPUPS, SECRET, TICKET, USER
from midcourse.testing.models import ChatRequest, ModelServer, Says, Usage

PRICE_IN, PRICE_CACHED, PRICE_OUT = 1.25, 0.125, 10.0
"""US dollars per million tokens."""
CACHED_FROM, CACHED_STEP = 1_024, 128

Policy: TypeAlias = Literal["trusting", "careful", "stubborn"]
"""After an error page: follow the page ('try again'), look at the list first, or try again even if the prompt lists it as finished."""
Evidence: TypeAlias = Literal["all", "final", "none"]
"""Which submitting clicks get an `expect`: every one, as the prompt asks for; the last one, with a probe; or none."""

CREATE, PLACE, PUBLISH = "Create the ticket", "Place the order", "Publish the article"
ARTICLE = {
    "title": "Harbour opens",
    "summary": "The new harbour opens on Monday",
    "related": "Reports of 2025",
    "section": "Reports",
    "parent": "Gazette",
    "user": "editor",
}
SEEN = {
    CREATE: f"Ticket *: {TICKET['subject']}",
    PLACE: "Thank you for your order",
    PUBLISH: f"Exploring: {ARTICLE['parent']}*",
}
"""Title of the page that shows that it happened."""
LISTED = {
    CREATE: ("/tickets", TICKET["subject"]),
    PLACE: ("/orders", ORDER["reference"]),
    PUBLISH: ("/news/", ARTICLE["title"]),
}
"""Address of the page that lists it, and what is to be read there."""
DECLINES = frozenset((*(popup[3] for popup in POPUPS), "Got it"))
TEXT, CHOICE = ("textbox", "searchbox"), ("combobox",)


@dataclass(frozen=True, kw_only=True)
class Element:
    id: str
    role: str
    name: str
    value: str = ""
    within: str = ""
    covered: bool = False


@dataclass
class Page:
    """What a prompt shows."""

    title: str = ""
    address: str = ""
    elements: dict[str, Element] = field(default_factory=dict[str, Element])
    finished: str = ""
    password: str = PASSWORD
    """How a step names it: as a reference if the task has it as a secret."""

    @property
    def text(self) -> str:
        return "\n".join(element.name for element in self.elements.values())

    def find(self, roles: Sequence[str], usual: str) -> Element | None:
        for name in (usual, *OTHER_NAMES.get(usual, ())):
            for element in self.elements.values():
                plain = element.name.strip().rstrip("*").strip().lower()
                if element.role in roles and not element.covered and plain == name.lower():
                    return element
        return None


@dataclass(frozen=True, kw_only=True)
class Move:
    kind: Literal["type", "select", "click", "navigate", "wait", "done"]
    element: Element | None = None
    value: str = ""
    says: str = ""
    then: str = ""
    """Title of the page that a submitting click leads to."""
    final: bool = False


# --- what a prompt shows

_ZONE = re.compile(r'^(\S+) (\S+) ("(?:[^"\\]|\\.)*")((?: \S+=(?:"(?:[^"\\]|\\.)*"|\S+))*)$')
_STATE = re.compile(r' (\S+?)=("(?:[^"\\]|\\.)*"|\S+)')
_SURFACE = re.compile(r'surface ("(?:[^"\\]|\\.)*")(?: at ("(?:[^"\\]|\\.)*"))?')


def read_page(text: str) -> Page:
    page = Page()
    for name in ("SCREEN", "CHANGES"):
        for line in _fence(text, name).splitlines():
            _read_line(line, page)
    page.finished = _fence(text, "FINISHED") + _fence(text, "FINISHED_HERE")
    if f"$secret.{SECRET}" in _fence(text, "VALUES"):
        page.password = f"$secret.{SECRET}"
    return page


def _read_line(line: str, page: Page) -> None:
    if surface := _SURFACE.match(line):
        page.title, page.address = json.loads(surface[1]), json.loads(surface[2] or '""')
    elif line.startswith("gone: "):
        for gone in line.split()[1:]:
            page.elements.pop(gone, None)
    elif zone := _ZONE.match(line):
        state = {name: json.loads(value) if value[0] == '"' else value for name, value in _STATE.findall(zone[4])}
        page.elements[zone[1]] = Element(
            id=zone[1],
            role=zone[2],
            name=json.loads(zone[3]),
            value=state.get("value", ""),
            within=state.get("within", ""),
            covered=state.get("covered") == "true",
        )


def _fence(text: str, name: str) -> str:
    found = re.search(rf"<<<{name}\n(.*?)\n{name}>>>", text, re.DOTALL)
    return found[1] if found else ""


# --- what to do on a page


def decide(app: str, policy: Policy, page: Page) -> list[Move]:
    for element in page.elements.values():
        if element.role == "button" and element.name.strip() in DECLINES:
            return [Move(kind="click", element=element, says=f"Close the pop-up with '{element.name}'")]
    finished = "" if policy == "stubborn" else page.finished
    match app:
        case "tickets":
            return _sign_in(page, "Tickets") or _tickets(page, policy, finished)
        case "shop":
            return _sign_in(page, "Products") or _shop(page, policy, finished)
        case _:
            return _wagtail(page, finished)


def _sign_in(page: Page, home: str) -> list[Move]:
    if page.title != "Sign in":
        return []
    return _form(page, {"User name": USER, "Password": page.password}, "Sign in", then=home)


def _tickets(page: Page, policy: Policy, finished: str) -> list[Move]:
    if page.title.startswith("Ticket ") and TICKET["subject"] in page.title:
        return [Move(kind="done", says="the ticket was created")]
    if re.match(r"5\d\d ", page.title):
        return _open(page, "Tickets" if policy == "careful" or CREATE in finished else "Try again")
    if page.title == "Tickets":
        if TICKET["subject"] in page.text:
            return [Move(kind="done", says="the ticket is in the list")]
        return _open(page, "New ticket")
    if not page.title.startswith("New ticket") or CREATE in finished:
        return _open(page, "Tickets")
    match page.title.split(",")[1].split()[0]:
        case "1":
            fields = {"Customer number": TICKET["customer"], "Subject": TICKET["subject"]}
            return _form(page, fields, "Next", then="New ticket, 2 of 3")
        case "2":
            fields = {"Priority": TICKET["priority"], "Category": TICKET["category"]}
            return _form(page, fields, "Next", then="New ticket, 3 of 3")
        case _:
            fields = {"Description": TICKET["description"], "Contact e-mail": TICKET["email"]}
            return _form(page, fields, "Create ticket", says=CREATE)


def _shop(page: Page, policy: Policy, finished: str) -> list[Move]:
    if page.title.startswith("Thank you"):
        return [Move(kind="done", says="the order was placed")]
    if re.match(r"5\d\d ", page.title):
        return _open(page, "Your orders" if policy == "careful" or PLACE in finished else "Try again")
    if page.title == "Your orders":
        ordered = ORDER["reference"] in page.text
        return [Move(kind="done", says="the order is in the list")] if ordered else _open(page, "Products")
    if PLACE in finished:
        return _open(page, "Your orders")
    match page.title:
        case "Products":
            return _open(page, "Desk lamp")
        case "Desk lamp":
            return _form(page, {"Quantity": "2"}, "Add to basket", then="Basket")
        case "Basket" if "empty" not in page.text:
            return _open(page, "Checkout")
        case "Checkout" if "basket is empty" not in page.text:
            fields = {
                "Address": ORDER["address"],
                "Delivery date": ORDER["date"],
                "Delivery": ORDER["delivery"],
                "Reference": ORDER["reference"],
            }
            return _form(page, fields, "Place order", says=PLACE)
        case _:
            return _open(page, "Products")


def _wagtail(page: Page, finished: str) -> list[Move]:
    title = page.title.removesuffix(" - Wagtail")
    pages = [Move(kind="navigate", value="/admin/pages/2/", says="Open the list of pages")]
    if title == "Sign in":
        return _form(page, {"Username": ARTICLE["user"], "Password": page.password}, "Sign in", then="Dashboard*")
    if title == f"Exploring: {ARTICLE['parent']}":
        if page.find(("link",), ARTICLE["title"]):
            return [Move(kind="done", says="the article is live")]
        return pages if PUBLISH in finished else _open(page, "Add child page")
    if not title.startswith(("New: Article", "Editing Article")) or PUBLISH in finished:
        return pages
    if page.find(("button",), "Publish") and ARTICLE["related"] in page.text:
        return _form(page, {}, "Publish", says=PUBLISH)
    if any(each.role == "dialog" and each.name for each in page.elements.values()) or page.find(("link",), "Explore"):
        return _choose_page(page)
    button = "More actions" if ARTICLE["related"] in page.text else "Choose a page"
    return _form(page, {"Title": ARTICLE["title"], "Summary": ARTICLE["summary"]}, button)


def _choose_page(page: Page) -> list[Move]:
    if related := page.find(("link",), ARTICLE["related"]):
        return [Move(kind="click", element=related, says="Choose the page")]
    for where in (ARTICLE["section"], ARTICLE["parent"]):
        for element in page.elements.values():
            explores = element.role == "link" and element.name.startswith("Explore") and not element.covered
            if explores and (element.within == where or element.name.endswith(where)):
                return [Move(kind="click", element=element, says=f"Explore {where}")]
    return [Move(kind="wait", says="the dialog is loading")]


def _form(page: Page, fields: Mapping[str, str], button: str, *, then: str = "", says: str = "") -> list[Move]:
    """Fill in what differs and press the button. `says` is given for the button that ends the task."""
    moves: list[Move] = []
    for label, value in fields.items():
        element = page.find(TEXT + CHOICE, label)
        if element and element.value != value:
            kind = "select" if element.role in CHOICE else "type"
            moves.append(Move(kind=kind, element=element, value=value, says=f"Set {label}"))
    pressed = page.find(("button",), button)
    if pressed is None:
        return [Move(kind="wait", says=f"{button} is not there")]
    told = says or f"Press {button}"
    return [*moves, Move(kind="click", element=pressed, says=told, then=SEEN.get(says, then), final=bool(says))]


def _open(page: Page, name: str) -> list[Move]:
    element = page.find(("link",), name)
    if element is None:
        return [Move(kind="wait", says=f"{name} is not there")]
    return [Move(kind="click", element=element, says=f"Open {name}")]


# --- how an answer is written


def write(moves: list[Move], page: Page, evidence: Evidence) -> dict[str, Any]:
    if moves[0].kind == "done":
        return {"verdict": "done", "reason": moves[0].says}
    steps = [_step(move, evidence) for move in moves]
    return {"steps": steps, "final": True} if moves[-1].final and evidence != "none" else {"steps": steps}


def _step(move: Move, evidence: Evidence) -> dict[str, Any]:
    match move.kind:
        case "wait":
            text = move.says.split(" is ")[0]
            return {"skill": "wait_for", "arguments": {"text": text, "seconds": 1}}
        case "navigate":
            return {"skill": "navigate", "arguments": {"url": move.value}}
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
                step["probe"] = {"name": "page_shows", "arguments": {"url": path, "text": text}}
            return step
        case "type" | "select":
            assert move.element
            name = "text" if move.kind == "type" else "option"
            return {"zone": move.element.id, "skill": move.kind, "arguments": {name: move.value}}


# --- the model


@dataclass(frozen=True, kw_only=True)
class Call:
    tokens_in: int
    cached: int
    tokens_out: int
    prompt: str
    answer: str


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
        self.calls: list[Call] = []
        self._encode = encode
        self._seen: list[list[int]] = []
        self._lock = Lock()

    def __call__(self, request: ChatRequest) -> Says:
        page = read_page(request.text)
        answer = json.dumps(ADVICE.get(request.role, write(decide(self.app, self.policy, page), page, self.evidence)))
        with self._lock:
            self.calls.append(call := self._counted(request, answer))
        return Says(answer, usage=Usage(call.tokens_in, call.tokens_out, call.cached))

    def _counted(self, request: ChatRequest, answer: str) -> Call:
        prompt = billed(request)
        if self._encode is None:
            return Call(tokens_in=0, cached=0, tokens_out=0, prompt=prompt, answer=answer)
        tokens = self._encode(prompt)
        common = max((_common(earlier, tokens) for earlier in self._seen), default=0)
        cached = common // CACHED_STEP * CACHED_STEP if common >= CACHED_FROM else 0
        self._seen.append(tokens)
        return Call(
            tokens_in=len(tokens), cached=cached, tokens_out=len(self._encode(answer)), prompt=prompt, answer=answer
        )

    def spent(self) -> dict[str, float]:
        told, cached, out = (
            sum(getattr(call, name) for call in self.calls) for name in ("tokens_in", "cached", "tokens_out")
        )
        paid = ((told - cached) * PRICE_IN + cached * PRICE_CACHED + out * PRICE_OUT) / 1e6
        uncached = (told * PRICE_IN + out * PRICE_OUT) / 1e6
        return {
            "calls": len(self.calls),
            "tokens_in": told,
            "cached": cached,
            "tokens_out": out,
            "usd": round(paid, 6),
            "usd_uncached": round(uncached, 6),
        }


def billed(request: ChatRequest) -> str:
    """Everything that counts as input, in the order in which providers put it before the model."""
    fixed = json.dumps(request.body.get("tools") or "") + json.dumps(request.body.get("response_format") or "")
    return fixed + "".join(f"\n<|{message['role']}|>\n{_text(message)}" for message in request.messages)


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def _common(one: list[int], other: list[int]) -> int:
    return next(_differing(one, other), min(len(one), len(other)))


def _differing(one: list[int], other: list[int]) -> Iterator[int]:
    return (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)


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
