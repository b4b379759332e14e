"""The demonstration: a shop that goes wrong in three ways, and a model with recorded answers.

The recording (`demo.jsonl`) has one answer per line, and says for which screen it is. It was written for this shop and does not come
from a provider's model: the demonstration shows what Midcourse does with a plan. It needs no key, and no network beyond this machine.
"""

import json
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from midcourse.agent.wiring import Job, parse_job
from midcourse.codec import decode
from midcourse.config.defaults import DEMO_PLANNER, variable_of
from midcourse.config.toml_text import toml_text
from midcourse.domain.approval import Decision, Question
from midcourse.domain.observation import Observation
from midcourse.domain.plan import GLOBAL, REPLAN, Draft
from midcourse.errors import CassetteMiss
from midcourse.planners import ZonePattern
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing.sites.drift import Drift
from midcourse.testing.sites.shop import Shop
from midcourse.testing.sites.site import PASSWORD
from midcourse.testing.sites.view import Given, Popup, View

RECORDING = Path(__file__).with_name("demo.jsonl")
GOAL = "Order one desk lamp to 1 Harbour Street for 2026-12-14, reference PO-1001"
REFERENCE = "PO-1001"
SIGN_IN = "demo_password"
POPUP = Popup(
    title="Newsletter", text="10 % off with our newsletter!", accept="Subscribe", decline="No thanks", on_input=True
)


class TroubledShop(Shop):
    """A shop in which each kind of trouble occurs once, always at the same place.

    A pop-up covers the product as soon as something is typed, the controls of the checkout have other names than those of the shop, and
    an order is stored but answered with a 504.
    """

    def __init__(self) -> None:
        super().__init__(drift=Drift(unanswered=1.0))
        self._interrupted = False

    def page(self, path: str, view: View, given: Given, errors: Given) -> str | None:
        if path == "/basket/desk-lamp" and not self._interrupted:
            self._interrupted = True
            view = replace(view, popup=POPUP)
        if path == "/checkout":
            view = replace(view, wording=1)
        return super().page(path, view, given, errors)

    @property
    def orders(self) -> int:
        return sum(effect.name == "order" for effect in self.effects)


@contextmanager
def provide_password() -> Generator[None]:
    """Put the password of the shop's only account into the environment, where secrets are read from."""
    variable = variable_of(SIGN_IN)
    os.environ[variable] = PASSWORD
    try:
        yield
    finally:
        del os.environ[variable]


class DemoApprover:
    """An approver for use without a terminal: it approves everything, and passes each question to `on_question`."""

    def __init__(self, on_question: Callable[[Question], None]) -> None:
        self._on_question = on_question

    async def ask(self, question: Question) -> Decision:
        self._on_question(question)
        return Decision(verdict="approved" if question.about == "approve" else "stop", by="the demo itself")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A recorded answer for one screen. Its steps name zones as `role:label`."""

    screen: str
    zones: tuple[ZonePattern, ...]
    draft: PlanDraft

    def fits(self, seen: Observation) -> bool:
        has_zones = all(any(pattern.fits(zone) for zone in seen.zones) for pattern in self.zones)
        return seen.surface.title == self.screen and has_zones

    def aim_at(self, seen: Observation) -> PlanDraft:
        """The draft with the current ids of its zones."""
        return replace(self.draft, steps=tuple(_aim(step, seen) for step in self.draft.steps))


class RecordedPlanner:
    """A planner that answers from a recording. It uses each answer once, and raises `CassetteMiss` if it has none."""

    def __init__(self, recording: str = str(RECORDING)) -> None:
        self._path = Path(recording)
        self._left = list(read_answers(self._path))

    async def plan(self, context: PlanningContext) -> PlanDraft:
        seen = context.observation
        found = next((answer for answer in self._left if answer.fits(seen)), None)
        if found is None or context.guidance:
            why = "advice from you" if context.guidance else f"the screen '{seen.surface.title}' as it is now"
            raise CassetteMiss(
                f"the recorded model has no answer for {why}, and none is made up. With a real one: "
                'midcourse do "..." --at URL --model openai:gpt-5'
            )
        self._left.remove(found)
        return found.aim_at(seen)


def read_answers(recording: Path) -> tuple[Answer, ...]:
    lines = map(json.loads, recording.read_text(encoding="utf-8").splitlines())
    return tuple(
        Answer(
            screen=line["screen"],
            zones=tuple(map(ZonePattern.parse, line["zones"])),
            draft=decode(PlanDraft, json.dumps(line["draft"])),
        )
        for line in lines
    )


def demo_job(shop: str, *, headed: bool, home: Path | None = None) -> Job:
    """The job of the demonstration, in the shop at this address."""
    return parse_job(demo_task(shop, headed=headed), "demo", {"home": str(home)} if home else {})


def demo_task(shop: str, *, headed: bool = False) -> str:
    """The text of the task file. It asks for a picture whenever the screen changes, for the console."""
    orders = f"{shop}/orders"
    return toml_text(
        {
            "goal": GOAL,
            "secrets": [f"{SIGN_IN}@{shop}"],
            "inputs": {"orders": orders, "reference": REFERENCE},
            "done_when": {"probe": "page_shows", "arguments": {"url": orders, "text": REFERENCE}},
            "world": {
                "name": "browser",
                "options": {
                    "start": shop,
                    "headed": headed,
                    "screenshots": "on_change",
                    "origins": {shop: {"safe": ["POST /basket*"]}},
                },
            },
            "planner": {"name": DEMO_PLANNER},
            "settings": {"approvals": "always", "lessons": False},
        }
    )


def _aim(step: Draft, seen: Observation) -> Draft:
    if step.zone in (GLOBAL, REPLAN):
        return step
    pattern = ZonePattern.parse(step.zone)
    return replace(step, zone=next((zone.id for zone in seen.zones if pattern.fits(zone)), step.zone))
