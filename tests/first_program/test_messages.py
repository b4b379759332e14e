"""What is missing is named with the command that fixes it, in the terminal and in Python, and leaves nothing behind."""

import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from midcourse import Agent, BaseWorld, Draft, PlanDraft, Probe, Settings, Task, probe, skill
from midcourse.agent.models import build_roles
from midcourse.agent.wiring import load_job
from midcourse.cli.main import main
from midcourse.domain.argument import Reference
from midcourse.errors import TaskInvalid
from midcourse.testing import MemoryStore

TASK = """
goal = "Say hello"
{top}
[world]
name = "{world}"
{options}
[planner]
name = "same_plan"
steps = [{{ zone = "__global__", skill = "say", arguments = {{ text = {text} }} }}]
"""

WORLD = """
from midcourse import BaseWorld, skill

class Mouth(BaseWorld):
    def __init__(self, volume: int = 1) -> None:
        if volume > 10:
            raise RuntimeError("that hurts")
        super().__init__()

    @skill
    def say(self, text: str) -> None: ...
"""


def write_task(
    name: str = "hello.toml", *, top: str = "", world: str = "mouth:Mouth", options: str = "", text: str = "'Hi'"
) -> str:
    Path("mouth.py").write_text(WORLD)
    sys.modules.pop("mouth", None)
    Path(name).write_text(TASK.format(top=top, world=world, options=options, text=text))
    return name


class Says:
    async def plan(self, context: object) -> PlanDraft:
        return PlanDraft(steps=[Draft(skill="say", arguments={"text": Reference(source="secret", name="greeting")})])


class Mouth(BaseWorld):
    @skill
    def say(self, text: str) -> None: ...

    @probe
    def said(self, text: str) -> bool:
        return True


def refused(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    """What the command line says about a mistake. No traceback, and exit code 2."""
    assert main(args) == 2
    return capsys.readouterr().err


# --- task files


@pytest.mark.parametrize(("file", "called"), [("task.yaml", "YAML"), ("task.yml", "YAML"), ("task.json", "JSON")])
def test_a_file_of_another_kind_is_called_by_its_name(
    capsys: pytest.CaptureFixture[str], file: str, called: str
) -> None:
    Path(file).write_text("goal: Say hello\n")
    said = refused(capsys, "run", file)
    assert f"{file} is {called}; a task file is written in TOML (`midcourse examples order` prints one)" in said


def test_broken_toml_is_called_by_its_own_name(capsys: pytest.CaptureFixture[str]) -> None:
    Path("hello.task").write_text("goal: Say hello\n")
    assert "hello.task: is not TOML, in which task files are written: " in refused(capsys, "run", "hello.task")


def test_a_misspelt_task_is_refused_with_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no file 'notpad'; did you mean 'notepad'?" in refused(capsys, "run", "notpad")
    assert "tasks that ship: " in refused(capsys, "run", "xyzzy")


def test_overrides_of_a_job_may_be_values() -> None:
    assert load_job("order", {"max_calls": 3, "lessons": False}).overrides == {"max_calls": "3", "lessons": "false"}


# --- a task that cannot be loaded


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"world": "mouth:Nose"}, "world 'mouth:Nose' cannot be loaded"),
        ({"options": "options = { colour = 'red' }"}, "world 'mouth:Mouth' does not take these options"),
        (
            {"top": "secrets = ['greeting']", "text": "'$secret.greeting'"},
            "MIDCOURSE_SECRET_GREETING: not set, and the task needs it. Type: read -rs MIDCOURSE_SECRET_GREETING && export",
        ),
    ],
)
def test_a_task_that_cannot_be_loaded_leaves_no_run_behind(
    capsys: pytest.CaptureFixture[str], home: Path, changes: dict[str, str], said: str
) -> None:
    assert said in refused(capsys, "run", write_task(**changes))
    nothing_is_left(capsys, home)


def test_a_world_that_raises_leaves_no_run_behind(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    with pytest.raises(RuntimeError, match="that hurts"):
        main(["run", write_task(options="options = { volume = 11 }")])
    nothing_is_left(capsys, home)


def nothing_is_left(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    capsys.readouterr()
    assert main(["runs", "--json"]) == 0
    assert capsys.readouterr().out.strip() in ("", "[]")
    assert [*(home / "runs").glob("*")] == []


# --- secrets and inputs


def test_missing_secrets_are_named_by_their_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    agent, task = Agent(Mouth(), Says(), store=store), Task(goal="Say hello", secrets=["greeting", "pin"])
    monkeypatch.setenv("MIDCOURSE_SECRET_PIN", "1234")
    with pytest.raises(TaskInvalid, match="MIDCOURSE_SECRET_GREETING: not set, and the task needs it"):
        agent.run_sync(task, run_id="run")
    monkeypatch.setenv("MIDCOURSE_SECRET_GREETING", "Hi")
    assert agent.run_sync(task, run_id="run").success, "and the run that was refused was not there"


def test_a_vault_of_ones_own_is_named() -> None:
    class Empty:
        def reveal(self, name: str) -> str | None:
            return None

    with pytest.raises(TaskInvalid, match="the vault has no value for the secret 'greeting', 'pin'"):
        Agent(Mouth(), Says(), vault=Empty(), store=MemoryStore()).run_sync(
            Task(goal="Hi", secrets=["greeting", "pin"])
        )


def test_an_input_that_the_task_does_not_have_is_refused_at_start() -> None:
    done = Probe(name="said", arguments={"text": Reference(source="input", name="txt")})
    with pytest.raises(TaskInvalid, match="done_when: no such input: 'txt'; did you mean 'text'"):
        Agent(Mouth(), Says(), store=MemoryStore()).run_sync(Task(goal="Hi", inputs={"text": "Hi"}, done_when=done))


# --- extras, keys and servers


def without(monkeypatch: pytest.MonkeyPatch, package: str, importer: str) -> None:
    """As if it were not installed: the modules that import it are imported again."""
    for name in [name for name in sys.modules if name == importer or name.startswith(f"{importer}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)


def test_look_without_the_browser_extra_names_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, "cryptography", "midcourse.worlds.browser")
    said = refused(capsys, "look", "http://127.0.0.1:9/")
    assert "the browser needs pip install 'midcourse[browser]'" in said
    assert "temporal" not in said


def test_a_task_in_a_browser_without_the_extra_names_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, "cryptography", "midcourse.worlds.browser")
    task = write_task(world="browser", options="options = { start = 'http://127.0.0.1:9/' }")
    assert "the browser needs pip install 'midcourse[browser]'" in refused(capsys, "run", task)


def test_a_model_without_the_extra_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "midcourse.llm.model_client", "midcourse.llm.model_client")
    with pytest.raises(TaskInvalid, match=r"to work with a model, pip install 'midcourse\[llm\]'"):
        build_roles(Settings.load(), model="openai:gpt-5")


def test_a_missing_key_is_named_with_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(TaskInvalid) as refusal:
        Agent(Mouth(), model="openai:gpt-5", store=MemoryStore()).run_sync("Say hello")
    assert str(refusal.value) == (
        "model 'openai:gpt-5' needs a key: export OPENAI_API_KEY=...; a server of your own needs none: "
        "export MIDCOURSE_MODEL_BASE_URL=http://127.0.0.1:8080/v1"
    )


def test_a_model_server_that_is_down_is_named_by_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    settings = Settings.load(overrides={"model_base_url": "http://127.0.0.1:9/v1", "max_outage_seconds": 0})
    agent = Agent(Mouth(), model="openai:gpt-5", store=MemoryStore(), settings=settings)
    result = agent.run_sync("Say hello")
    assert result.final_reason == "outage"
    assert "no model answers at http://127.0.0.1:9/v1/: Connection error." in result.final_detail


@pytest.mark.slow
async def test_without_chromium_it_says_what_to_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from midcourse.worlds.browser import Browser

    monkeypatch.setattr("midcourse.worlds.browser.chromium.system_chromium", lambda **_: None)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    browser: Any = Browser("http://127.0.0.1:9/")
    with pytest.raises(
        ConnectionError, match=r"there is no Chromium\. Type `apt install chromium` or `playwright install"
    ):
        await browser.open()


@pytest.mark.slow
def test_look_at_an_address_where_nothing_answers_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    said = refused(capsys, "look", f"http://127.0.0.1:{port}/")
    assert f"there is no page at http://127.0.0.1:{port}/: http://127.0.0.1:{port} cannot be reached" in said
    said = refused(capsys, "look", "http://127.0.0.1:9/")
    assert "there is no page at http://127.0.0.1:9/: ERR_UNSAFE_PORT" in said
