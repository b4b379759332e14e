"""Slack: a card with a link for each question and end, kept until Slack takes it, and a command over socket mode."""

import json
from pathlib import Path
from typing import Any

import pytest

from midcourse.errors import TaskInvalid
from midcourse.server.webhooks.config import SlackHook, read_webhooks
from midcourse.server.webhooks.notifier import Notifier
from midcourse.server.webhooks.outbox import Outbox
from midcourse.server.webhooks.slack import card
from midcourse.tenants.tenants import Tenants
from tests.server.serving import decide, run_server, start_run_that_asks, wait_for_end, wait_until
from tests.server.slack import APP, BOT, CHANNEL, FakeSlack, run_fake_slack

ORIGIN = "https://console.example"
TABLE = '[[slack]]\nname = "team"\nchannel = "C0123456789"\nbot_token_file = "bot"\napp_token_file = "app"\n'


def make_notifier(home: Path, *hooks: SlackHook):
    def notify(served: Tenants) -> Notifier:
        return Notifier(hooks, served, Outbox(home / "server"), ORIGIN, retries=(0.1,) * 100, timeout_seconds=5.0)

    return notify


def send_command(fake: FakeSlack, channel: str) -> str:
    """What the command answers in that channel."""
    given = {"command": "/midcourse", "text": "", "channel_id": channel, "user_id": "U2", "team_id": "T1"}
    envelope = f"e-{channel}"
    payload = {**given, "response_url": "https://x.slack.com/", "trigger_id": "1"}
    fake.sends.put(
        {"type": "slash_commands", "envelope_id": envelope, "payload": payload, "accepts_response_payload": True}
    )
    while (answer := fake.replies.get(timeout=60)).get("envelope_id") != envelope:
        pass
    return answer["payload"]["text"]


@pytest.mark.slow
def test_a_card_has_a_link_and_no_values_and_a_command_lists_what_waits(tmp_path: Path) -> None:
    with (
        run_fake_slack() as fake,
        run_server(tmp_path, notify=make_notifier(tmp_path, fake.make_hook())) as server,
    ):
        fake.answers = [{"ok": False, "error": "ratelimited"}]
        question = start_run_that_asks(server.client("operator"), "lamp")
        admin = server.client("admin")
        wait_until(lambda: admin.get("/webhooks").json()[0]["delivered"] == 1)
        assert len(fake.posted) == 2, "the refused one was sent again"
        sent = fake.posted[-1]
        assert sent["channel"] == CHANNEL
        assert "Desk lamp" not in str(sent)
        assert "PO-1" not in str(sent)
        blocks = sent["blocks"] if isinstance(sent["blocks"], list) else json.loads(sent["blocks"])
        assert blocks[-1]["elements"][0]["url"] == f"{ORIGIN}/#/inbox?run=lamp"
        assert {kind for block in blocks[:-1] for kind in [block["text"]["type"]]} == {"plain_text"}

        wait_until(lambda: ("apps.connections.open", APP) in fake.called)
        listed = send_command(fake, CHANNEL)
        assert f"run lamp: <{ORIGIN}/#/inbox?run=lamp|open its card>" in listed
        assert "lamp" not in send_command(fake, "C9999999999")

        decide(server.client("approver"), question)
        wait_for_end(admin, "lamp")
        wait_until(lambda: admin.get("/webhooks").json()[0]["delivered"] == 2)
        assert "has ended: Done" in str(fake.posted[-1])
    assert {token for method, token in fake.called if method == "chat.postMessage"} == {BOT}


def test_a_page_cannot_write_mentions_into_the_channel() -> None:
    data: dict[str, Any] = {"run": "r", "title": "May this be sent?", "url": ORIGIN, "details": ["<!channel> pay"]}
    blocks = card({"type": "question.asked", "data": data})
    assert blocks[1]["text"] == {"type": "plain_text", "text": "<!channel> pay", "emoji": False}


def test_the_file_names_channels_and_tokens(tmp_path: Path) -> None:
    (tmp_path / "bot").write_text(f"{BOT}\n")
    (tmp_path / "app").write_text(APP)
    path = tmp_path / "hooks.toml"
    path.write_text(TABLE)
    (hook,) = read_webhooks(path, "acme")
    assert isinstance(hook, SlackHook)
    assert (hook.channel, hook.bot_token, hook.app_token, hook.details, hook.url) == (
        CHANNEL,
        BOT,
        APP,
        False,
        "https://slack.com/api/",
    )
    assert BOT not in repr(hook)
    for wrong, words in (
        (TABLE.replace("C0123456789", "#general"), "channel"),
        (TABLE.replace('"bot"', '"app"', 1), "begins with xoxb-"),
        (TABLE + 'api = "http://127.0.0.1/api"', "unencrypted"),
        (TABLE.replace('"app"', '"none"'), "No such file"),
    ):
        path.write_text(wrong)
        with pytest.raises(TaskInvalid, match=words):
            read_webhooks(path, "acme")
