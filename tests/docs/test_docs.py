"""The documentation is true: its code runs, its commands exist, its generated pages are current."""

import os
import re
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import get_args

import pytest

from midcourse.config.task.file import parse_task_file
from midcourse.domain.moves import FinalReason
from midcourse.testing.models import ModelServer
from midcourse.testing.sites import PASSWORD
from midcourse.worlds.browser import Browser
from midcourse.worlds.desktop import Desktop
from midcourse.worlds.robot import Robot
from midcourse.worlds.simulated.faults import FAULT_KINDS
from tests.forked import run_forked
from tests.llm.clerk import Clerk

ROOT = Path(__file__).parents[2]
TYPED = [ROOT / "README.md", *sorted((ROOT / "docs" / "tutorial").glob("*.md"))]
"""Pages whose blocks build on each other: tests/docs/test_typed.py types them from top to bottom."""
PAGES = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list:
    return [
        pytest.param(match[2], id=f"{page.name}-{number}", marks=[pytest.mark.slow] if is_slow(match[2]) else [])
        for page in PAGES
        for number, match in enumerate(BLOCK.finditer(page.read_text()), start=1)
        if match[1] == language
    ]


def is_slow(block: str) -> bool:
    return needs_fleet(block) or any(
        word in block
        for word in ("Browser(", "Desktop(", "Mcp(", "Robot(", "testing.models", "midcourse.do(", "postgres_server(")
    )


def needs_fleet(block: str) -> bool:
    return "midcourse up" in block or "--durable" in block


def run(*command: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return run_forked(*command, cwd=cwd, environment={**os.environ, **more})


AGREES = """\
import midcourse.terminal.approver
from midcourse.testing import Approves as _Approves
midcourse.terminal.approver.TerminalApprover = _Approves
"""
"""In place of the reader of a block, who would say yes."""


@pytest.mark.slow
@pytest.mark.parametrize("code", blocks("python"))
def test_python_blocks_run(code: str, tmp_path: Path):
    (tmp_path / "block.py").write_text(AGREES + code if "TerminalApprover" in code else code)
    with model_for(code) as served:
        done = run("python", "block.py", cwd=tmp_path, **served)
    assert done.returncode == 0, done.stderr
    assert not served or done.stdout.startswith(("plan_complete", "POST ")), done.stdout


@pytest.mark.slow
def test_the_first_program_of_a_world_sends_nothing_without_a_terminal(tmp_path: Path):
    page = (ROOT / "docs" / "tutorial" / "your-world.md").read_text()
    (tmp_path / "mail.py").write_text(BLOCK.findall(page)[0][1])
    done = run("python", "mail.py", cwd=tmp_path)
    assert done.stdout.splitlines()[0] == "rejected []", done.stderr
    assert "`rejected []`" in page
    assert not (tmp_path / "outbox.txt").exists()


@contextmanager
def model_for(code: str) -> Generator[dict[str, str]]:
    """Where a block that names a model finds one: scripted, on loopback, for whatever name it has."""
    if 'model="openai:' not in code or "ModelServer" in code:  # or it brings its own
        yield {}
        return
    with ModelServer(Clerk(password=PASSWORD, customer="C-4711")) as server:
        yield {"MIDCOURSE_MODEL_BASE_URL": server.url, "OPENAI_API_KEY": "any"}
    assert server.requests


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_run(example: Path, tmp_path: Path):
    done = run("python", str(example), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("text", blocks("toml"))
def test_task_files_parse(text: str):
    assert parse_task_file(text).task.goal


MIDCOURSE = [
    pytest.param(*block.values, id=block.id, marks=block.marks)
    for block in blocks("bash")
    if "midcourse " in str(block.values[0])
]


@pytest.mark.slow
@pytest.mark.parametrize("block", MIDCOURSE)
def test_midcourse_commands_work(block: str, tmp_path: Path, request: pytest.FixtureRequest):
    """Every line that calls us, in order, in one folder. A run that ends without success is an answer, not an error."""
    home = str(request.getfixturevalue("fleet_home") if needs_fleet(block) else tmp_path / ".midcourse")
    for table in blocks("csv"):
        (tmp_path / "rows.csv").write_text(str(table.values[0]))
    for line in block.splitlines():
        words = line.partition("#")[0].split()
        if words[:1] != ["midcourse"] or words == ["midcourse", "down"]:  # others are using the fleet
            continue
        done = run(*words, cwd=tmp_path, MIDCOURSE_HOME=home)
        while words[1] == "approve" and done.returncode == 1 and "has no open question; it is" in done.stdout:
            done = run(*words, cwd=tmp_path, MIDCOURSE_HOME=home)  # as a person would, who waits for the question
        assert done.returncode in (0, 1), f"{line}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr, f"{line}\n{done.stderr}"


@pytest.mark.slow
def test_generated_pages_are_current():
    done = run("python", str(ROOT / "docs" / "generate.py"), "--check", cwd=ROOT)
    assert done.returncode == 0, done.stdout


def test_links_between_pages_lead_somewhere():
    for page in (*TYPED, *PAGES):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_fault_is_explained():
    page = (ROOT / "docs" / "hostile-worlds.md").read_text()
    assert all(f"`{kind}`" in page for kind in FAULT_KINDS)


def test_every_final_reason_is_explained():
    page = (ROOT / "docs" / "why-it-ended.md").read_text()
    assert all(f"`{reason}`" in page for reason in get_args(FinalReason))


def test_every_option_of_the_browser_is_explained():
    page = (ROOT / "docs" / "browser.md").read_text()
    options = [name for name in signature(Browser.__init__).parameters if name != "self"]
    assert all(f"`{option}`" in page for option in options)


def test_every_option_of_the_desktop_is_explained():
    page = (ROOT / "docs" / "desktop.md").read_text()
    options = [name for name in signature(Desktop.__init__).parameters if name != "self"]
    assert all(f"`{option}`" in page for option in options)


def test_every_skill_and_option_of_the_robot_is_described():
    page = (ROOT / "docs" / "robot.md").read_text()
    options = [name for name in signature(Robot.__init__).parameters if name != "self"]
    catalogue = Robot().catalogue()
    names = [one.name for one in (*catalogue.skills, *catalogue.probes)]
    assert [name for name in options if f"`{name}`" not in page] == []
    assert [name for name in names if f"`{name}(" not in page] == []


def test_what_shows_a_limit_of_the_browser_exists():
    page = (ROOT / "docs" / "browser-safety.md").read_text()
    folders = [ROOT / "tests" / "worlds" / "browser", ROOT]
    named = set(re.findall(r"`([\w/]+\.py)`", page))
    assert len(named) > 5
    assert [name for name in named if not any((folder / name).exists() for folder in folders)] == []
