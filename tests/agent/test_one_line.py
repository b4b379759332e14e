"""A task from one sentence: which task file it comes to, and what is refused before anything is opened."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from midcourse.agent.one_line import DryRun, OneLineTask, job_for
from midcourse.agent.wiring import decode_job, encode_job
from midcourse.config import extras
from midcourse.config.task.file import parse_task_file
from midcourse.domain.approval import About, CommitSet, Consequence, Decision, Question
from midcourse.domain.plan import Target
from midcourse.domain.skill import Effect
from midcourse.errors import TaskInvalid

SHOP = "https://shop.example"


@pytest.fixture(autouse=True)
def _isolate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MIDCOURSE_SECRET_PASSWORD", "lovelace")
    monkeypatch.setenv("MIDCOURSE_SECRET_PIN", "1234")


def make_task(**fields: Any) -> OneLineTask:
    given: dict[str, Any] = {"goal": "Order one desk lamp", "at": f"{SHOP}/", "model": "openai:gpt-5", **fields}
    return OneLineTask(**given)


def list_options(asked: OneLineTask) -> dict[str, object]:
    return dict(job_for(asked).file.world.options)


def test_a_sentence_becomes_a_job():
    job = job_for(make_task(max_cost=0.5, approvals="adaptive", inputs={"reference": "PO-1001"}))
    assert (job.file.task.goal, job.file.task.inputs) == ("Order one desk lamp", (("reference", "PO-1001"),))
    assert (job.file.world.name, job.file.world.options) == ("browser", {"start": f"{SHOP}/"})
    assert job.file.planner.model == "openai:gpt-5"
    assert (job.task.limits.max_cost_usd, job.task.limits.approvals) == (0.5, "adaptive")
    assert (job.name, job.unfiled) == ("order-one-desk-lamp", True)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"max_cost": 0.5, "approvals": "adaptive", "model": "openai:gpt-5", "headed": True, "sends": True},
        {"goal": "Pay $5 for $input.item, not $$input.item or $input.other", "inputs": {"item": "a $ lamp", "n": 2}},
        {"goal": "Is it $input.sure?", "inputs": {"sure": True, "price": 12.5, "unknown": None}, "at": f"{SHOP}/?q=$x"},
        {"secrets": ("password", "pin@https://login.example/path")},
        {"files": (__file__,), "uploads": Path(__file__).parent, "goal": "Send $file.test_one_line.py"},
        {"origins": {SHOP: {"safe": ["POST /$basket*"]}}, "goal": 'Write "a"\n[world]\nname = "x"'},
    ],
)
def test_task_file_that_is_kept_reads_as_the_job_that_runs(fields: dict[str, Any]):
    job = job_for(make_task(**fields))
    assert parse_task_file(job.source) == job.file
    assert decode_job(encode_job(job)) == job


def test_options_override_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MIDCOURSE_MAX_COST_USD", "9")
    monkeypatch.setenv("MIDCOURSE_APPROVALS", "never")
    limits = job_for(make_task(max_cost=0.5, approvals="always")).task.limits
    assert (limits.max_cost_usd, limits.approvals) == (0.5, "always")


def test_a_secret_belongs_to_the_start_or_to_the_origin_after_the_at_sign():
    asked = make_task(secrets=("password", "pin@https://login.example/path"))
    task = job_for(asked).task
    assert (task.secrets, dict(task.secret_origins)) == (
        ("password", "pin"),
        {"password": SHOP, "pin": "https://login.example"},
    )
    assert list_options(asked)["origins"] == {"https://login.example": {"allowed": True}}, "or it cannot be reached"


def test_origins_of_a_policy_file_are_kept(tmp_path: Path):
    (tmp_path / "origins.toml").write_text(f'["{SHOP}"]\nsafe = ["POST /basket*"]\n')
    found = list_options(make_task(origins="origins.toml", secrets=("password",)))["origins"]
    assert found == {SHOP: {"safe": ["POST /basket*"]}}


def test_dollar_signs_are_plain_but_for_the_inputs_that_were_given():
    job = job_for(
        make_task(goal="Pay $5 for $input.item, not $input.other", inputs={"item": "a lamp"}, at=f"{SHOP}/?q=$x")
    )
    assert job.task.goal == "Pay $5 for a lamp, not $input.other"
    assert job.file.world.options["start"] == f"{SHOP}/?q=$x"


def test_a_value_that_would_end_the_text_stays_inside_it():
    job = job_for(make_task(goal='Write "a"\n[world]\nname = "x"', inputs={"note": 'b"\n[settings]'}))
    assert job.task.goal == 'Write "a"\n[world]\nname = "x"'
    assert tomllib.loads(job.source)["inputs"] == {"note": 'b"\n[settings]'}


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"at": "shop.example"}, "write it with http"),
        ({"model": ""}, "--model or MIDCOURSE_MODEL"),
        ({"secrets": ("user@",)}, "secret 'user@': write its name"),
        ({"secrets": ("pin@elsewhere",)}, "secret 'pin@elsewhere': 'elsewhere' is not a whole URL"),
        ({"secrets": ("card",)}, "read -rs MIDCOURSE_SECRET_CARD && export MIDCOURSE_SECRET_CARD"),
        ({"approvals": "sometimes"}, "approvals = 'sometimes'"),
        ({"origins": "missing.toml"}, "missing.toml: cannot be read"),
    ],
)
def test_invalid_options_are_refused_with_advice(fields: dict[str, object], problem: str):
    with pytest.raises(TaskInvalid) as refused:
        job_for(make_task(**fields))
    assert problem in str(refused.value)


def test_a_missing_extra_is_told_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(extras.EXTRAS, "browser", ("playwright", "no_such_module"))
    with pytest.raises(TaskInvalid, match=r"pip install 'midcourse\[browser\]'"):
        job_for(make_task())


class YesApprover:
    async def ask(self, question: Question) -> Decision:
        return Decision(verdict="approved")


def make_question(effect: Effect, about: About = "approve") -> Question:
    target = Target(surface="Shop", role="button", label="Buy")
    would = Consequence(skill="click", arguments=(), effect=effect, target=target, origin="", commit=CommitSet())
    return Question(run="r", id=1, about=about, goal="g", consequences=(would,), says=("Buy",), expires_at=1.0)


async def test_a_dry_run_drops_what_is_irreversible_whatever_anybody_would_say():
    dry = DryRun(otherwise=YesApprover())
    allowed = await dry.ask(make_question("reversible"))
    assert allowed is not None
    assert (allowed.verdict, dry.dropped) == ("approved", None)
    assert await dry.ask(make_question("irreversible", "happened"))
    assert dry.dropped is None, "what is in doubt was sent before"
    refused = await dry.ask(make_question("irreversible"))
    assert refused is not None
    assert refused.verdict == "rejected"
    assert dry.dropped == make_question("irreversible")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"files": ("none.pdf",)}, "there is no such file"),
        ({"uploads": "none"}, "there is no such folder"),
        ({"files": (__file__,), "uploads": "."}, "only files in that folder may be uploaded"),
    ],
)
def test_a_file_that_cannot_be_uploaded_is_refused_before_the_run(fields: dict[str, Any], problem: str):
    with pytest.raises(TaskInvalid, match=problem):
        job_for(make_task(**fields))
