"""A mail in claws-mail: the question has every value, a changed value is held, and the server counts the mails."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.desktop_stories.mail import SUBJECT, TEXT, TO, prepare_claws, serving_mail, task_text
from midcourse import Agent
from midcourse.config.task.file import parse_task_file
from midcourse.domain.approval import CommitSet
from midcourse.planners import Playbook
from midcourse.testing import Approves, Rejects
from midcourse.testing.conformance import a_call
from midcourse.worlds.desktop import Desktop
from tests.worlds.desktop.hand import Hand

pytestmark = pytest.mark.slow


async def test_one_mail_is_sent_after_a_yes_to_all_of_it(home: Path) -> None:
    with serving_mail(
        delay=0.7
    ) as server:  # while it waits, claws-mail shows a dialog, which does not make the outcome doubtful
        prepare_claws(home, server.port)
        file, asked = parse_task_file(task_text(home)), Approves()
        agent = Agent(Desktop("claws-mail", home=str(home)), Playbook(file.planner.rules), approver=asked)
        result = await agent.run(file.task)
        assert (result.final_reason, result.verified) == ("goal_reached", True)
        (mail,) = server.received
    assert (mail["to"], mail["subject"]) == (TO, SUBJECT)
    assert TEXT in mail.as_string()
    (question,) = asked.questions
    values = dict(question.consequences[0].commit.values)
    assert (values["Subject"], values["text"]) == (SUBJECT, TEXT)
    assert values["To"] == TO  # not the box beside it, which has the same label
    assert "invoice.txt" in str(values["Attachments"])
    assert question.consequences[0].origin == "program:claws-mail"


async def test_nothing_is_sent_after_a_no(home: Path) -> None:
    with serving_mail() as server:
        prepare_claws(home, server.port)
        file = parse_task_file(task_text(home))
        agent = Agent(Desktop("claws-mail", home=str(home)), Playbook(file.planner.rules), approver=Rejects())
        assert not (await agent.run(file.task)).success
        assert server.received == []


async def test_a_recipient_that_changed_after_the_yes_holds_the_mail(home: Path) -> None:
    with serving_mail() as server:
        prepare_claws(home, server.port)
        world = Desktop("claws-mail", home=str(home))
        await world.open()
        try:
            hand = Hand(world)
            await hand.do("click", "button:Compose")
            await hand.do("type", "textbox:To", text=TO)
            await hand.do("type", "textbox:Subject", text=SUBJECT)
            send = replace(a_call("click", await hand.find("button:Send"), command=90), allowed=True)
            agreed = await world.commit_set(send)
            assert isinstance(agreed, CommitSet)
            await hand.do("type", "textbox:To", text="mallory@example.org")  # instead of Bob, or on another line
            outcome = await world.act(send)
            assert (outcome.status, outcome.reason) == ("no_effect", "would_send")
            assert server.received == []
            changed = await world.commit_set(send)
            assert changed is not None
            assert "mallory@example.org" not in {value for _, value in agreed.values}
            shown = {str(value) for _, value in changed.values if str(value) in (TO, "mallory@example.org")}
            assert "mallory@example.org" in shown
            outcome = await world.act(replace(send, command=91))
            assert (outcome.status, outcome.evidence) == ("ok", "response"), outcome
            (mail,) = server.received
            assert {each.strip() for each in str(mail["to"]).split(",")} == shown
        finally:
            await world.close()
