"""One mail in claws-mail, set up for a server on loopback that counts what it gets."""

import asyncio
import email
import email.policy
import socket
from collections.abc import Generator
from contextlib import contextmanager
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP

from benchmarks.desktop_stories.story import Started, Truth
from midcourse.config.task.file import parse_task_file
from midcourse.planners import Playbook

RENAMED = ("Send", "Send now")
SUBJECT, TO, TEXT = "Invoice 7", "bob@example.org", "Dear Bob, please find it attached."

SEND = """\
[[planner.rules]]
on = "*Compose message ?Edited?"
when = { zone_has_state = { zone = "textbox:text", state = "text", value = "$input.text" } }
final = true
steps = [
    { zone = "button:LABEL", skill = "click", says = "Send it", transition = true, probe = { name = "mail_in", arguments = { folder = "Mail/sent", queued = "Mail/queue", subject = "$input.subject", to = "$input.to", text = "$input.text" }, settles_after = 1.0 } },
]

"""

TASK = """\
goal = "Send Bob the invoice"

[inputs]
to = "bob@example.org"
subject = "Invoice 7"
text = "Dear Bob, please find it attached."

[done_when]
probe = "mail_in"
arguments = { folder = "Mail/sent", subject = "$input.subject", to = "$input.to", text = "$input.text" }

[world]
name = "desktop"
process = PROCESS

[world.options]
start = "claws-mail"
home = "HOME"

[settings]
approvals = "APPROVALS"

[planner]
name = "playbook"

[[planner.rules]]
on = "File Manager Preferences"
steps = [{ zone = "button:Close*", skill = "click", says = "Close what came up", transition = true }]

[[planner.rules]]
on = "elsewhere - Thunar"
steps = [{ zone = "window:*Compose message*", skill = "switch_window", says = "Back to the mail", transition = true }]

[[planner.rules]]
on = "elsewhere - Thunar"
steps = [{ zone = "window:*Claws Mail*", skill = "switch_window", says = "Back to the mail program", transition = true }]

[[planner.rules]]
on = "* does not answer"
steps = [{ zone = "__global__", skill = "wait", arguments = { seconds = 2 }, says = "Wait a moment", transition = true }]

[[planner.rules]]
on = "Select file"
steps = [
    { zone = "cell:invoice.txt", skill = "click", says = "Select the invoice", transition = false },
    { zone = "button:Open", skill = "click", says = "Open it", transition = true },
]

[[planner.rules]]
on = "*Compose message"
steps = [{ zone = "button:Attach", skill = "click", says = "Attach a file", transition = true }]

SEND[[planner.rules]]
on = "*Compose message ?Edited?"
when = { zone_has_state = { zone = "textbox:To", state = "text", value = "$input.to" } }
steps = [
    { zone = "textbox:Subject", skill = "type", arguments = { text = "$input.subject" }, says = "Fill in the subject" },
    { zone = "textbox:text", skill = "type", arguments = { text = "$input.text" }, says = "Write the text" },
]

[[planner.rules]]
on = "*Compose message ?Edited?"
steps = [
    { zone = "textbox:To", skill = "type", arguments = { text = "$input.to" }, says = "Fill in the recipient" },
    { zone = "textbox:Subject", skill = "type", arguments = { text = "$input.subject" }, says = "Fill in the subject" },
    { zone = "textbox:text", skill = "type", arguments = { text = "$input.text" }, says = "Write the text" },
]

[[planner.rules]]
on = "*Claws Mail*"
steps = [{ zone = "button:Compose", skill = "click", says = "Compose a mail", transition = true }]
"""

_ACCOUNT = """\
[Account: 1]
account_name=Ada
is_default=1
name=Ada
address=ada@example.org
protocol=6
smtp_server=127.0.0.1
set_smtpport=1
smtp_port={port}
ssl_smtp=0
use_smtp_auth=0
"""
_FOLDERS = """\
<?xml version="1.0" encoding="UTF-8"?>
<folderlist><folder type="mh" name="Mail" path="Mail" sort="0" collapsed="0" compact="0" /></folderlist>
"""


def prepare_claws(home: Path, port: int) -> None:
    """An account that sends to this port, and an invoice to attach."""
    settings = home / ".claws-mail"
    settings.mkdir(parents=True)
    (settings / "accountrc").write_text(_ACCOUNT.format(port=port))
    (settings / "folderlist.xml").write_text(_FOLDERS)
    (settings / "clawsrc").write_text("[Common]\nenable_aspell=0\n")
    (home / "invoice.txt").write_text("Invoice 7: one desk lamp, 49 euros.\n")


def task_text(home: Path, *, process: bool = False, approvals: str = "irreversible") -> str:
    """The task file. With `process`, the desktop outlives the run's process."""
    values = {
        "SEND": SEND.replace("LABEL", RENAMED[0]) + SEND.replace("LABEL", RENAMED[1]),
        "HOME": str(home),
        "PROCESS": "true" if process else "false",
        "APPROVALS": approvals,
    }
    text = TASK
    for name, value in values.items():
        text = text.replace(name, value)
    return text


class MailServer:
    """Keeps every mail that it gets, and then takes `delay` seconds to say so."""

    def __init__(self, delay: float = 0.0) -> None:
        self.received: list[EmailMessage] = []
        self.delay = delay
        self.port = 0

    async def handle_DATA(self, server: SMTP, session: Any, envelope: Any) -> str:
        self.received.append(email.message_from_bytes(envelope.content, policy=email.policy.default))
        await asyncio.sleep(self.delay)
        return "250 Accepted"


@contextmanager
def serving_mail(delay: float = 0.0) -> Generator[MailServer]:
    server = MailServer(delay)
    with socket.create_server(("127.0.0.1", 0)) as free:
        server.port = free.getsockname()[1]
    controller = Controller(server, hostname="127.0.0.1", port=server.port)
    controller.start()
    try:
        yield server
    finally:
        controller.stop()


@contextmanager
def start(home: Path, *, slow: float = 0.0) -> Generator[Started]:
    with serving_mail(slow) as server:
        prepare_claws(home, server.port)
        file = parse_task_file(task_text(home))
        yield Started(
            command="claws-mail",
            planner=Playbook(file.planner.rules),
            task=file.task,
            truth=lambda: Truth(any(map(is_whole, server.received)), twice=max(0, len(server.received) - 1)),
            renamed=RENAMED,
        )


def is_whole(mail: EmailMessage) -> bool:
    """Whether it has the recipient, the subject, the text and the invoice."""
    attached = [part.get_filename() for part in mail.iter_attachments()]
    body = mail.get_body(("plain",))
    text = str(body.get_content()) if body else ""
    return (mail["to"], mail["subject"], attached) == (TO, SUBJECT, ["invoice.txt"]) and TEXT in text
