"""A mail server that keeps what it gets, one file for each mail: `mail_sink.py PORT FOLDER`."""

import json
import signal
import sys
from email import message_from_bytes, policy
from pathlib import Path

from aiosmtpd.controller import Controller

PORT, FOLDER = int(sys.argv[1]), Path(sys.argv[2])


def keep(mail: dict[str, str]) -> None:
    number = len(list(FOLDER.iterdir()))
    (FOLDER / f"{number:03d}.json").write_text(json.dumps(mail), encoding="utf-8")


class Sink:
    async def handle_DATA(self, server, session, envelope):
        mail = message_from_bytes(envelope.content, policy=policy.default)
        body = mail.get_body(("plain", "html"))
        kept = {
            "to": ", ".join(sorted(envelope.rcpt_tos)),
            "subject": str(mail["subject"]),
            "text": body.get_content() if body else "",
            "attachments": ", ".join(part.get_filename() or "" for part in mail.iter_attachments()),
        }
        keep(kept)
        return "250 OK"


Controller(Sink(), hostname="127.0.0.1", port=PORT).start()
signal.pause()
