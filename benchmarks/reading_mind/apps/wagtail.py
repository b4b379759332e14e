"""Wagtail with eleven pages, two of them with figures to compare."""

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.harness.environments import install_environment
from benchmarks.reading_mind.apps.application import Application, Process, Records, read_rows
from benchmarks.web_apps.wagtail import application as wagtail

USER, PASSWORD = wagtail.EDITOR, wagtail.PASSWORD
LOCK = wagtail.HERE / "wagtail.txt"
SUMMARIES = {
    "Reports of 2024": "The port counted 412 ships, 38 storms and 9 strandings.",
    "Reports of 2025": "The port counted 457 ships, 29 storms and 11 strandings.",
}


class Wagtail(Application):
    name = "wagtail"
    title = "Wagtail"
    version = "as locked"
    opens = "/admin/login/"

    @classmethod
    def install(cls) -> None:
        install_environment(LOCK)

    @classmethod
    def furnish(cls, data: Path) -> None:
        shutil.copy(wagtail.furnished(), data / "wagtail.sqlite3")
        with closing(sqlite3.connect(data / "wagtail.sqlite3")) as database, database:
            for title, summary in SUMMARIES.items():
                where = "page_ptr_id = (SELECT id FROM wagtailcore_page WHERE title = ?)"
                database.execute(f"UPDATE articles_article SET summary = ? WHERE {where}", (summary, title))

    def processes(self, url: str) -> Sequence[Process]:
        python = install_environment(LOCK) / "bin" / "python"
        serve = [python, "manage.py", "runserver", "--noreload", f"127.0.0.1:{self.port}"]
        return [Process(serve, wagtail.SITE, {"WAGTAIL_DATABASE": str(self.data / "wagtail.sqlite3")})]

    def records(self) -> Records:
        database = self.data / "wagtail.sqlite3"
        pages = (
            "SELECT p.id, p.draft_title AS title, p.live, a.summary, r.title AS related, (SELECT title FROM wagtailcore_page up "
            "WHERE up.path = substr(p.path, 1, length(p.path) - 4)) AS parent FROM wagtailcore_page p "
            "LEFT JOIN articles_article a ON a.page_ptr_id = p.id LEFT JOIN wagtailcore_page r ON r.id = a.related_id"
        )
        acts = (
            "SELECT id, action, label FROM wagtailcore_pagelogentry "
            "WHERE action IN ('wagtail.publish', 'wagtail.unpublish', 'wagtail.delete', 'wagtail.move', 'wagtail.copy')"
        )
        return {**read_rows(database, "page", pages), **read_rows(database, "act", acts)}
