"""Wagtail in a separate environment, on loopback, and what its database records."""

import hashlib
import os
import shutil
import socket
import sqlite3
import subprocess
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from benchmarks.harness.environments import CACHE, install_environment, make_once

HERE = Path(__file__).parent
SITE = HERE / "site"
EDITOR = "editor"
PASSWORD = "only-for-loopback-7"
STARTS_WITHIN = 60.0
FURNISHED = 11
"""Pages that are there before the story begins, the root among them."""


@dataclass(frozen=True, kw_only=True)
class Truth:
    """Of one title, by the database: pages that have it, how often one of them was published, and what is live."""

    pages: int
    live: int
    published: int
    revisions: int
    others: int
    """Pages that were not there before and do not have it."""


class Application:
    """One site with its own database: a copy of one that was migrated and furnished at first use."""

    def __init__(self, folder: Path) -> None:
        self._database = folder / "wagtail.sqlite3"
        shutil.copy(furnished(), self._database)
        self.address = ("127.0.0.1", find_free_port())

    def start(self) -> None:
        host, port = self.address
        self._process = _manage(self._database, "runserver", "--noreload", f"{host}:{port}")
        until = time.monotonic() + STARTS_WITHIN
        while not has_answer(f"http://{host}:{port}/admin/login/"):
            if self._process.poll() is not None or time.monotonic() > until:
                self.stop()
                raise SystemExit("Wagtail did not start")

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()

    def truth(self, title: str) -> Truth:
        with closing(sqlite3.connect(f"file:{self._database}?mode=ro", uri=True)) as database:

            def count(what: str) -> int:
                return database.execute(f"SELECT count(*) FROM {what}", (title,)).fetchone()[0]

            page = "wagtailcore_page p WHERE p.draft_title = ?"
            return Truth(
                pages=count(page),
                live=count(f"{page} AND p.live"),
                published=count(
                    "wagtailcore_pagelogentry e JOIN wagtailcore_page p ON p.id = e.page_id "
                    "WHERE e.action = 'wagtail.publish' AND p.draft_title = ?"
                ),
                revisions=count(
                    "wagtailcore_revision r JOIN wagtailcore_page p ON r.object_id = CAST(p.id AS TEXT) "
                    "WHERE p.draft_title = ?"
                ),
                others=count("wagtailcore_page p WHERE p.draft_title != ?") - FURNISHED,
            )


def furnished() -> Path:
    """The database that every site begins with. Migrating an empty one takes longer than everything else."""
    folder = CACHE / f"wagtail-database-{_digest()}"
    with make_once(folder) as missing:
        if missing:
            folder.mkdir()
            database = folder / "furnished.sqlite3"
            for words in (["migrate", "--verbosity", "0"], ["furnish", EDITOR, PASSWORD]):
                if _manage(database, *words).wait():
                    raise SystemExit(f"Wagtail could not be set up: {words[0]} failed")
    return folder / "furnished.sqlite3"


def _manage(database: Path, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [install_environment(HERE / "wagtail.txt") / "bin" / "python", "manage.py", *words],
        cwd=SITE,
        env={**os.environ, "WAGTAIL_DATABASE": str(database), "PYTHONPYCACHEPREFIX": str(CACHE / "bytecode")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _digest() -> str:
    """Of everything that the furnished database depends on."""
    digest = hashlib.blake2b(PASSWORD.encode(), digest_size=6)
    for path in [HERE / "wagtail.txt", *sorted(SITE.rglob("*.py"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def has_answer(url: str) -> bool:
    try:
        with urlopen(url, timeout=STARTS_WITHIN):
            return True
    except (URLError, ConnectionError):
        time.sleep(0.1)
        return False
