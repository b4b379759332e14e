"""The models of shipped tasks that are played from a cassette: what each role answers, in order.

`python -m tests.llm.recorded_tasks` records the cassettes again, after a prompt or a task has changed. The answers were written for these
tasks and come from no provider's model; they pass through the same prompts, requests and parsers as those of one.
"""

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from midcourse.cli.main import main
from midcourse.testing.models import ChatRequest, ModelServer

TASKS = Path(__file__).parents[2] / "examples" / "tasks"
Line: TypeAlias = tuple[str, Mapping[str, Any]]
"""A role and its answer."""


def make_plan(*steps: Mapping[str, Any], **more: Any) -> Line:
    return "planner", {"steps": [*steps], **more}


def make_click(zone: str, says: str, **more: Any) -> Mapping[str, Any]:
    return {"zone": zone, "skill": "click", "says": says, **more}


OUTLINE: Sequence[Line] = (
    (
        "outliner",
        {"goals": ["Explore the menu Bookmarks", "Find the bookmarks manager", "Locate the new folder in the manager"]},
    ),
    make_plan(make_click("main/Bookmarks", "Open the menu Bookmarks")),
    ("judge", {"current": 2, "evidence": "Bookmark this page"}),
    make_plan(make_click("bookmarks/Bookmarks manager", "Open the bookmarks manager")),
    make_plan(make_click("manager/Add folder", "Add a folder")),
    ("judge", {"current": 3, "evidence": "Add folder"}),
    make_plan(
        {
            "zone": "folder/Name",
            "skill": "type_text",
            "arguments": [{"name": "text", "value": "$input.folder"}],
            "says": "Name the folder",
        },
        make_click("folder/OK", "Keep it", expect={"page": "Bookmarks manager"}),
    ),
)

NOTHING: Line = ("monitor", {"problem": "none"})
LOOP = "The settings were opened and closed twice, and nothing in them is about bookmarks. The menu Bookmarks has not been opened yet."

MONITOR: Sequence[Line] = (
    make_plan(make_click("main/Settings", "Look in the settings")),
    NOTHING,
    make_plan(make_click("settings/Close", "Close the settings")),
    NOTHING,
    make_plan(make_click("main/Settings", "Look in the settings")),
    NOTHING,
    make_plan(make_click("settings/Close", "Close the settings")),
    ("monitor", {"problem": "repetition", "guidance": LOOP}),
    make_plan(make_click("main/Bookmarks", "Open the menu Bookmarks instead")),
    NOTHING,
    make_plan(make_click("bookmarks/Bookmarks manager", "Open the bookmarks manager")),
    NOTHING,
    make_plan(make_click("manager/Export", "Open the export"), final=True),
)

REFLECTION: Sequence[Line] = (
    make_plan(
        {
            "zone": "main/File name",
            "skill": "type_text",
            "arguments": [{"name": "text", "value": "$input.name"}],
            "says": "Name the file",
        },
        make_click("main//protected (owner: root)", "Save it in /protected", expect={"page": "Saved in *"}),
        final=True,
    ),
    (
        "reflector",
        {
            "root_cause": "/protected belongs to root, and the report is saved as another user.",
            "contributing_factors": ["the first folder of the list was taken without a look at its owner"],
            "severity": "HIGH",
            "preventable": True,
            "fix": "Save it in a folder that the user owns.",
            "changes": ["choose /home/ada, which belongs to ada"],
        },
    ),
    make_plan(
        make_click("main//home/ada (owner: ada)", "Save it in /home/ada", expect={"page": "Saved in *"}),
        final=True,
    ),
)


def make_try(zone: str, says: str, *options: str) -> Line:
    return "detour_planner", {"act": make_click(zone, says), "options": [{"name": name} for name in options]}


def judge_closeness(value: float, why: str) -> Line:
    return "closeness_judge", {"closeness": value, "why": why}


DETOUR: Sequence[Line] = (
    make_plan({"zone": "__reach__", "expect": {"page": "Add Files"}, "says": "Open 'Add Files'"}, final=True),
    judge_closeness(2, "the main window says nothing about adding files"),
    make_try("main/View", "Open the menu View"),
    judge_closeness(1, "the menu View is about how the list looks"),
    make_try("main/List", "Open the menu List"),
    judge_closeness(6, "the menu List has Add"),
    make_try("list/Add", "Choose Add"),
)

RECORDED: Mapping[str, Sequence[Line]] = {
    "outline": OUTLINE,
    "monitor": MONITOR,
    "reflection": REFLECTION,
    "detour": DETOUR,
}

LOOPS = [line for line in MONITOR if line != NOTHING][:2]
COMPARED: Mapping[str, tuple[str, Sequence[Line]]] = {"monitor": ("monitor=off", [*LOOPS, *LOOPS, LOOPS[0]])}
"""The same task under another setting, for comparison: it ends without success."""


def record(name: str, cassette: Path) -> None:
    cassette.unlink(missing_ok=True)
    _record(name, RECORDED[name], cassette, code=0)
    if name in COMPARED:
        setting, lines = COMPARED[name]
        _record(name, lines, cassette, "--set", setting, code=1)


def _record(name: str, script: Sequence[Line], cassette: Path, *words: str, code: int) -> None:
    """Run the task with these answers behind a server on loopback, and add the exchanges to the cassette."""
    lines = [*script]

    def answer(request: ChatRequest) -> Mapping[str, Any]:
        asked = request.role
        assert lines, f"{name}: the {asked} is asked for more than was written\n{request.text}"
        role, answered = lines.pop(0)
        assert role == asked, f"{name}: the {asked} is asked, and the next answer is the {role}'s\n{request.text}"
        return answered

    with ModelServer(answer) as server, tempfile.TemporaryDirectory() as home:
        settings = {"model_base_url": server.url, "home": home, "step_delay_seconds": "0", "max_outage_seconds": "0"}
        changed = [word for pair in settings.items() for word in ("--set", "=".join(pair))]
        ended = main(["run", name, "--record", str(cassette), *changed, *words])
    assert ended == code, f"{name}: exit code {ended}"
    assert not lines, f"{name}: not asked for: {lines}"


if __name__ == "__main__":
    os.environ["OPENAI_API_KEY"] = "recorded-without-a-key"
    for each in sys.argv[1:] or RECORDED:
        record(each, TASKS / f"{each}.jsonl")
