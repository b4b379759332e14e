"""Slack: cards with a link to the console, and the command `/midcourse`, over socket mode. Needs `midcourse[slack]`.

Values and decisions stay in the console, where exactly what would be sent is shown to a user who has signed in.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from midcourse.domain.approval import Question
from midcourse.errors import TaskInvalid
from midcourse.server.webhooks.config import SlackHook
from midcourse.server.webhooks.sender import Answer

if TYPE_CHECKING:
    from slack_bolt.adapter.socket_mode import SocketModeHandler
    from slack_sdk import WebClient

log = logging.getLogger(__name__)

COMMAND = "/midcourse"
OPEN = "open_in_console"
MOST_LISTED = 20
AGAIN = 15.0
"""Seconds after a failed connection before the next attempt."""
NEEDS = "Slack needs pip install 'midcourse[slack]'"


def web_client(hook: SlackHook, seconds: float) -> "WebClient":
    try:
        from slack_sdk import WebClient
    except ModuleNotFoundError as missing:
        raise TaskInvalid(NEEDS) from missing
    return WebClient(token=hook.bot_token, base_url=hook.url, timeout=max(1, int(seconds)))


async def post_card(hook: SlackHook, body: bytes, seconds: float) -> Answer:
    """Post one card. Errors of Slack or the network are returned, never raised."""
    from slack_sdk.errors import SlackApiError, SlackClientError

    message = json.loads(body)
    client: Any = web_client(hook, seconds)
    try:
        await asyncio.to_thread(
            client.chat_postMessage,
            channel=hook.channel,
            text=summary(message),
            blocks=card(message),
            unfurl_links=False,
            unfurl_media=False,
        )
    except SlackApiError as refused:  # also for an answer with status 200 that reports an error
        response: Any = refused.response  # pyrefly: ignore[unknown-attribute-access]  # Slack does not declare it
        return Answer(problem=f"Slack refused it: {response.get('error') or 'no reason given'}")
    except (SlackClientError, OSError) as trouble:
        return Answer(problem=f"{type(trouble).__name__}: {trouble}")
    return Answer(status=200)


def summary(message: dict[str, Any]) -> str:
    """The message in one line, with words of Midcourse only: a page cannot write into the channel."""
    data = message["data"]
    if message["type"] == "question.asked":
        return f"Run {data['run']} waits for an answer: {data['title']}"
    return f"Run {data['run']} has ended: {data['sentence']}"


def card(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The message as blocks of plain text, without mentions, and without links except for the button."""
    data = message["data"]
    texts = [summary(message), *data.get("details", ())]
    blocks: list[dict[str, Any]] = [
        {"type": "section", "text": {"type": "plain_text", "text": text[:3000], "emoji": False}} for text in texts
    ]
    button = {"type": "plain_text", "text": "Open in the console", "emoji": False}
    return [
        *blocks,
        {"type": "actions", "elements": [{"type": "button", "action_id": OPEN, "text": button, "url": data["url"]}]},
    ]


class SlackListener:
    """Answers the command `/midcourse` in the hook's channel with the open questions."""

    def __init__(
        self,
        hook: SlackHook,
        questions: Callable[[], Awaitable[tuple[Question, ...]]],
        link: Callable[[Question], str],
    ) -> None:
        self._hook = hook
        self._questions = questions
        self._link = link
        self._handler: SocketModeHandler | None = None

    async def run(self) -> None:
        """Try to connect until it works; from then on the connection restores itself. Runs until it is cancelled."""
        from slack_sdk.errors import SlackClientError

        self._handler = self._build(asyncio.get_running_loop())
        try:
            while True:
                try:
                    await asyncio.to_thread(self._handler.connect)
                    await asyncio.Event().wait()
                except (SlackClientError, OSError) as trouble:
                    log.warning("Slack %s: no connection: %s", self._hook.name, trouble)
                    await asyncio.sleep(AGAIN)
        finally:
            await asyncio.shield(asyncio.to_thread(self._handler.close))

    def _build(self, loop: asyncio.AbstractEventLoop) -> "SocketModeHandler":
        from slack_bolt import Ack, App
        from slack_bolt.adapter.socket_mode import SocketModeHandler

        app: Any = App(client=web_client(self._hook, 15.0), token_verification_enabled=False, logger=log)

        def opened(ack: Ack) -> None:
            ack()  # the link itself is opened by Slack

        def asked(ack: Ack, command: dict[str, Any]) -> None:
            answering = asyncio.run_coroutine_threadsafe(self._answer(command), loop)
            ack(response_type="ephemeral", text=answering.result(10.0))

        app.action(OPEN)(opened)
        app.command(COMMAND)(asked)
        return SocketModeHandler(app, self._hook.app_token)

    async def _answer(self, command: dict[str, Any]) -> str:
        if command.get("channel_id") != self._hook.channel:
            return "Use this command in the channel that Midcourse posts to."
        asked = (await self._questions())[:MOST_LISTED]
        lines = [f"• run {question.run}: <{self._link(question)}|open its card>" for question in asked]
        return "\n".join(["These runs wait for an answer:", *lines]) if lines else "Nothing waits for an answer."
