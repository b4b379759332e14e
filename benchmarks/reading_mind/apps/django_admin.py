"""A library in Django's own admin."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness.environments import install_environment
from benchmarks.reading_mind.apps.application import SITES, Application, Process, Records, read_files, read_rows

USER, PASSWORD = "librarian", "only-for-loopback-9"
SITE = SITES / "django_admin"
LOCK = SITES.parent / "locks" / "django_admin.txt"


class DjangoAdmin(Application):
    name = "django_admin"
    title = "Django admin"
    version = "5.2.19"
    opens = "/admin/login/"

    @classmethod
    def install(cls) -> None:
        install_environment(LOCK)

    @classmethod
    def furnish(cls, data: Path) -> None:
        subprocess.run([_python(), "furnish.py", USER, PASSWORD], cwd=SITE, env=_environment(data), check=True)

    def processes(self, url: str) -> Sequence[Process]:
        serve = [_python(), "-m", "django", "runserver", "--noreload", f"127.0.0.1:{self.port}"]
        return [Process(serve, SITE, _environment(self.data))]

    def records(self) -> Records:
        database = self.data / "library.sqlite3"
        books = (
            "SELECT b.id, b.title, a.name AS author, b.isbn, b.published, printf('%.2f', b.price) AS price, b.cover, "
            "b.in_print, b.notes, (SELECT group_concat(name, ', ') FROM (SELECT s.name FROM library_book_subjects bs "
            "JOIN library_subject s ON s.id = bs.subject_id WHERE bs.book_id = b.id ORDER BY s.name)) AS subjects "
            "FROM library_book b JOIN library_author a ON a.id = b.author_id"
        )
        loans = (
            "SELECT l.id, b.title AS book, l.member, l.due FROM library_loan l JOIN library_book b ON b.id = l.book_id"
        )
        return {
            **read_rows(database, "book", books),
            **read_rows(database, "loan", loans),
            **read_rows(database, "author", "SELECT id, name FROM library_author"),
            **read_rows(database, "subject", "SELECT id, name FROM library_subject"),
            **read_rows(database, "user", "SELECT id, username, email, is_superuser, is_active FROM auth_user"),
            **read_files(self.data / "media", "file"),
        }


def _python() -> Path:
    return install_environment(LOCK) / "bin" / "python"


def _environment(data: Path) -> dict[str, str]:
    return {"LIBRARY_DATA": str(data), "DJANGO_SETTINGS_MODULE": "settings", "PYTHONPATH": str(SITE)}
