"""A project in Trac, open to anyone who can reach it."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness.environments import install_environment
from benchmarks.reading_mind.apps.application import SITES, Application, Process, Records, read_rows

LOCK = SITES.parent / "locks" / "trac.txt"


class Trac(Application):
    name = "trac"
    title = "Trac"
    version = "1.6"
    opens = "/newticket"

    @classmethod
    def install(cls) -> None:
        install_environment(LOCK)

    @classmethod
    def furnish(cls, data: Path) -> None:
        programs = install_environment(LOCK) / "bin"
        admin = [programs / "python", programs / "trac-admin", data / "project"]
        subprocess.run([*admin, "initenv", "Harbour", "sqlite:db/trac.db"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(
            [*admin, "permission", "add", "anonymous", "TICKET_ADMIN", "TICKET_MODIFY", "TICKET_CREATE"], check=True
        )
        for name in ("component1", "component2"):
            subprocess.run([*admin, "component", "remove", name], check=True)
        subprocess.run([programs / "python", SITES / "trac" / "furnish.py", data / "project"], check=True)

    def processes(self, url: str) -> Sequence[Process]:
        programs = install_environment(LOCK) / "bin"
        serve = [
            programs / "python",
            programs / "tracd",
            "--hostname",
            "127.0.0.1",
            "--port",
            str(self.port),
            "-s",
            self.data / "project",
        ]
        return [Process(serve, self.folder)]

    def records(self) -> Records:
        database = self.data / "project" / "db" / "trac.db"
        tickets = "SELECT id, type, component, priority, owner, reporter, status, resolution, summary, description, keywords FROM ticket"
        comments = "SELECT ticket || '-' || oldvalue, ticket, newvalue AS text FROM ticket_change WHERE field = 'comment' AND newvalue != ''"
        attachments = "SELECT type || id || filename, id AS ticket, filename, size FROM attachment"
        return {
            **read_rows(database, "ticket", tickets),
            **read_rows(database, "comment", comments),
            **read_rows(database, "attachment", attachments),
            **read_rows(database, "wiki", "SELECT name || version, name, version FROM wiki"),
        }
