"""Roundcube from Debian, with Dovecot and a mail server that keeps what it gets."""

import json
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from benchmarks.reading_mind.apps.application import SITES, Application, Process, Records, read_rows, require
from benchmarks.web_apps.wagtail.application import find_free_port

USER, PASSWORD = "ada@example.org", "only-for-loopback-13"
ROOT, SYSTEM = Path("/var/lib/roundcube/public_html"), Path("/etc/roundcube")
SITE = SITES / "roundcube"

_POINTS = (
    "The minutes of September were read and adopted with one change: the meeting had ended at nine, not at ten.",
    "Mira Holm reported on the depth at the entrance. It is 4.1 m at low water, 20 cm less than in spring. A dredger is asked for an offer; the board wants to decide in January.",
    "The roof of the ice house leaks again. Paul Okafor will look at the tiles together with the mason, and the cost is not to exceed 2,400 EUR without another vote.",
    "Two boats at pier 3 have not paid since June. Their owners get a letter with a date, after which the berths are given to those next on the list.",
    "The summer market brought 3,180 EUR, 400 more than the year before. The society thanks all who helped, above all the bakers and the band, who played although it rained.",
    "The new crane. The maker has confirmed the delivery. It will be inspected on 9 February by Henrik Dahl, together with an expert of the insurance; until then nobody works under it. The old crane is sold to the museum for a token price of one crown.",
    "Electricity. The meters at piers 1 and 2 are replaced in December, one pier a day. Boats that need power on these days are moved to pier 4, which Jonas Bergh will arrange with the crews.",
    "The school has asked whether forty children may see the lighthouse in May. The board is glad to have them, in groups of ten, with Greta Moor as the guide.",
    "Insurance of the volunteers: the present contract ends in March. Ines Duarte gets two offers and sends them round before the next meeting.",
    "Any other business: the notice board is too small; a second one will be put up beside the gate. Somebody found a red oar, which waits in the office.",
)
MINUTES = "Minutes of the harbour board, October\n\n" + "\n\n".join(
    f"{number}. {text}" for number, text in enumerate(_POINTS, start=1)
)
MAILS = (
    ("Lena Fischer <lena@society.example>", "Minutes of the board, October", MINUTES),
    ("Newsletter <news@shipping.example>", "Weekly digest 1", "Freight rates fell by two points."),
    (
        "Accounts <accounts@supplier.example>",
        "Invoice 4711 overdue",
        (
            "Dear Ada,\n\ninvoice 4711 over 312.40 EUR was due on 2 November. If your accounts department deals with this, please forward "
            "this mail to billing@example.org.\n\nKind regards,\nAccounts"
        ),
    ),
    (
        "Oskar Weiss <oskar@sails.example>",
        "Invoice 4702 paid, thank you",
        "We have received your payment of 96.00 EUR.",
    ),
    ("Newsletter <news@shipping.example>", "Weekly digest 2", "Two new cranes for the port of the capital."),
    ("Kim Sato <kim@example.org>", "Meeting on Thursday", "Shall we meet in the office, as always? Kim"),
)
CONTACTS = (
    ("Chris Adler", "chris.adler@yard.example"),
    ("Chris Brandt", "chris.brandt@harbour.example"),
    ("Kim Sato", "kim@example.org"),
)


class Roundcube(Application):
    name = "roundcube"
    title = "Roundcube"
    version = "1.6.5"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.imap, self.smtp = find_free_port(), find_free_port()

    @classmethod
    def install(cls) -> None:
        require({str(ROOT): "roundcube roundcube-sqlite3 php-cli", "/usr/sbin/dovecot": "dovecot-imapd"})

    @classmethod
    def furnish(cls, data: Path) -> None:
        (data / "sent").mkdir()
        for name in ("cur", "new", "tmp"):
            (data / "mail" / name).mkdir(parents=True)
        for number, (sender, subject, text) in enumerate(MAILS):
            mail = EmailMessage()
            mail["From"], mail["To"], mail["Subject"] = sender, f"Ada Byron <{USER}>", subject
            mail["Date"], mail["Message-ID"] = (
                f"Mon, {2 + number:02d} Nov 2026 09:{10 + number}:00 +0000",
                f"<{number}@loopback>",
            )
            mail.set_content(text)
            (data / "mail" / "new" / f"17{number:08d}.{number}.loopback").write_bytes(mail.as_bytes())
        with closing(sqlite3.connect(data / "roundcube.sqlite3")) as database, database:
            database.executescript(Path("/usr/share/roundcube/SQL/sqlite.initial.sql").read_text(encoding="utf-8"))
            database.execute(
                "INSERT INTO users (user_id, username, mail_host, language, created, preferences) VALUES (1, ?, '127.0.0.1', 'en_US', datetime(), '')",
                (USER,),
            )
            database.execute(
                "INSERT INTO identities (user_id, changed, del, standard, name, organization, email, signature) VALUES (1, datetime(), 0, 1, 'Ada Byron', '', ?, '')",
                (USER,),
            )
            for name, address in CONTACTS:
                first, _, last = name.partition(" ")
                card = f"BEGIN:VCARD\nVERSION:3.0\nN:{last};{first};;;\nFN:{name}\nEMAIL;TYPE=INTERNET:{address}\nEND:VCARD"
                database.execute(
                    "INSERT INTO contacts (user_id, changed, del, name, email, firstname, surname, vcard, words) VALUES (1, datetime(), 0, ?, ?, ?, ?, ?, ?)",
                    (name, address, first, last, card, f" {name.lower()} {address} "),
                )

    def processes(self, url: str) -> Sequence[Process]:
        # Dovecot's sockets need a short path, and it reads mail as the user `mail`.
        run = Path(tempfile.mkdtemp(prefix="reading-"))
        run.chmod(0o755)
        mail = run / "mail"
        shutil.copytree(self.data / "mail", mail)
        shutil.rmtree(self.data / "mail")
        (self.data / "mail").symlink_to(mail)
        subprocess.run(["chown", "-R", "mail:mail", mail], check=True)
        filled = (SITE / "dovecot.conf.in").read_text(encoding="utf-8")
        for name, value in (("RUN", run), ("MAIL", mail), ("PORT", self.imap), ("PASSWORD", PASSWORD)):
            filled = filled.replace(f"@{name}@", str(value))
        (run / "dovecot.conf").write_text(filled, encoding="utf-8")
        config = self.folder / "config"
        shutil.rmtree(config, ignore_errors=True)
        config.mkdir()
        for path in (SYSTEM / "defaults.inc.php", SYSTEM / "mimetypes.php", SITE / "config.inc.php"):
            shutil.copy(path, config)
        environment = {
            "ROUNDCUBE_CONFIG_DIR": str(config),
            "READING_DATABASE": str(self.data / "roundcube.sqlite3"),
            "READING_IMAP": str(self.imap),
            "READING_SMTP": str(self.smtp),
            "PHP_CLI_SERVER_WORKERS": "4",
        }
        return [
            Process(["/usr/sbin/dovecot", "-F", "-c", run / "dovecot.conf"], self.folder),
            Process([sys.executable, SITE / "mail_sink.py", str(self.smtp), self.data / "sent"], self.folder),
            Process(["php", "-S", f"127.0.0.1:{self.port}", "-t", ROOT], self.folder, environment),
        ]

    def records(self) -> Records:
        records: Records = {}
        for path in sorted((self.data / "sent").glob("*.json")):
            records[f"sent/{path.stem}"] = json.loads(path.read_text(encoding="utf-8"))
        mail = self.data / "mail"
        for path in sorted([*mail.glob("*/*"), *mail.glob(".*/*/*")]):
            if path.parent.name in ("cur", "new") and path.is_file():
                folder = (
                    path.relative_to(mail).parts[0].removeprefix(".")
                    if len(path.relative_to(mail).parts) == 3
                    else "INBOX"
                )
                if folder == "Drafts":  # it saves drafts by itself
                    continue
                subject = str(message_from_bytes(path.read_bytes(), policy=policy.default)["subject"])
                records[f"kept/{folder}/{re.split(':|,', path.name)[0]}"] = {"folder": folder, "subject": subject}
        contacts = "SELECT contact_id, name, email FROM contacts WHERE del = 0"
        return {**records, **read_rows(self.data / "roundcube.sqlite3", "contact", contacts)}
