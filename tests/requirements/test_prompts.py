"""What the documents want a model to be told, in the requests that a real server receives."""

import asyncio
from collections.abc import Sequence
from typing import Any

from midcourse import Agent, BaseWorld, Scene, Settings, Zone, skill
from midcourse.testing import MemoryStore, ScriptedOutlines
from midcourse.testing.models import ChatRequest, ModelServer
from midcourse.worlds.base import Outcome, failed

DONE = {"verdict": "done", "reason": "all is done"}


class Office(BaseWorld):
    """Two rooms: figures are collected in one and filed in the other, where one of two drawers is stuck."""

    name = "office"

    def __init__(self) -> None:
        super().__init__()
        self.room = "Hall"
        self.filed: list[str] = []

    def look(self) -> Scene:
        zones = [Zone(id=name, role="drawer", label=name) for name in ("left", "right")]
        return Scene(self.room, Zone(id="door", role="door", label="Door"), *(zones if self.room == "Archive" else []))

    @skill(effect="read")
    def collect(self) -> dict[str, str]:
        """Collect the figures."""
        return {"report": "42 invoices"}

    @skill(effect="reversible", transition=True)
    def enter(self, zone: Zone) -> None:
        self.room = "Archive"

    @skill(effect="set_state")
    def file(self, zone: Zone, text: str) -> Outcome | None:
        if zone.id == "left":
            return failed("stuck", "the left drawer does not open")
        self.filed.append(text)
        return None


def asked(*answers: Any, office: Office | None = None, **more: Any) -> Sequence[ChatRequest]:
    """What the model was asked in a run with these answers."""
    roles = {name: more.pop(name) for name in ("outliner",) if name in more}
    with ModelServer(answers) as server:
        settings = Settings(model="openai:any", model_base_url=server.url, replan_interval_seconds=0, **more)
        agent = Agent(world=office or Office(), settings=settings, store=MemoryStore(), **roles)
        agent.run_sync("File the figures")
    return server.requests


COLLECT = {"zone": "__global__", "skill": "collect", "gives": ["report"]}
ENTER = {"zone": "door", "skill": "enter"}


def file(drawer: str, text: str = "42") -> dict[str, Any]:
    return {"zone": drawer, "skill": "file", "arguments": {"text": text}}


def test_the_planner_is_asked_for_steps_up_to_the_next_screen() -> None:
    request, _again = asked(DONE)
    assert "the agent looks again and asks you for the rest" in " ".join(request.text.split())


def test_completed_steps_are_in_the_prompt_as_finished() -> None:
    first, second = asked({"steps": [COLLECT, ENTER]}, DONE)
    assert "Finished" not in first.text
    finished = second.text.partition("Finished:")[2]
    assert "collect" in finished
    assert 'enter "Door"' in finished
    assert "Do not repeat a finished step" in second.text


def test_a_model_is_told_what_steps_brought_back_and_can_use_it() -> None:
    office = Office()
    requests = asked(
        {"steps": [COLLECT, ENTER]}, {"steps": [file("right", "$result.report")], "final": True}, office=office
    )
    assert "42 invoices" in requests[1].text
    assert "$result.report" in requests[1].text
    assert office.filed == ["42 invoices"]


def test_failed_steps_are_in_the_prompt_not_to_be_repeated_unchanged() -> None:
    office = Office()
    answers = ({"steps": [ENTER]}, {"steps": [file("left")]}, {"steps": [file("right")], "final": True})
    requests = asked(*answers, office=office, role_models="reflector=rules")
    failed_steps = requests[2].text.partition("Failed:")[2]
    assert "stuck" in failed_steps
    assert "the left drawer does not open" in failed_steps
    assert "or a failed one on the same screen" in " ".join(requests[2].text.split())
    assert office.filed == ["42"]


def test_the_outline_is_in_the_prompt_with_its_progress_as_a_suggestion() -> None:
    outliner = ScriptedOutlines(("Explore the archive", "Find the right drawer"))
    requests = asked({"steps": [ENTER]}, {"current": 2, "evidence": "Archive"}, DONE, outline="on", outliner=outliner)
    planner = [request.text for request in requests if "Suggested goals; other ways are welcome" in request.text]
    assert '1. "Explore the archive" (finished)\n2. "Find the right drawer"\n' in planner[-1]


def test_the_monitor_is_told_the_four_criteria() -> None:
    none = {"problem": "none", "guidance": ""}
    requests = asked({"steps": [ENTER]}, none, DONE, monitor="path", role_models="monitor=openai:any")
    (request,) = [request for request in requests if "You watch an agent" in request.text]
    assert all(f'"{name}"' in request.text for name in ("no_progress", "unreasonable", "repetition", "error"))


def test_a_monitor_is_given_the_expected_path_of_a_plan() -> None:
    none = {"problem": "none", "guidance": ""}
    entering = {**ENTER, "expect": {"page": "Archive"}}
    requests = asked({"steps": [entering]}, none, DONE, monitor="proposals", role_models="monitor=openai:any")
    before_the_plan = next(request.text for request in requests if "Steps that it is about to take" in request.text)
    assert """enter "Door", then expects "the screen 'Archive'\"""" in before_the_plan


# --- steps as document 000 writes them

DOCUMENT_000 = [
    {
        "step_number": 1,
        "zone_id": "door",
        "zone_label": "Door",
        "action_type": "enter",
        "parameters": {},
        "expected_change": "The archive is visible",
        "description": "Go into the archive",
    },
    {
        "step_number": 2,
        "zone_id": "__replan__",
        "zone_label": "replan",
        "action_type": "replan",
        "parameters": {},
        "expected_change": "New zones detected",
        "description": "Re-capture screen and plan remaining steps with new zones",
    },
]
FILE_000 = {"zone_id": "right", "action_type": "file", "parameters": {"text": "42"}, "description": "File them"}


def test_steps_in_the_json_of_document_000_are_carried_out() -> None:
    office = Office()
    with ModelServer([{"steps": DOCUMENT_000}, {"steps": [FILE_000], "final": True}]) as server:
        settings = Settings(model="openai:any", model_base_url=server.url, reads_words=False)
        result = Agent(office, settings=settings, store=MemoryStore()).run_sync("File the figures")
    assert result.final_reason == "plan_complete"
    assert office.filed == ["42"]
    assert [step.says for step in result.completed] == ["Go into the archive", "File them"]
    assert result.planner_calls == 2


# --- visible controls


def test_the_planner_is_told_to_prefer_visible_controls_to_shortcuts() -> None:
    request, _again = asked(DONE)
    assert "Prefer visible controls to shortcuts and addresses." in request.text


def test_steps_without_a_visible_control_are_counted_in_the_result() -> None:
    with ModelServer([{"steps": [COLLECT, ENTER]}, {"steps": [file("right")], "final": True}]) as server:
        settings = Settings(model="openai:any", model_base_url=server.url)
        result = Agent(Office(), settings=settings, store=MemoryStore()).run_sync("File the figures")
    assert (result.steps, result.global_steps) == (3, 1)


# --- progress by a model

GOALS = ("Explore the hall", "Explore the archive", "Find the right drawer")
SHOWS = {"Explore the hall": "Hall", "Explore the archive": "Archive", "Find the right drawer": "Right drawer"}


def follow_the_prompt(request: ChatRequest) -> dict[str, Any]:
    """Judge as the rules of the prompt say, and nothing else: which goal is the current one on this screen?"""
    keeps = 'A goal marked "finished" stays finished' in request.text
    for number, goal in enumerate(GOALS, 1):
        line = f'{number}. "{goal}"'
        if keeps and f"{line} (finished)" in request.text:
            continue
        if f'surface "{SHOWS[goal]}"' not in request.text:
            return {"current": number, "evidence": request.text.partition('surface "')[2].partition('"')[0]}
    return {"current": len(GOALS) + 1, "evidence": request.text.partition('surface "')[2].partition('"')[0]}


def test_a_judge_that_follows_its_prompt_never_loses_a_finished_goal() -> None:
    """Each screen shows what one goal is about, and no longer what the goals before it are about."""

    class House(Office):
        def __init__(self) -> None:
            super().__init__()
            self.room = "Street"
            self.rooms = {"Street": "Hall", "Hall": "Archive", "Archive": "Right drawer"}

        def look(self) -> Scene:
            return Scene(self.room, Zone(id="door", role="door", label="Door"))

        @skill(effect="reversible", transition=True)
        def enter(self, zone: Zone) -> None:
            self.room = self.rooms.get(self.room, "Desk")

    def answer(request: ChatRequest) -> dict[str, Any]:
        if "You judge how far a task has come" in request.text:
            return follow_the_prompt(request)
        if "You outline a task" in request.text:
            return {"goals": list(GOALS)}
        return DONE if 'surface "Desk"' in request.text else {"steps": [ENTER]}

    store = MemoryStore()
    with ModelServer(answer) as server:
        settings = Settings(model="openai:any", model_base_url=server.url, outline="on")
        result = Agent(House(), settings=settings, store=store).run_sync("File the figures", run_id="house")
    assert result.success
    outline = asyncio.run(store.load("house"))[0].outline
    assert outline is not None
    assert (outline.finished, outline.regressed) == (3, 0)
