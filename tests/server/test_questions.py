"""Decisions: about exactly what was shown, by the authenticated user, once."""

from threading import Event, Thread
from typing import Any

import pytest
from httpx2 import Client

from midcourse import Agent, Task, guarded
from midcourse.domain.budget import Limits
from midcourse.errors import Pending
from midcourse.settings import Settings
from midcourse.testing import Posts, Scripted
from midcourse.worlds.base import Scene
from tests.harness import ORDERED, Shop, draft, steps
from tests.server.serving import (
    RunningServer,
    decide,
    find_question,
    read_stream,
    start_run_that_asks,
    wait_for_end,
    wait_until,
)


class LateShop(Shop):
    """Shows that an order was placed only after `confirm` was set."""

    def __init__(self, confirm: Event) -> None:
        super().__init__()
        self.confirm = confirm
        self.findings = [None] * 1000

    def look(self) -> Scene:
        self.title = "Thank you" if self.confirm.is_set() else "Shop"
        seen = super().look()
        assert isinstance(seen, Scene)
        return seen


def test_an_approval_of_what_was_shown_is_carried_out_once(server: RunningServer) -> None:
    operator, approver = server.client("operator"), server.client("approver")
    question = start_run_that_asks(operator, "once")
    assert {row["name"]: row["value"] for row in question["steps"][0]["rows"]}["total"] == 49.0
    assert decide(approver, question).json()["accepted"] is True
    assert wait_for_end(operator, "once")["final_reason"] == "goal_reached"
    turns = [heard.data for heard in read_stream(operator, "once") if heard.type == "turn"]
    decided = [turn["event"] for turn in turns if turn["event"]["kind"] == "approval_decided"]
    assert [(one["by"], one["shown"]) for one in decided] == [("acme-approver", question["shown"])]
    effects = (server.home / "acme" / "runs" / "once" / "effects.jsonl").read_text().splitlines()
    assert len(effects) == 1


def test_a_call_that_waits_for_a_decision_is_listed_although_no_process_runs_it(server: RunningServer) -> None:
    sent: list[str] = []

    @guarded(name="mail", key="{to}", approve="always", wait=0, settings=Settings(home=server.home / "acme"))
    def mail(to: str) -> None:
        sent.append(to)

    with pytest.raises(Pending) as pending:
        mail("ada@example.com")
    question = find_question(server.client("viewer"), pending.value.run)
    assert question
    assert decide(server.client("approver"), question).json()["accepted"] is True
    assert sent == []
    mail("ada@example.com")
    assert sent == ["ada@example.com"]


def test_a_replayed_decision_is_refused(server: RunningServer) -> None:
    operator, approver = server.client("operator"), server.client("approver")
    question = start_run_that_asks(operator, "replayed")
    assert decide(approver, question).status_code == 200
    again = decide(approver, question)
    assert again.status_code == 409
    wait_for_end(operator, "replayed")
    late = decide(approver, question)
    assert (late.status_code, late.json()["code"]) == (409, "refused")
    assert len((server.home / "acme" / "runs" / "replayed" / "effects.jsonl").read_text().splitlines()) == 1


def test_a_forged_digest_approves_nothing(server: RunningServer) -> None:
    operator, approver = server.client("operator"), server.client("approver")
    question = start_run_that_asks(operator, "forged")
    for shown in ([], ["0" * 32], [*question["shown"], *question["shown"]]):
        answer = decide(approver, question, shown=shown)
        assert (answer.status_code, answer.json()["code"]) == (409, "question_changed"), shown
        assert answer.headers["content-type"] == "application/problem+json"
    assert decide(approver, question, "rejected").status_code == 200
    assert wait_for_end(operator, "forged")["final_reason"] == "rejected"


def test_a_stale_page_is_told_what_changed(server: RunningServer) -> None:
    """A change by one approver leads to a question about other values; a page that still shows the earlier ones approves nothing."""
    operator, approver = server.client("operator"), server.client("approver")
    first = start_run_that_asks(operator, "stale", "changeable")
    amended = decide(approver, first, "changed", changes=[{"step": 0, "arguments": {"reference": "PO-2"}}])
    assert amended.status_code == 200, amended.text
    second = wait_until(lambda: find_newer_question(approver, first))
    by_number = decide(approver, first)
    assert (by_number.status_code, by_number.json()["code"]) == (409, "question_changed")
    assert by_number.json()["question"] == second["id"]
    stale = decide(approver, {**second, "shown": first["shown"]})
    problem = stale.json()
    assert (stale.status_code, problem["code"]) == (409, "question_changed")
    changed = [(one["was"]["name"], one["was"]["value"], one["now"]["value"]) for one in problem["changes"]]
    assert ("reference", "PO-1", "PO-2") in changed
    assert "'PO-1' -> 'PO-2'" in problem["detail"]
    assert decide(approver, second).status_code == 200
    assert wait_for_end(operator, "stale")["result"]["success"] is True
    assert '"PO-2"' in (server.home / "acme" / "runs" / "stale" / "effects.jsonl").read_text()


def find_newer_question(client: Client, than: dict[str, Any]) -> dict[str, Any] | None:
    found = find_question(client, than["run"])
    return found if found and found["id"] != than["id"] else None


def test_a_verdict_that_does_not_answer_is_refused(server: RunningServer) -> None:
    operator, approver = server.client("operator"), server.client("approver")
    question = start_run_that_asks(operator, "verdict")
    answer = decide(approver, question, "happened")
    assert answer.status_code == 422
    assert "approved" in answer.json()["next"]
    assert decide(approver, question, "rejected").status_code == 200


def test_a_question_that_evidence_decided_is_refused_with_the_reason(server: RunningServer) -> None:
    """The page shows it seconds after the question: who answers by then, or later, changes nothing."""
    operator, approver = server.client("operator"), server.client("approver")
    confirm = Event()
    agent = Agent(
        LateShop(confirm),
        Scripted(steps(draft("order", "order", item="pens", expect=ORDERED))),
        approver=Posts(),
        settings=Settings(home=server.home / "acme"),
    )
    task = Task(goal="Order pens", limits=Limits(approvals="never"))
    driver = Thread(target=lambda: agent.run_sync(task, run_id="withdrawn"))
    driver.start()
    question = wait_until(lambda: find_question(operator, "withdrawn"))
    assert (question["title"], question["page"], question["contradicted"]) == ("Did this happen?", "Shop", False)
    assert question["unmet"] == ["expected the text 'Thank you': that is not to be seen"]
    confirm.set()
    driver.join(timeout=60.0)
    late = decide(approver, question, "did_not_happen")
    assert (late.status_code, late.json()["code"]) == (409, "refused")
    assert late.json()["detail"] == (f"question {question['id']} was withdrawn: the expectation says that it happened")
    assert wait_for_end(operator, "withdrawn")["final_reason"] == "plan_complete"
