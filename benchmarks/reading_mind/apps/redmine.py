"""Redmine from Debian, on an SQLite file of its own."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.reading_mind.apps.application import SITES, Application, Process, Records, read_rows, require

USER, PASSWORD = "ada", "only-for-loopback-12"
ROOT = Path("/usr/share/redmine")


class Redmine(Application):
    name = "redmine"
    title = "Redmine"
    version = "5.0.4"
    opens = "/login"

    @classmethod
    def install(cls) -> None:
        require({str(ROOT): "redmine redmine-sqlite ruby-sqlite3 ruby-webrick"})

    @classmethod
    def furnish(cls, data: Path) -> None:
        shutil.copy(SITES / "redmine" / "Gemfile", data)
        shutil.copy("/var/lib/redmine/Gemfile.lock", data)
        environment = _environment(data)
        for words in (
            ["rake", "db:migrate"],
            ["rake", "redmine:load_default_data", "REDMINE_LANG=en"],
            ["rails", "runner", str(SITES / "redmine" / "furnish.rb")],
        ):
            env = {**environment, "FURNISH_PASSWORD": PASSWORD, "SCHEMA": str(data / "schema.rb")}
            subprocess.run(["bundle", "exec", *words], cwd=ROOT, env=env, check=True, stdout=subprocess.DEVNULL)

    def processes(self, url: str) -> Sequence[Process]:
        serve = [
            "bundle",
            "exec",
            "rails",
            "server",
            "-u",
            "webrick",
            "-b",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-P",
            self.folder / "pid",
        ]
        return [Process(serve, ROOT, _environment(self.data))]

    def records(self) -> Records:
        database = self.data / "redmine.sqlite3"
        issues = (
            "SELECT i.id, p.name AS project, t.name AS tracker, i.subject, s.name AS status, e.name AS priority, u.login AS assignee, "
            "i.due_date AS due, i.done_ratio AS done, i.description FROM issues i JOIN projects p ON p.id = i.project_id "
            "JOIN trackers t ON t.id = i.tracker_id JOIN issue_statuses s ON s.id = i.status_id "
            "JOIN enumerations e ON e.id = i.priority_id LEFT JOIN users u ON u.id = i.assigned_to_id"
        )
        times = (
            "SELECT t.id, i.subject AS issue, t.hours, e.name AS activity, t.comments, t.spent_on FROM time_entries t "
            "LEFT JOIN issues i ON i.id = t.issue_id JOIN enumerations e ON e.id = t.activity_id"
        )
        notes = "SELECT j.id, i.subject AS issue, j.notes FROM journals j JOIN issues i ON i.id = j.journalized_id WHERE j.notes != ''"
        return {
            **read_rows(database, "issue", issues),
            **read_rows(database, "time", times),
            **read_rows(database, "note", notes),
            **read_rows(database, "project", "SELECT id, name, status FROM projects"),
        }


def _environment(data: Path) -> dict[str, str]:
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(data),
        "LANG": "C.UTF-8",
        "DATABASE_URL": f"sqlite3:{data}/redmine.sqlite3",
        "BUNDLE_GEMFILE": str(data / "Gemfile"),
        "RAILS_ENV": "production",
    }
