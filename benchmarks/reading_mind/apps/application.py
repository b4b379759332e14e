"""What an application of this bench is: it can be installed and started with its own data, and its records can be read."""

import hashlib
import os
import shutil
import sqlite3
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TypeAlias
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from benchmarks.harness.environments import CACHE, make_once
from benchmarks.web_apps.wagtail.application import find_free_port

SITES = Path(__file__).parents[1] / "sites"
STARTS_WITHIN = 300.0
"""Seconds, also on a machine that does other work."""

Records: TypeAlias = dict[str, dict[str, str]]
"""What an application has stored, by `kind/id`, each with its fields. What changes by itself, such as a last sign-in, is left out."""


@dataclass(frozen=True)
class Process:
    """One of the processes that an application consists of."""

    command: Sequence[str | Path]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


class Application(ABC):
    """One application with its own data: a copy of what was furnished at first use."""

    name: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[str]
    opens: ClassVar[str] = "/"
    """A path that is answered when the application is ready."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = find_free_port()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @classmethod
    @abstractmethod
    def install(cls) -> None:
        """Install it below the cache, unless it is there. What only a system's package manager installs is checked, and named if missing."""

    @classmethod
    @abstractmethod
    def furnish(cls, data: Path) -> None:
        """Make the data that every task begins with, in an empty folder."""

    @abstractmethod
    def processes(self, url: str) -> Sequence[Process]:
        """Return what is to be run; the last one serves `port`. Visitors open it at this address."""

    @abstractmethod
    def records(self) -> Records:
        """Read what is stored."""

    @classmethod
    def furnished(cls) -> Path:
        """Return the folder that is copied for each task; it is made again when anything that it depends on has changed."""
        digest = hashlib.blake2b(cls.version.encode(), digest_size=6)
        sources = [Path(__file__).with_name(f"{cls.name}.py"), *sorted((SITES / cls.name).rglob("*"))]
        for path in sources:
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.read_bytes())
        folder = CACHE / f"reading-{cls.name}-{digest.hexdigest()}"
        with make_once(folder) as missing:
            if missing:
                cls.install()
                folder.mkdir()
                cls.furnish(folder)
        return folder

    def reset(self) -> None:
        """Begin with the furnished data again."""
        shutil.rmtree(self.data, ignore_errors=True)
        shutil.copytree(self.furnished(), self.data, symlinks=True)

    @contextmanager
    def run(self, url: str) -> Generator[None]:
        """Run it until the block ends."""
        running: list[subprocess.Popen[bytes]] = []
        try:
            for number, process in enumerate(self.processes(url)):
                with (self.folder / f"process-{number}.log").open("wb") as log:
                    running.append(
                        subprocess.Popen(
                            [str(word) for word in process.command],
                            cwd=process.folder,
                            env={**os.environ, "PYTHONPYCACHEPREFIX": str(CACHE / "bytecode"), **process.environment},
                            stdin=subprocess.DEVNULL,
                            stdout=log,
                            stderr=log,
                            start_new_session=True,
                        )
                    )
            until = time.monotonic() + STARTS_WITHIN
            while not is_answered(f"http://127.0.0.1:{self.port}{self.opens}"):
                if any(each.poll() is not None for each in running) or time.monotonic() > until:
                    raise SystemExit(f"{self.title} did not start: read {self.folder}/process-*.log")
                time.sleep(0.2)
            yield
        finally:
            for each in reversed(running):
                stop(each)


def stop(process: "subprocess.Popen[bytes]") -> None:
    """End a process and those that it has started."""
    for signal in ("TERM", "KILL"):
        if process.poll() is None:
            subprocess.run(["kill", f"-{signal}", "--", f"-{process.pid}"], check=False, stderr=subprocess.DEVNULL)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                continue


def is_answered(url: str) -> bool:
    """Whether a server answers there, with an error page too, unless it says that it is not ready."""
    try:
        with urlopen(url, timeout=STARTS_WITHIN):
            return True
    except HTTPError as error:
        return error.code < 500
    except (URLError, ConnectionError, TimeoutError):
        return False


def read_rows(database: Path, kind: str, query: str) -> Records:
    """Read the rows of a query from an SQLite file; the first column is the record's id."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)) as connection:
        cursor = connection.execute(query)
        names = [column[0] for column in cursor.description]
        return {
            f"{kind}/{row[0]}": {
                name: "" if value is None else str(value) for name, value in zip(names[1:], row[1:], strict=True)
            }
            for row in cursor
        }


def read_files(folder: Path, kind: str) -> Records:
    """Read every file below a folder: its text, or the digest of one that is no text."""
    records: Records = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        try:
            text = content.decode()
        except UnicodeDecodeError:
            text = hashlib.blake2b(content, digest_size=8).hexdigest()
        records[f"{kind}/{path.relative_to(folder)}"] = {"name": path.name, "text": text}
    return records


def require(programs: Mapping[str, str]) -> None:
    """Raise `SystemExit` with the Debian packages of the programs or folders that are missing."""
    missing = sorted(
        {
            package
            for path, package in programs.items()
            if not (Path(path).exists() if "/" in path else shutil.which(path))
        }
    )
    if missing:
        raise SystemExit(
            f"This application comes from Debian. Type: apt-get install --no-install-recommends {' '.join(missing)}"
        )
