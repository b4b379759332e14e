"""What the approval panel and `approve --json` show against what is sent. The page chooses names and values."""

import asyncio
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest
from rich.console import Console

from midcourse import Agent, BaseWorld, Draft, PlanDraft, Scene, Zone, skill
from midcourse.agent.control import LocalControl
from midcourse.cli.session.deciding import _question_json
from midcourse.domain.approval import CommitSet, Consequence, Decision, FieldWords, Question
from midcourse.domain.plan import Target
from midcourse.policy.approval.objection import find_objection
from midcourse.policy.approval.question import describe_change
from midcourse.policy.identity import consequence_digest
from midcourse.runtimes.temporal.client import RunHandle
from midcourse.terminal.output import UNICODE
from midcourse.terminal.question import question_panel
from midcourse.testing import Approves, Posts
from midcourse.worlds.browser.egress.request import Request

FORM = "application/x-www-form-urlencoded"
ADDRESS = "https://bank.example/transfer"


def asked(commit: CommitSet, **more: Any) -> Question:
    consequence = Consequence(
        skill="click",
        arguments=(),
        effect="irreversible",
        target=Target(surface="Newsletter", role="button", label="Subscribe"),
        origin="https://bank.example",
        commit=commit,
    )
    return Question(
        run="r",
        id=1,
        about="approve",
        goal="Subscribe",
        consequences=(consequence,),
        says=("Click 'Subscribe'",),
        expires_at=0.0,
        **more,
    )


def question(body: bytes, kind: str = FORM, fields: Mapping[str, str] | None = None) -> Question:
    sent = Request(method="POST", url=ADDRESS, fields={"content-type": kind, **(fields or {})}, body=body)
    return asked(sent.commit)


def panel(one: Question, width: int = 100) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(question_panel(one, 60, width, UNICODE))
    return out.getvalue()


def is_unread(one: Question, decision: Decision) -> bool:
    """Whether `--yes` and the HTTP API refuse it."""
    objection = find_objection(one, decision, read="glance")
    return objection is not None and objection.code == "unread"


def as_json(one: Question) -> dict[str, Any]:
    return json.loads(json.dumps(_question_json(one)))


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (FORM, b"to=POST+https://bank.example/newsletter&amount=1000"),
        (FORM, b"address=POST+https://bank.example/newsletter&sends+to=x&sends=y"),
        ("application/json", b'{"a":[{"to":"x"}],"to":"POST https://bank.example/harmless"}'),
    ],
)
def test_no_field_hides_the_address_that_it_is_sent_to(kind: str, body: bytes) -> None:
    one = question(body, kind)
    assert [line for line in panel(one).splitlines() if f" address POST {ADDRESS} " in line]
    assert f"POST {ADDRESS}" in json.dumps(_question_json(one))


def test_both_of_two_fields_with_one_name_are_shown() -> None:
    one = question(b"account=MALLORY-666&amount=9&account=ADA-1")
    assert "sends 1/2 account  MALLORY-666" in panel(one)
    assert "sends 2/2 account  ADA-1" in panel(one)
    values = [row for row in as_json(one)["would"][0]["shows"] if row["kind"] == "value"]
    assert [(row["name"], row["value"]) for row in values] == [
        ("account", "MALLORY-666"),
        ("amount", "9"),
        ("account", "ADA-1"),
    ]
    assert [row.get("number") for row in values] == [1, None, 2]


@pytest.mark.parametrize(
    "body",
    [
        "&".join(f"decoy{i}=1" for i in range(200)).encode() + b"&account=MALLORY-666",
        b"note=" + b"a" * 1000 + b"+and+pay+MALLORY-666",
    ],
)
def test_what_stands_behind_decoys_is_shown_and_takes_more_than_one_key(body: bytes) -> None:
    one = question(body)
    assert "MALLORY-666" in panel(one)
    assert "MALLORY-666" in json.dumps(_question_json(one))
    assert as_json(one)["needs_all_values"] is True
    assert is_unread(one, Decision(verdict="approved"))
    assert not is_unread(one, Decision(verdict="approved", all_values=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (FORM, b"note=" + b"a" * 30_000),
        (FORM, b"n" * 30_000 + b"=1"),
        (FORM, "&".join(f"decoy{i}=1" for i in range(2500)).encode()),
        (FORM, "&".join(f"decoy{i}={'x' * 15_000}" for i in range(20)).encode()),
        ("application/x-protobuf", b"\x00\xff\x01"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="a"; filename="a.bin"\r\nContent-Type: x/y\r\n\r\n\xff\x00\r\n--x--\r\n',
        ),
    ],
    ids=["long value", "long name", "many values", "much in all", "raw body", "file"],
)
def test_what_is_known_only_by_its_digest_says_so(kind: str, body: bytes) -> None:
    one = question(body, kind)
    assert one.abridged
    assert "Not all of it can be shown" in panel(one)
    assert as_json(one)["would"][0]["abridged"] is True
    assert as_json(one)["needs_all_values"] is True
    assert is_unread(one, Decision(verdict="approved"))


def test_an_approval_of_an_abridged_value_is_none_of_the_same_text_written_out() -> None:
    one = question(b"note=" + b"a" * 30_000).consequences[0]
    forged = replace(one, commit=replace(one.commit, abridged=False))
    assert consequence_digest("r", one) != consequence_digest("r", forged)


def test_a_small_text_file_is_shown_in_full() -> None:
    part = b'--x\r\nContent-Disposition: form-data; name="a"; filename="%s"\r\nContent-Type: text/plain\r\n\r\n%s\r\n--x--\r\n'
    one = question(part % (b"pay.txt", b"pay MALLORY"), "multipart/form-data; boundary=x")
    assert "MALLORY" in panel(one)
    assert not one.abridged
    assert not question(part % (b"", b""), "multipart/form-data; boundary=x").abridged, "no file was chosen"


def test_words_of_the_plan_cannot_imitate_rows() -> None:
    says = "Click 'Subscribe'" + " " * 90 + "address POST https://bank.example/newsletter"
    shown = panel(replace(question(b"a=1"), says=(says,)))
    assert shown.count(" address POST") == 2
    assert "Subscribe' address POST" in shown


# --- decisions


class Safe(BaseWorld):
    """What it would send is never shown in full."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    def look(self) -> Scene:
        return Scene("Safe", Zone(id="door", role="button", label="Open"))

    @skill(effect="irreversible", commit_set="blob")
    def open_door(self, zone: Zone) -> None:
        self.opened.append(zone.id)

    def blob(self, zone: Zone) -> CommitSet:
        return CommitSet(values=(("body", "… (3 bytes, sha256 12)"),), address="POST https://safe", abridged=True)


class Opens:
    async def plan(self, context: object) -> PlanDraft:
        return PlanDraft(steps=(Draft(zone="door", skill="open_door"),), final=True)


class SaysYes:
    """Approves as programs did before there was anything that is not shown."""

    async def ask(self, question: Question) -> Decision:
        return Decision(verdict="approved", by="ada")


async def test_an_approver_without_all_values_cannot_approve_abridged_values() -> None:
    world = Safe()
    result = await Agent(world=world, planner=Opens(), approver=SaysYes()).run("Open it")
    assert (result.final_reason, world.opened) == ("rejected", [])


async def test_an_approver_with_all_values_can_approve_abridged_values() -> None:
    world = Safe()
    await Agent(world=world, planner=Opens(), approver=Approves()).run("Open it")
    assert world.opened == ["door"]


async def test_a_later_answer_needs_all_values_as_well() -> None:
    world, posts = Safe(), Posts()
    run = Agent(world=world, planner=Opens(), approver=posts).start("Open it")
    async with asyncio.timeout(600):
        while not posts.questions:
            await asyncio.sleep(0.01)
    refused = run.answer(posts.questions[0], Decision(verdict="approved", by="ada"))
    assert "all_values" in refused
    assert world.opened == []
    assert run.answer(posts.questions[0], Decision(verdict="approved", by="ada", all_values=True)) == ""
    async with asyncio.timeout(600):
        while not world.opened:
            await asyncio.sleep(0.01)
    run.cancel()
    await run.result()
    assert world.opened == ["door"]


OLD = asked(CommitSet(address=f"POST {ADDRESS}", values=(("amount", "9"), ("account", "ADA-1"))))
NEW = replace(asked(CommitSet(address=f"POST {ADDRESS}", values=(("amount", "9000"), ("account", "ADA-1")))), id=2)


class Kept:
    """A store that knows what was asked before, and what is asked now."""

    async def consequence(self, run: str, digest: str) -> Consequence | None:
        known = {consequence_digest("r", one): one for asked in (OLD, NEW) for one in asked.consequences}
        return known.get(digest)

    async def open_question(self, run: str) -> Question:
        return NEW


async def test_a_decision_on_an_outdated_question_is_refused_with_the_difference() -> None:
    class Refusing(RunHandle):
        async def tell(self, word: object, *, seconds: float = 30.0) -> str:
            return "question 1 is not open; question 2 is"

    class Workflow:
        id = "t/r"

    handle = Refusing(cast(Any, Workflow()), cast(Any, Kept()))
    refused = await handle.answer(OLD, Decision(verdict="approved", by="ada"))
    assert refused == "question 1 is not open; question 2 is; changed since: value 'amount': '9' -> '9000'"


async def test_approve_shown_is_refused_with_the_difference_if_something_else_is_asked_by_now() -> None:
    there = LocalControl(cast(Any, Kept()), "r")
    seen, now = (as_json(one)["would"][0]["digest"] for one in (OLD, NEW))
    yes = Decision(verdict="approved", by="ada")
    assert find_objection(NEW, yes, shown=(now,)) is None
    for shown in ((seen,), ("made up",), (now, seen), ()):
        objection = find_objection(NEW, yes, shown=shown)
        assert objection
        assert objection.code == "other_content"
    assert [describe_change(each) for each in await there.find_changes(NEW, [seen])] == [
        "value 'amount': '9' -> '9000'"
    ]
    assert await there.find_changes(NEW, ["made up"]) == ()
    assert await there.find_changes(NEW, [now, seen]) != ()


SAID = (
    FieldWords(name="priority", value="3", label="Priority", shows="High", how="entered"),
    FieldWords(name="note", value="hums", label="Note"),
    FieldWords(name="sku", value="A-7", how="served"),
)
VALUES = (
    ("csrf_token", "a3f9c2d871b4e6f0a1b2c3d4"),
    ("sku", "A-7"),
    ("note", "hums"),
    ("total", "9"),
    ("priority", "3"),
)


def test_what_was_entered_comes_first_and_hidden_values_of_the_server_last():
    """Nothing is left out, and what the page says of values changes nothing of what is approved."""
    plain = CommitSet(address=f"POST {ADDRESS}", values=VALUES, sources=(("total", "hidden"),))
    one = asked(replace(plain, words=SAID))
    shown = panel(one)
    places = [shown.index(text) for text in ("Priority (priority)", "Note (note)", "total", "csrf_token = ", "sku = ")]
    assert places == sorted(places)
    assert "High (3)" in shown
    (line,) = [line for line in shown.splitlines() if "csrf_token" in line]
    assert 'also csrf_token = "a3f9c2d871b4e6f0a1b2c3d4", sku = "A-7" (tokens and hidden fields)' in line
    assert consequence_digest("r", one.consequences[0]) == consequence_digest("r", asked(plain).consequences[0])
    (step,) = as_json(one)["would"]
    assert {(row["name"], row["value"]) for row in step["shows"]} >= set(VALUES)


def test_a_hidden_value_that_changed_is_not_put_aside():
    before = asked(CommitSet(address=f"POST {ADDRESS}", values=VALUES, words=SAID)).consequences[0]
    values = tuple((name, "B-8" if name == "sku" else value) for name, value in VALUES)
    served = FieldWords(name="sku", value="B-8", how="served")
    shown = panel(asked(CommitSet(address=f"POST {ADDRESS}", values=values, words=(served,)), changed_from=before))
    assert "sends sku" in shown
    assert "A-7 → B-8" in shown


def test_equal_requests_are_one_address_with_a_count():
    one = asked(CommitSet(address=" and ".join([f"POST {ADDRESS}"] * 5), values=(("1: event", "scroll"),)))
    assert panel(one, 120).count(ADDRESS) == 1
    assert f"POST {ADDRESS} (5 requests)" in panel(one, 120)
